"""A job of ours as a watched session: every call of a tool or a model becomes an event, shown while the job runs.

The engine only shows what happens, through `Run.watch`; who looks, and what they do about it, is not its business.
The same events are made again from what is stored (`engine/replay.py`), so that a watcher's memory outlives a restart.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Protocol
from uuid import UUID

from laneway.domain.keepable import keepable
from laneway.domain.session import EventKind, SessionEvent
from laneway.llm.noted import ModelCalled

PROVIDER = "laneway"
VOUCHED = "allowed"
"""The text of a call that a person or the tool's own judge let pass, so that nobody raises an alarm about it."""
_MEASURED = frozenset({"seconds", "milliseconds", "duration_ms", "took", "at", "hint"})
"""Fields of an outcome that differ from call to call though the outcome is the same."""


class Watch(Protocol):
    """Whoever looks at a running job."""

    async def begin(self) -> None:
        """What the job did in earlier runs is known, and that it goes on has been looked at."""
        ...

    async def see(self, event: SessionEvent) -> str | None:
        """The event has been looked at; returns what the model should be told, if anything."""
        ...


class Nobody:
    """Looks at nothing."""

    async def begin(self) -> None:
        return None

    async def see(self, event: SessionEvent) -> str | None:
        return None


def called(
    job: UUID, at: datetime, tool: str, arguments: Mapping[str, Any], key: str, *, vouched: bool = False
) -> SessionEvent:
    """A tool is about to run."""
    text = VOUCHED if vouched else ""
    return SessionEvent(
        str(job), PROVIDER, EventKind.TOOL_CALLED, at, text, tool=tool, arguments=arguments, call_id=key
    )


def ended(job: UUID, at: datetime, tool: str, key: str, *, failed: bool, result: str) -> SessionEvent:
    """A tool has given back something; `result` is its hash."""
    return SessionEvent(
        str(job), PROVIDER, EventKind.TOOL_ENDED, at, tool=tool, call_id=key, failed=failed, result_hash=result
    )


def model_answered(job: UUID, at: datetime, call: ModelCalled) -> SessionEvent:
    """A model has answered, or has not."""
    kind = EventKind.ERROR if call.failed else EventKind.ASSISTANT
    text = keepable(call.failed or call.text)
    return SessionEvent(
        str(job), PROVIDER, kind, at, text, call_id=f"ledger.{call.entry}", tokens=call.tokens, cost=call.cost,
        model=call.model,
    )  # fmt: skip


def broke(job: UUID, at: datetime, message: str, run: int) -> SessionEvent:
    """A run of the job ended by an error."""
    return SessionEvent(str(job), PROVIDER, EventKind.ERROR, at, keepable(message), call_id=f"run.{run}")


def began(job: UUID, at: datetime, run: int, cwd: str = "") -> SessionEvent:
    """A run of the job has begun: one that goes on after an answer, an error or a restart."""
    return SessionEvent(str(job), PROVIDER, EventKind.STARTED, at, call_id=f"run.{run}", cwd=cwd)


def asked(job: UUID, at: datetime, text: str = "", cwd: str = "") -> SessionEvent:
    """The job's first run has begun: somebody asked for what it does."""
    return SessionEvent(str(job), PROVIDER, EventKind.USER, at, keepable(text), call_id="asked", cwd=cwd)


def finished(job: UUID, at: datetime, status: str) -> SessionEvent:
    """The job has ended for good."""
    return SessionEvent(str(job), PROVIDER, EventKind.ENDED, at, text=status, call_id="ended")


def failed(outcome: Any) -> bool:
    """Whether a tool's outcome says that it did not work."""
    return isinstance(outcome, dict) and outcome.get("status") == "error"


def result_hash(outcome: Any) -> str:
    """The same for outcomes that are the same but for how long they took."""
    text = json.dumps(_unmeasured(outcome), sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]


def hinted(outcome: Any, hint: str | None) -> Any:
    """The outcome as the model gets it, with the hint if there is one."""
    if not hint:
        return outcome
    if isinstance(outcome, dict):
        return {**outcome, "hint": hint}
    return f"{outcome}\n\n[{hint}]" if isinstance(outcome, str) else {"result": outcome, "hint": hint}


def _unmeasured(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _unmeasured(item) for name, item in value.items() if name not in _MEASURED}
    return [_unmeasured(item) for item in value] if isinstance(value, list | tuple) else value
