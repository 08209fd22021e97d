"""LoopDetector: finds an agent that makes the same calls with the same results again and again.

A loop is one call, or a round of at most three distinct ones, repeated with unchanged results, no other call between
and no change to the work tree. Sub-agents are counted apart from the agent itself.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from laneway.domain.session import EventKind, SessionEvent
from laneway.reactors.calls import Category, category, key_of, matches
from laneway.reactors.contract import Continue, Intervene, Reaction, ReactorContext, Severity, Warn
from laneway.reactors.cycles import Cycles
from laneway.reactors.tui_renderer import cut, plain, subject

EXCEPTIONS = (
    *("BashOutput", "TaskOutput", "AgentOutput", "write_stdin", "wait*", "sleep*", "TodoWrite", "update_plan"),
    *("get_task_output", "Bash(sleep *)", "read_thread_terminal", "ScheduleWakeup", "Monitor"),
)
"""Calls that are repeated for good reasons: they look after something that runs, or keep a list."""
_MOST_OPEN = 64


@dataclass(frozen=True, slots=True)
class Limits:
    """At which repetition something happens."""

    nudge: int = 5
    notify: int = 8
    kill: int = 12


@dataclass(slots=True)
class _Call:
    event: SessionEvent
    key: str
    writes: bool
    batch: int
    """Calls that were made together have the same number."""
    result: str | None = None


@dataclass(slots=True)
class _Track:
    """The calls of the agent, or of its sub-agents, in the order they were made."""

    open: deque[_Call] = field(default_factory=deque)
    cycles: Cycles = field(default_factory=Cycles)
    told: int = 0
    batch: int = 0
    answered: bool = False

    def clear(self) -> None:
        self.open.clear()
        self.cycles.clear()
        self.told = 0


class LoopDetector:
    """Nudges the agent, then notifies somebody, then, if it may, ends the session; each once for a loop."""

    name = "loop"

    def __init__(
        self, *, kill: bool = False, exceptions: tuple[str, ...] = EXCEPTIONS, limits: Limits | None = None
    ) -> None:
        self._kill, self._exceptions, self._limits = kill, exceptions, limits or Limits()
        self._tracks = {False: _Track(), True: _Track()}

    def handle(self, ctx: ReactorContext) -> Reaction:
        """What the repetition that this event completes calls for."""
        event = ctx.event
        track = self._tracks[event.side]
        if event.kind is EventKind.USER:
            # Who was asked to do it again does no more than that.
            track.clear()
        elif event.kind is EventKind.TOOL_CALLED:
            self._called(track, event)
        elif event.kind is EventKind.TOOL_ENDED:
            return self._ended(track, event)
        return Continue()

    def _called(self, track: _Track, event: SessionEvent) -> None:
        if matches(self._exceptions, event.tool, event.arguments):
            return
        writes = category(event.tool, event.arguments) is Category.WRITE
        track.batch, track.answered = track.batch + track.answered, False
        track.open.append(_Call(event, key_of(event.tool, event.arguments), writes, track.batch))
        if len(track.open) > _MOST_OPEN:
            track.open.popleft()

    def _ended(self, track: _Track, event: SessionEvent) -> Reaction:
        """Results may come in any order; calls count in the order they were made."""
        call = next((call for call in track.open if call.event.call_id == event.call_id and call.result is None), None)
        if call is None:
            return Continue()
        call.result, track.answered = f"{event.failed}{event.result_hash or event.text}", True
        if call.writes and not event.failed:
            self._tracks[not event.side].cycles.clear()
        strongest: Reaction = Continue()
        while track.open and (track.open[0].result is not None or track.open[0].batch <= call.batch - 2):
            # One whose result has not come two rounds later is lost, and holds up nobody.
            first = track.open.popleft()
            reaction = Continue() if first.result is None else self._counted(track, first)
            strongest = strongest if isinstance(reaction, Continue) else reaction
        return strongest

    def _counted(self, track: _Track, call: _Call) -> Reaction:
        times, size = track.cycles.add(f"{call.key} {call.result}")
        limits = self._limits
        level = sum(times >= limit for limit in (limits.nudge, limits.notify, limits.kill))
        if level <= track.told:
            track.told = track.told if times > 1 else 0
            return Continue()
        track.told = level
        what = "The same call" if size == 1 else f"The same round of {size} calls"
        which = cut(plain(f"{call.event.tool} {subject(call.event.arguments)}"), 100)
        told = f"{what} was made {times} times with the same result and nothing changed between: {which}"
        if level == 1:
            return Warn(told, nudge=True)
        if level == 2:
            return Intervene(told)
        return Intervene(told, Severity.KILL) if self._kill else Continue()
