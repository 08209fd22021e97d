"""Calls that were denied: none of them may run, and one that ran all the same is found out."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from laneway.domain.session import EventKind, SessionEvent
from laneway.reactors.calls import key_of

MOST = 1_000
_NOT_RUN = re.compile(
    r"Denied by Laneway|\bhook\b|doesn't want to (proceed|take this action)|\[Request interrupted|"
    r"Permission to use \S+ has been denied|rejected by (the )?user|user (rejected|denied|cancell?ed)"
)
"""How the agents' logs say that a call was refused before it ran."""


@dataclass(frozen=True, slots=True)
class DeniedCall:
    """A call an agent was told not to make; `key` is made of the tool and its arguments."""

    provider: str
    session_id: str
    call_id: str
    tool: str
    key: str
    rule: str
    at: datetime
    sub_agent: str = ""

    @classmethod
    def told(cls, body: Mapping[str, Any], at: datetime) -> DeniedCall:
        """The call as a stored decision tells it."""
        names = ("provider", "session_id", "call_id", "tool", "key", "rule", "sub_agent")
        given = {name: str(body.get(name) or "") for name in names}
        return cls(at=at, **given)


class DeniedCalls:
    """The denied calls nobody knows the end of yet, the newest thousand; each is alarmed about once."""

    def __init__(self) -> None:
        self._calls: dict[tuple[str, str, str], DeniedCall] = {}

    def __len__(self) -> int:
        return len(self._calls)

    def add(self, call: DeniedCall) -> None:
        """From now on the call must not end as one that ran."""
        self._calls[_name(call)] = call
        while len(self._calls) > MOST:
            del self._calls[next(iter(self._calls))]

    def forgive(self, event: SessionEvent) -> None:
        """The same call is not denied any more: what is known by its arguments alone may run now."""
        if self._calls:
            self._calls.pop((event.provider, event.session_id, key_of(event.tool, event.arguments)), None)

    def waiting(self, call: DeniedCall) -> bool:
        """Whether nobody knows yet what became of the call."""
        return _name(call) in self._calls

    def ran_anyway(self, event: SessionEvent) -> bool:
        """Whether this event shows that a denied call was made all the same; said once for a call."""
        return self.which_ran(event) is not None

    def which_ran(self, event: SessionEvent) -> DeniedCall | None:
        """The denied call that this event shows to have run, if it does."""
        if event.kind is EventKind.TOOL_CALLED:
            self._meet(event)
        if event.kind is not EventKind.TOOL_ENDED or not event.call_id:
            return self._nameless(event) if event.kind is EventKind.TOOL_ENDED else None
        call = self._calls.pop((event.provider, event.session_id, event.call_id), None)
        return call if call is not None and _ran(event) else None

    def _meet(self, event: SessionEvent) -> None:
        """A call that was denied without an id has one in the log."""
        by_key = (event.provider, event.session_id, key_of(event.tool, event.arguments))
        if event.call_id and by_key in self._calls:
            self._calls[event.provider, event.session_id, event.call_id] = self._calls.pop(by_key)

    def _nameless(self, event: SessionEvent) -> DeniedCall | None:
        """An end without an id is that of a call with the same arguments, where they are told again."""
        if not event.arguments:
            return None
        by_key = (event.provider, event.session_id, key_of(event.tool, event.arguments))
        call = self._calls.get(by_key)
        if call is None or not _ran(event):
            return None
        return self._calls.pop(by_key)


def _name(call: DeniedCall) -> tuple[str, str, str]:
    return call.provider, call.session_id, call.call_id or call.key


def _ran(event: SessionEvent) -> bool:
    """Whether the end of a call is that of one that ran: its result, or a failure that is no refusal."""
    if event.failed:
        return _NOT_RUN.search(event.text) is None
    # Codex does not mark a refusal as a failure; what Claude Code and Gemini CLI do not mark so has run.
    return not (event.provider == "codex" and "Denied by Laneway" in event.text)
