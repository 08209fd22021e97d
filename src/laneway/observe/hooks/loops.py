"""Notices the same call again and again, early enough to tell the agent before it runs once more."""

from __future__ import annotations

from collections import deque
from copy import deepcopy
from dataclasses import dataclass, replace

from laneway.domain.session import EventKind, SessionEvent, SessionState
from laneway.reactors.border import Failed, attempted
from laneway.reactors.calls import key_of
from laneway.reactors.contract import Continue, Intervene, Reaction, ReactorContext, Warn
from laneway.reactors.loop_detector import LoopDetector

_MOST_RESULTS, _MOST_OPEN = 64, 5
_RECENT, _OFTEN = 40, 4
"""Calls looked back at, and how often one must be among them: the fifth time is the first the agent hears of."""
ADVICE = "You seem to be in a loop. Stop, say what you expected, and try another way or ask the user."


@dataclass(frozen=True, slots=True)
class Noticed:
    """What a repetition calls for: a word to the agent, and to the owner."""

    nudge: str = ""
    notice: str = ""


NOTHING = Noticed()


class Loops:
    """The calls of one agent or one sub-agent of a session."""

    def __init__(self) -> None:
        self._detector = LoopDetector()
        self._results: dict[str, SessionEvent] = {}
        self._open: list[tuple[str, SessionEvent]] = []
        self._recent: deque[str] = deque(maxlen=_RECENT)
        self._hears_results = self._silent = False
        self._told = ""

    def heard(self, event: SessionEvent, state: SessionState, *, denied: bool = False) -> Noticed:
        """What this event calls for. A call that was denied ends with that, and has no result of its own."""
        if event.kind is EventKind.TOOL_CALLED:
            return self._called(event, state, denied)
        if event.kind is EventKind.TOOL_ENDED:
            self._ended(event)
        elif event.kind is EventKind.USER:
            self._open, self._told = [], ""
        return self._noticed(self._reaction(self._detector, event, state))

    def _called(self, event: SessionEvent, state: SessionState, denied: bool) -> Noticed:
        key = key_of(event.tool, event.arguments)
        expected = self._ending(key, event, denied)
        self._silent = not self._hears_results and (self._silent or bool(self._open))
        if denied or self._silent:
            # Nobody will say how it ended.
            self._close(len(self._open) if not denied else 0, state)
            self._reaction(self._detector, event, state)
            return self._noticed(self._reaction(self._detector, expected, state))
        self._close(max(0, len(self._open) - _MOST_OPEN), state)
        # Without the arguments, which may be whole files.
        self._open.append((key, replace(event, arguments={})))
        # What would be noticed if it ended as it did before is only worth a look when it was made often.
        ahead = deepcopy(self._detector) if self._recent.count(key) >= _OFTEN else None
        self._recent.append(key)
        self._reaction(self._detector, event, state)
        if ahead is None:
            return NOTHING
        self._reaction(ahead, event, state)
        warned = self._reaction(ahead, expected, state)
        return self._noticed(warned) if isinstance(warned, Warn) else NOTHING

    def _ended(self, event: SessionEvent) -> None:
        self._hears_results = True
        place = next((place for place, (_, call) in enumerate(self._open) if call.call_id == event.call_id), None)
        if place is None:
            return
        key, _ = self._open.pop(place)
        self._results.pop(key, None)
        self._results[key] = event
        if len(self._results) > _MOST_RESULTS:
            del self._results[next(iter(self._results))]

    def _close(self, count: int, state: SessionState) -> None:
        """The oldest open calls count as ended: the user refused them, or this agent never tells results."""
        for key, call in self._open[:count]:
            self._reaction(self._detector, self._ending(key, call, denied=False), state)
        self._open = self._open[count:]

    def _ending(self, key: str, event: SessionEvent, denied: bool) -> SessionEvent:
        """The end of a call as it is to be expected: as the same call ended before."""
        ended = replace(event, kind=EventKind.TOOL_ENDED, arguments={}, text="")
        if denied:
            return replace(ended, failed=True, result_hash="denied")
        before = self._results.get(key)
        if before is None:
            return ended
        return replace(ended, failed=before.failed, result_hash=before.result_hash, text=before.text)

    def _reaction(self, detector: LoopDetector, event: SessionEvent, state: SessionState) -> Reaction:
        found = attempted(detector.name, lambda: detector.handle(ReactorContext(event, state)), again=True)
        return Continue() if isinstance(found, Failed) else found

    def _noticed(self, reaction: Reaction) -> Noticed:
        if isinstance(reaction, Intervene):
            return Noticed(notice=reaction.reason)
        if not isinstance(reaction, Warn) or not reaction.nudge or reaction.message == self._told:
            return NOTHING
        self._told = reaction.message
        return Noticed(nudge=f"{reaction.message} {ADVICE}")
