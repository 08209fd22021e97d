"""Several sessions are watched at once: what is new is told once, what is old never, and silence is noticed."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from laneway.clock import FakeClock, SystemClock
from laneway.domain.session import EventKind
from laneway.observe.discovery import discover
from laneway.observe.notify import Notice, notice_of
from laneway.observe.watched import Seen, Watched
from laneway.observe.watching import Bounds, Watching, Which
from laneway.reactors import Continue, Reaction, Reactor, ReactorContext, Warn
from laneway.reactors.shipped import shipped
from tests.observe.live_logs import Agent


@dataclass
class Counts:
    """A reactor that says how many user turns it has seen in all its life."""

    name: str = "counts"
    turns: int = 0

    def handle(self, ctx: ReactorContext) -> Reaction:
        if ctx.event.kind is not EventKind.USER:
            return Continue()
        self.turns += 1
        return Warn(f"turn {self.turns}")


@dataclass
class Watch:
    """A Watching over the sessions below a home, and what it told."""

    home: Path
    clock: FakeClock | SystemClock = field(default_factory=SystemClock)
    seen: list[Seen] = field(default_factory=list)

    def begin(
        self, reactors: Sequence[type[Reactor]] | None = (Counts,), which: Which | None = None,
        bounds: Bounds | None = None,
    ) -> Watching:  # fmt: skip
        def make(_: Watched) -> Sequence[Reactor]:
            return shipped() if reactors is None else [kind() for kind in reactors]

        watching = Watching(
            partial(discover, {"HOME": str(self.home)}), make, self.seen.append, clock=self.clock, which=which,
            bounds=bounds,
        )  # fmt: skip
        watching.begin()
        watching.read(10)
        return watching

    @property
    def news(self) -> list[str]:
        return [seen.event.text for seen in self.seen if not seen.past and seen.event.kind is EventKind.USER]

    @property
    def said(self) -> list[str]:
        return [said.reaction.message for seen in self.seen for said in seen.said if isinstance(said.reaction, Warn)]

    @property
    def notices(self) -> list[Notice]:
        found = (notice_of(seen, said) for seen in self.seen for said in seen.said)
        return [notice for notice in found if notice is not None]


def changed(watching: Watching, *agents: Agent) -> None:
    watching.round([agent.path for agent in agents], seconds=10)


def test_what_was_there_before_is_remembered_and_not_told(tmp_path: Path) -> None:
    agent, watch = Agent(tmp_path), Watch(tmp_path)
    agent.says("old")
    watching = watch.begin()
    assert watch.news == watch.said == []
    agent.says("new")
    changed(watching, agent)
    # The reactor has counted the turn that nobody heard of.
    assert (watch.news, watch.said) == (["new"], ["turn 2"])


def test_several_sessions_are_watched_at_once_and_new_ones_are_found(tmp_path: Path) -> None:
    watch = Watch(tmp_path)
    watching = watch.begin()
    first, second = Agent(tmp_path), Agent(tmp_path)
    first.says("one")
    second.says("two")
    watching.rescan()
    watching.read(10)
    first.says("three")
    changed(watching, first)
    assert sorted(watch.news) == ["one", "three", "two"]
    assert [seen.session.session_id for seen in watch.seen if seen.event.text == "two"] == [second.session_id]


def test_an_unknown_file_is_looked_for_as_soon_as_somebody_names_it(tmp_path: Path) -> None:
    watch = Watch(tmp_path)
    watching = watch.begin()
    agent = Agent(tmp_path)
    agent.says("hello")
    # It was looked a second ago, which took no time: too soon to look again, were it not for the name.
    watching._scanned, watching._cost = time.monotonic() - 1, 0.0
    changed(watching, agent)
    assert watch.news == ["hello"]


def test_a_log_that_was_moved_here_tells_nothing_that_is_long_past(tmp_path: Path) -> None:
    watch = Watch(tmp_path)
    watching = watch.begin()
    old, new = Agent(tmp_path, clock=FakeClock()), Agent(tmp_path)
    old.says("of last year")
    new.says("of now")
    watching.rescan()
    watching.read(10)
    assert watch.news == ["of now"]


def test_only_the_wanted_provider_and_session_are_watched(tmp_path: Path) -> None:
    first, second = Agent(tmp_path), Agent(tmp_path)
    for which, expected in (
        (Which(provider="codex"), 0),
        (Which(provider="claude-code"), 2),
        (Which(session=first.session_id[:8]), 1),
        (Which(session=str(second.path)), 1),
    ):
        watch = Watch(tmp_path)
        first.says("a")
        second.says("b")
        assert len(watch.begin(which=which).sessions) == expected


def test_a_sub_agent_belongs_to_the_session_that_is_wanted(tmp_path: Path) -> None:
    agent = Agent(tmp_path)
    agent.says("a")
    side = agent.path.with_suffix("") / "subagents" / "agent-7.jsonl"
    side.parent.mkdir(parents=True)
    side.write_bytes(agent.path.read_bytes())
    watching = Watch(tmp_path).begin(which=Which(session=agent.session_id))
    assert {session.found.side for session in watching.sessions.values()} == {False, True}


def test_a_stall_makes_no_event_and_is_noticed_by_the_clock(tmp_path: Path) -> None:
    clock = FakeClock(SystemClock().now())
    agent, watch = Agent(tmp_path, clock=clock), Watch(tmp_path, clock)
    watching = watch.begin(None)
    agent.says("work")
    agent.calls("Edit", file_path="/home/u/project/a.py", old_string="a", new_string="b")
    watching.rescan()
    watching.read(10)
    for _ in range(14):
        clock.advance(4)
        watching.tick()
    assert watch.notices == []
    clock.advance(8)
    watching.tick()
    [notice] = watch.notices
    assert "waiting for your permission" in notice.text
    for _ in range(30):
        clock.advance(4)
        watching.tick()
    assert len(watch.notices) == 1


def test_the_clock_ticks_at_least_every_five_seconds(tmp_path: Path) -> None:
    watch = Watch(tmp_path)
    agent = Agent(tmp_path)
    agent.says("hello")
    watching = watch.begin()
    watching._ticked -= 5
    watching.round()
    watching.round()
    assert [seen.event.kind for seen in watch.seen if not seen.past] == [EventKind.TICK]


def test_a_silence_that_began_before_is_not_told_when_watching_begins(tmp_path: Path) -> None:
    clock = FakeClock(SystemClock().now())
    agent, watch = Agent(tmp_path, clock=clock), Watch(tmp_path, clock)
    agent.says("work")
    agent.calls("Edit", file_path="/home/u/project/a.py", old_string="a", new_string="b")
    clock.advance(120)
    watching = watch.begin(None)
    clock.advance(4)
    watching.tick()
    assert watch.notices == []


def test_after_a_restart_memory_is_there_again_and_nothing_is_told_twice(tmp_path: Path) -> None:
    agent, before = Agent(tmp_path), Watch(tmp_path)
    watching = before.begin(None)
    agent.says("work")
    for _ in range(8):
        agent.does("make test")
    watching.rescan()
    watching.read(10)
    assert [notice.reactor for notice in before.notices] == ["loop"]
    after = Watch(tmp_path)
    watching = after.begin(None)
    assert after.notices == []
    # The ninth is the same loop: whoever had forgotten would begin to count at one, or tell it again.
    agent.does("make test")
    changed(watching, agent)
    assert after.notices == []


def test_a_session_that_slept_goes_on_with_its_memory(tmp_path: Path) -> None:
    agent, watch = Agent(tmp_path), Watch(tmp_path)
    watching = watch.begin()
    agent.says("one")
    watching.rescan()
    watching.read(10)
    [session] = watching.sessions.values()
    session.sleep()
    assert not session.awake
    assert session.state is not None
    agent.says("two")
    changed(watching, agent)
    assert (watch.news, watch.said) == (["one", "two"], ["turn 1", "turn 2"])


def test_no_more_sessions_are_open_than_allowed_and_the_quietest_sleeps_first(tmp_path: Path) -> None:
    watch, agents = Watch(tmp_path), [Agent(tmp_path) for _ in range(12)]
    for number, agent in enumerate(agents):
        agent.says("hello")
        moment = SystemClock().now().timestamp() - 100 + number
        os.utime(agent.path, (moment, moment))
    watching = watch.begin(bounds=Bounds(awake=5))
    watching.rest()
    awake = {session.session_id for session in watching.sessions.values() if session.awake}
    assert awake == {agent.session_id for agent in agents[-5:]}
    agents[0].says("again")
    changed(watching, agents[0])
    watching.rest()
    assert watch.news == ["again"]
    assert len(watching.shown()) == 5
    assert watching.shown()[0].session_id == agents[0].session_id


def test_a_session_that_was_quiet_for_an_hour_sleeps(tmp_path: Path) -> None:
    clock = FakeClock(SystemClock().now())
    watch = Watch(tmp_path, clock)
    Agent(tmp_path).says("hello")
    watching = watch.begin()
    watching.rest()
    assert len(watching.shown()) == 1
    clock.advance(3700)
    watching.rest()
    assert watching.shown() == []


def test_a_log_that_is_written_anew_is_not_told_again(tmp_path: Path) -> None:
    agent, watch = Agent(tmp_path), Watch(tmp_path)
    watching = watch.begin()
    agent.says("one")
    agent.says("two")
    watching.rescan()
    watching.read(10)
    lines = agent.path.read_bytes().splitlines(keepends=True)
    agent.path.write_bytes(lines[0])
    changed(watching, agent)
    agent.says("three")
    changed(watching, agent)
    assert watch.news == ["one", "two", "three"]
    assert watch.said[-1] == "turn 2"


def test_a_session_that_vanishes_is_dropped_and_said_to_be_lost(tmp_path: Path) -> None:
    agent, watch = Agent(tmp_path), Watch(tmp_path)
    agent.says("one")
    watching = watch.begin()
    agent.path.unlink()
    watching.rescan()
    assert watching.sessions == {}
    assert [session.session_id for session in watching.lost] == [agent.session_id]


def test_a_long_log_lets_others_have_their_turn(tmp_path: Path) -> None:
    watch = Watch(tmp_path)
    watching = watch.begin()
    long, short = Agent(tmp_path), Agent(tmp_path)
    for _ in range(6):
        long.says("x" * 1_500_000)
    short.says("hello")
    watching.rescan()
    watching.read(0)
    watching.read(0)
    assert "hello" in watch.news
    assert watching.pending
    watching.read(10)
    assert len(watch.news) == 7


def test_one_silence_has_one_name_however_long_it_lasts(tmp_path: Path) -> None:
    began = SystemClock().now()
    agent = Agent(tmp_path, clock=FakeClock(began))
    watches = [Watch(tmp_path, FakeClock(began)) for _ in range(2)]
    watchings = [watch.begin(None) for watch in watches]
    agent.says("work")
    agent.calls("Edit", file_path="/home/u/project/a.py", old_string="a", new_string="b")
    for watching, seconds in zip(watchings, (61, 241), strict=True):
        watching.rescan()
        watching.read(10)
        assert isinstance(watching.clock, FakeClock)
        watching.clock.advance(seconds)
        watching.tick()
    [[first], [second]] = [watch.notices for watch in watches]
    assert first.text != second.text
    assert first.key == second.key
