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


def found(watching: Watching) -> None:
    """All there is has been looked for and read."""
    watching.rescan()
    watching.read(10)


def edits(agent: Agent) -> None:
    """The agent is told to work and asks to edit a file."""
    agent.says("work")
    agent.calls("Edit", file_path="/home/u/project/a.py", old_string="a", new_string="b")


def test_what_was_there_before_is_remembered_and_not_told(tmp_path: Path) -> None:
    agent, watch = Agent(tmp_path), Watch(tmp_path)
    agent.says("old")
    watching = watch.begin()
    assert watch.news == watch.said == []
    agent.says("new")
    changed(watching, agent)
    # The reactor has counted the turn that nobody heard of.
    assert (watch.news, watch.said) == (["new"], ["turn 2"])
    # Nor is it told if the log is moved here later.
    Agent(tmp_path, clock=FakeClock()).says("of last year")
    found(watching)
    assert watch.news == ["new"]


def test_several_sessions_are_watched_at_once_and_new_ones_are_found(tmp_path: Path) -> None:
    watch = Watch(tmp_path)
    watching = watch.begin()
    first, second, third = Agent(tmp_path), Agent(tmp_path), Agent(tmp_path)
    first.says("one")
    second.says("two")
    found(watching)
    first.says("three")
    third.says("four")
    # It was looked a second ago, which took no time: too soon to look again, were it not for the name.
    watching._scanned, watching._cost = time.monotonic() - 1, 0.0
    changed(watching, first, third)
    assert sorted(watch.news) == ["four", "one", "three", "two"]
    assert [seen.session.session_id for seen in watch.seen if seen.event.text == "two"] == [second.session_id]


def test_only_the_wanted_provider_and_session_with_its_sub_agents_are_watched(tmp_path: Path) -> None:
    first, second = Agent(tmp_path), Agent(tmp_path)
    first.says("a")
    second.says("b")
    side = first.path.with_suffix("") / "subagents" / "agent-7.jsonl"
    side.parent.mkdir(parents=True)
    side.write_bytes(first.path.read_bytes())
    for which, expected in (
        (Which(provider="codex"), 0),
        (Which(provider="claude-code"), 3),
        (Which(session=first.session_id[:8]), 2),
        (Which(session=str(second.path)), 1),
    ):
        assert len(Watch(tmp_path).begin(which=which).sessions) == expected


def test_a_way_out_of_the_project_is_noticed_by_whatever_tool_it_goes(tmp_path: Path) -> None:
    for cwd in ("/home/u/project", "/tmp/work/project"):
        watch = Watch(tmp_path / cwd[1:4])
        watching = watch.begin(None)
        agent = Agent(watch.home, cwd=cwd)
        agent.says("work")
        agent.calls("Read", file_path="../../etc/passwd")
        agent.calls("Glob", pattern="../../**")
        agent.calls("Bash", command="cat ../../../etc/passwd")
        found(watching)
        assert [notice.reactor for notice in watch.notices] == ["safety"] * 3


def test_a_stall_makes_no_event_and_is_noticed_by_the_clock(tmp_path: Path) -> None:
    clock = FakeClock(SystemClock().now())
    agent, watch = Agent(tmp_path, clock=clock), Watch(tmp_path, clock)
    watching = watch.begin(None)
    edits(agent)
    found(watching)
    clock.advance(56)
    # It ticks at least every five seconds.
    watching._ticked -= 5
    watching.round()
    watching.round()
    assert [seen.event.kind for seen in watch.seen if seen.event.kind is EventKind.TICK] == [EventKind.TICK]
    assert watch.notices == []
    clock.advance(8)
    watching.tick()
    [notice] = watch.notices
    assert "waiting for your permission" in notice.text
    for _ in range(30):
        clock.advance(4)
        watching.tick()
    assert len(watch.notices) == 1


def test_after_a_restart_memory_is_there_again_and_nothing_is_told_twice(tmp_path: Path) -> None:
    agent, before = Agent(tmp_path), Watch(tmp_path)
    watching = before.begin(None)
    agent.says("work")
    for _ in range(8):
        agent.does("make test")
    found(watching)
    assert [notice.reactor for notice in before.notices] == ["loop"]
    after = Watch(tmp_path)
    watching = after.begin(None)
    # The ninth is the same loop: whoever had forgotten would begin to count at one, or tell it again.
    agent.does("make test")
    changed(watching, agent)
    assert after.notices == []


def test_the_quietest_sessions_sleep_and_go_on_with_their_memory(tmp_path: Path) -> None:
    clock = FakeClock(SystemClock().now())
    watch, agents = Watch(tmp_path, clock), [Agent(tmp_path) for _ in range(6)]
    for number, agent in enumerate(agents):
        agent.says("hello")
        moment = SystemClock().now().timestamp() - 100 + number
        os.utime(agent.path, (moment, moment))
    watching = watch.begin(bounds=Bounds(awake=3))
    watching.rest()
    awake = {session.session_id for session in watching.sessions.values() if session.awake}
    assert awake == {agent.session_id for agent in agents[-3:]}
    agents[0].says("again")
    changed(watching, agents[0])
    watching.rest()
    assert (watch.news, watch.said) == (["again"], ["turn 2"])
    assert len(watching.shown()) == 3
    assert watching.shown()[0].session_id == agents[0].session_id
    # Those that were quiet for an hour sleep, however few they are.
    clock.advance(3700)
    watching.rest()
    assert watching.shown() == []


def test_a_log_that_is_written_anew_is_not_told_again_and_one_that_vanishes_is_lost(tmp_path: Path) -> None:
    agent, watch = Agent(tmp_path), Watch(tmp_path)
    watching = watch.begin()
    agent.says("one")
    agent.says("two")
    found(watching)
    lines = agent.path.read_bytes().splitlines(keepends=True)
    agent.path.write_bytes(lines[0])
    changed(watching, agent)
    agent.says("three")
    changed(watching, agent)
    assert watch.news == ["one", "two", "three"]
    assert watch.said[-1] == "turn 2"
    agent.path.unlink()
    watching.rescan()
    assert watching.sessions == {}
    assert [session.session_id for session in watching.lost] == [agent.session_id]
