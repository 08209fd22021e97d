"""One tool: a function, and what must be known of it before it may run.

A tool is an async function with plain, annotated parameters and a docstring; that is all a model sees of it. If its
first parameter is annotated `Call`, it is given the call's surroundings there, and the model does not see it. It
returns an outcome (`success`, `failure`) in the one shape all tools share.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID

from laneway.domain.action import Verdict
from laneway.domain.conversation import World
from laneway.domain.redaction import redacted
from laneway.lanes.contract import Request

Outcome = dict[str, Any]
Arguments = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Call:
    """The surroundings of one tool call."""

    request: Request
    workspace: Path
    """This thread's own folder, writable; made before the call."""
    approved: bool = False
    """Whether a person has approved exactly this call."""
    on_stop: Callable[[Callable[[], None]], Callable[[], None]] = lambda end: lambda: None
    """Registers what must be ended at once when the job is stopped; returns how to take that back."""
    by: UUID | None = None
    """The principal whose message started the job."""
    sources: tuple[str, ...] = ()
    """Whose words besides the owner's this turn has read; with any of them, it is tainted."""

    @property
    def thread_id(self) -> UUID:
        return self.request.job.thread_id

    @property
    def job_id(self) -> UUID:
        return self.request.job.id

    @property
    def world(self) -> World:
        return self.request.world


def _no_verdict(arguments: Arguments, call: Call) -> Verdict | None:
    return None


def _as_given(arguments: Arguments, call: Call) -> Arguments:
    return arguments


def _no_source(arguments: Arguments, outcome: Outcome) -> str | None:
    return None


@dataclass(frozen=True, slots=True)
class ToolEntry:
    """A tool as the toolbox keeps it."""

    function: Callable[..., Awaitable[Any]]
    changes: bool = False
    """Whether it can leave anything different from before."""
    idempotent: bool = True
    """Whether doing it twice is the same as doing it once: only then is it repeated after a crash."""
    worlds: frozenset[World] = frozenset({World.OWNER})
    asks: bool = False
    """Whether every call needs an approval."""
    judge: Callable[[Arguments, Call], Verdict | None] = _no_verdict
    """What the tool itself thinks of a call (bash asks the guard); None leaves it to the rules for all tools."""
    resolve: Callable[[Arguments, Call], Arguments] = _as_given
    """The arguments with what was said relatively ("at 6pm") made absolute, by what does not change with a retry."""
    private: bool = False
    """Whether it changes nothing but the person's own notes (reminders, memories): the order is the yes to it."""
    source: Callable[[Arguments, Outcome], str | None] = _no_source
    """Whose words the outcome brings into the turn ("the page https://…"), None if nobody's; it taints the turn."""
    shown: Callable[[Arguments], dict[str, Any]] = redacted
    """The arguments as events show them: without secrets."""
    seconds: float = 60
    """How long a call may take before it is given up."""
    hands_on: bool = False
    """Whether its outcome names a job (`job_id`): a model that calls it is told what came of that."""
    schema: dict[str, Any] | None = None
    """The JSON schema of the parameters, where the function's own signature does not tell (MCP, OpenAPI)."""
    title: str | None = None
    """Its name, where that is not the function's."""
    about: str | None = None
    """Its description, where that is not the function's docstring."""
    tags: tuple[str, ...] = field(default_factory=tuple)
    """More words it can be found by."""

    @property
    def name(self) -> str:
        return self.title or str(self.function.__name__)

    @property
    def description(self) -> str:
        return self.about or inspect.getdoc(self.function) or ""

    @property
    def judges_itself(self) -> bool:
        """Whether it knows more about its calls than the rules for all tools do."""
        return self.judge is not _no_verdict

    @property
    def takes_call(self) -> bool:
        first = next(iter(inspect.signature(self.function).parameters.values()), None)
        return first is not None and first.annotation in (Call, "Call")


def success(result: Any = None, **more: Any) -> Outcome:
    """It worked: the seed's shape, every field always there."""
    return {"status": "success", "result": result, "error": None, **_PROCESS, **more}


def failure(error: str, **more: Any) -> Outcome:
    """It did not work, or was refused; `error` says what happened and what to do."""
    return {"status": "error", "result": None, "error": error, **_PROCESS, **more}


_PROCESS: dict[str, Any] = {"stdout": None, "stderr": None, "exit_code": None}
