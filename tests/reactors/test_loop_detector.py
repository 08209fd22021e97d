"""LoopDetector: the same calls with the same results, and only those."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from laneway.domain.session import EventKind
from laneway.reactors import Said, Warn
from laneway.reactors.loop_detector import LoopDetector
from tests.reactors.watched import Watched, kills, notices

GREP, LIST, TEST = ("Grep", {"pattern": "x"}), ("Bash", {"command": "ls"}), ("Bash", {"command": "make test"})


def repeated(session: Watched, times: int, *calls: tuple[str, dict[str, str]]) -> list[Said]:
    said: list[Said] = []
    for _ in range(times):
        for tool, arguments in calls:
            said += session.done(tool, arguments)
    return said


def test_the_same_call_is_nudged_at_five_told_at_eight_and_ended_at_twelve_if_armed() -> None:
    session = Watched(LoopDetector(kill=True))
    assert repeated(session, 4, GREP) == []
    [nudge] = repeated(session, 1, GREP)
    assert isinstance(nudge.reaction, Warn)
    assert nudge.reaction.nudge
    assert repeated(session, 2, GREP) == []
    assert notices(repeated(session, 1, GREP)) == [
        "The same call was made 8 times with the same result and nothing changed between: Grep x"
    ]
    assert repeated(session, 3, GREP) == []
    assert len(kills(repeated(session, 1, GREP))) == 1
    assert repeated(session, 30, GREP) == []


@pytest.mark.parametrize("calls", [(GREP, LIST), (GREP, LIST, TEST), (GREP, GREP, LIST), (GREP, GREP, LIST, LIST)])
def test_rounds_of_several_calls_and_alternating_ones_are_loops(calls: tuple[tuple[str, dict[str, str]], ...]) -> None:
    session = Watched(LoopDetector(kill=True))
    assert notices(repeated(session, 7, *calls)) == []
    [told] = notices(repeated(session, 1, *calls))
    assert told.startswith(f"The same round of {len(calls)} calls was made 8 times")
    assert len(kills(repeated(session, 4, *calls))) == 1


def progress(session: Watched, number: int) -> list[Said]:
    return session.done(*TEST, text=f"{number} failed")


def asked_again(session: Watched, number: int) -> list[Said]:
    session.tell(EventKind.USER, text="again")
    return session.done(*TEST)


def changed_for_a_sub_agent(session: Watched, number: int) -> list[Said]:
    session.done("Edit", {"file_path": "a.py", "new_string": str(number)})
    return session.done(*TEST, side=True)


def told_by_text_alone(session: Watched, number: int) -> list[Said]:
    session.call(*TEST)
    return session.tell(EventKind.TOOL_ENDED, call_id=f"c{session.calls}", text=f"run {number}")


@pytest.mark.parametrize("step", [progress, asked_again, changed_for_a_sub_agent, told_by_text_alone])
def test_another_result_a_person_or_a_change_makes_it_no_loop(step: Callable[[Watched, int], list[Said]]) -> None:
    session = Watched(LoopDetector(kill=True))
    assert [step(session, number) for number in range(20)] == [[]] * 20


def test_a_round_of_four_calls_and_looking_after_what_runs_are_no_loop_nor_are_exceptions() -> None:
    assert repeated(Watched(LoopDetector(kill=True)), 30, GREP, LIST, TEST, ("Read", {"file_path": "a"})) == []
    for tool in ("BashOutput", "TaskOutput", "wait_for", "write_stdin", "TodoWrite"):
        assert repeated(Watched(LoopDetector(kill=True)), 40, (tool, {"id": "1"})) == [], tool
    session = Watched(LoopDetector(exceptions=("mcp__ci__*", "Bash(gh run view *)")))
    assert repeated(session, 20, ("mcp__ci__status", {})) == []
    assert repeated(session, 20, ("Bash", {"command": "gh run view 17"})) == []
    assert len(notices(repeated(session, 8, ("Bash", {"command": "gh pr list"})))) == 1


def test_another_call_between_ends_the_loop_and_a_new_one_is_told_anew() -> None:
    session = Watched(LoopDetector(kill=True))
    repeated(session, 8, GREP)
    session.done("Edit", {"file_path": "a.py"})
    # A call that never ends does not stop it.
    session.call(*LIST)
    assert notices(repeated(session, 7, GREP)) == []
    assert len(notices(repeated(session, 1, GREP))) == 1


def test_neither_a_sub_agent_nor_other_words_nor_parallel_calls_hide_a_loop() -> None:
    beside, described, parallel = (Watched(LoopDetector()) for _ in range(3))
    said: list[list[Said]] = [[], [], []]
    for number in range(8):
        said[0] += beside.done(*GREP) + beside.done("Read", {"file_path": str(number)}, side=True)
        said[1] += described.done("Bash", {"command": "make", "description": f"try number {number}"})
        parallel.call(*GREP)
        parallel.call(*LIST)
        ids = [f"c{parallel.calls}", f"c{parallel.calls - 1}"]
        for call_id in ids if number % 2 else reversed(ids):
            said[2] += parallel.end(call_id=call_id)
    assert [len(notices(some)) for some in said] == [1, 1, 1]
