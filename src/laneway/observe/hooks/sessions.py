"""What is remembered of each session whose hooks are heard."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from laneway.domain.session import SessionEvent, SessionState
from laneway.observe.hooks.loops import Loops, Noticed
from laneway.reactors import Chain, Reactor, ReactorContext, Said
from laneway.reactors.safety_guard import SafetyGuard

MOST = 500
"""Sessions; of the rest the one unheard for longest is forgotten."""
_MOST_SUB_AGENTS, _MOST_OPEN = 50, 100


@dataclass(slots=True)
class Heard:
    """One session: its state, who judges its calls, its repetitions, and what its agent should still read."""

    state: SessionState
    own: Chain
    """The owner's own reactors."""
    guard: SafetyGuard = field(default_factory=SafetyGuard)
    project: str = ""
    loops: OrderedDict[str, Loops] = field(default_factory=OrderedDict)
    nudges: dict[str, str] = field(default_factory=dict)

    def take_in(self, event: SessionEvent) -> None:
        """The event has happened."""
        if event.cwd and not self.project:
            # Where a session begins is its project, wherever it goes later.
            self.project = event.cwd
            self.guard = SafetyGuard(project=event.cwd)
        # Without the arguments, which may be whole files; and a call that was refused stays open for ever.
        self.state = self.state.after(replace(event, arguments={}))
        if len(self.state.open_calls) > _MOST_OPEN:
            newest = list(self.state.open_calls.items())[-_MOST_OPEN // 2 :]
            self.state = replace(self.state, open_calls=dict(newest))

    def said(self, event: SessionEvent) -> list[Said]:
        """What the owner's own reactors say of an event that was taken in."""
        return self.own.show(ReactorContext(event, self.state))

    def repeated(self, sub_agent: str, event: SessionEvent, *, denied: bool = False) -> Noticed:
        """What a repetition calls for; each sub-agent is counted by itself."""
        loops = self.loops.setdefault(sub_agent, Loops())
        while len(self.loops) > _MOST_SUB_AGENTS:
            self.loops.popitem(last=False)
        noticed = loops.heard(event, self.state, denied=denied)
        if noticed.nudge:
            self.nudges[sub_agent] = noticed.nudge
        return noticed


class Sessions:
    """The sessions heard of lately."""

    def __init__(self, own: Callable[[], Sequence[Reactor]]) -> None:
        self._own = own
        self._heard: OrderedDict[tuple[str, str], Heard] = OrderedDict()

    def of(self, provider: str, session_id: str) -> Heard:
        """The session, made if it is new."""
        name = (provider, session_id)
        if name not in self._heard:
            state = SessionState(session_id, provider)
            self._heard[name] = Heard(state, Chain(state, self._own()))
        self._heard.move_to_end(name)
        while len(self._heard) > MOST:
            self._heard.popitem(last=False)
        return self._heard[name]
