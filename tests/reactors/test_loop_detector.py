"""LoopDetector: the same calls with the same results, and only those."""

from __future__ import annotations

import pytest

from laneway.domain.session import EventKind
from laneway.reactors import Said, Warn
from laneway.reactors.loop_detector import LoopDetector
from tests.reactors.watched import Watched, kills, notices, warnings

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


def test_unarmed_it_tells_and_ends_nothing() -> None:
    said = repeated(Watched(LoopDetector()), 40, GREP)
    assert (len(warnings(said)), len(notices(said)), kills(said)) == (1, 1, [])


@pytest.mark.parametrize("calls", [(GREP, LIST), (GREP, LIST, TEST), (GREP, GREP, LIST), (GREP, GREP, LIST, LIST)])
def test_rounds_of_several_calls_and_alternating_ones_are_loops(calls: tuple[tuple[str, dict[str, str]], ...]) -> None:
    session = Watched(LoopDetector(kill=True))
    assert notices(repeated(session, 7, *calls)) == []
    [told] = notices(repeated(session, 1, *calls))
    assert told.startswith(f"The same round of {len(calls)} calls was made 8 times")
    assert len(kills(repeated(session, 4, *calls))) == 1


def test_a_round_of_four_different_calls_is_work() -> None:
    assert repeated(Watched(LoopDetector(kill=True)), 30, GREP, LIST, TEST, ("Read", {"file_path": "a"})) == []


def test_another_result_is_progress() -> None:
    session = Watched(LoopDetector(kill=True))
    for number in range(40):
        assert session.done(*TEST, text=f"{number} failed") == []


def test_another_call_between_ends_the_loop_and_a_new_one_is_told_anew() -> None:
    session = Watched(LoopDetector(kill=True))
    repeated(session, 8, GREP)
    session.done("Edit", {"file_path": "a.py"})
    assert notices(repeated(session, 7, GREP)) == []
    assert len(notices(repeated(session, 1, GREP))) == 1


def test_a_person_who_asks_for_it_again_makes_no_loop() -> None:
    session = Watched(LoopDetector(kill=True))
    for _ in range(20):
        session.tell(EventKind.USER, text="again")
        assert session.done(*TEST) == []


def test_a_change_to_the_work_tree_by_the_agent_is_news_for_its_sub_agent() -> None:
    session = Watched(LoopDetector(kill=True))
    for number in range(20):
        assert session.done(*TEST, side=True) == []
        session.done("Edit", {"file_path": "a.py", "new_string": str(number)})


def test_a_sub_agents_calls_do_not_hide_the_agents_loop() -> None:
    session = Watched(LoopDetector())
    said: list[Said] = []
    for number in range(8):
        said += session.done(*GREP)
        said += session.done("Read", {"file_path": str(number)}, side=True)
    assert len(notices(said)) == 1


@pytest.mark.parametrize("tool", ["BashOutput", "TaskOutput", "wait_for", "write_stdin", "TodoWrite"])
def test_looking_after_what_runs_is_no_loop(tool: str) -> None:
    assert repeated(Watched(LoopDetector(kill=True)), 40, (tool, {"id": "1"})) == []


def test_exceptions_can_be_a_tool_or_a_command() -> None:
    session = Watched(LoopDetector(exceptions=("mcp__ci__*", "Bash(gh run view *)")))
    assert repeated(session, 20, ("mcp__ci__status", {})) == []
    assert repeated(session, 20, ("Bash", {"command": "gh run view 17"})) == []
    assert len(notices(repeated(session, 8, ("Bash", {"command": "gh pr list"})))) == 1


def test_other_words_about_the_same_command_do_not_hide_it() -> None:
    session = Watched(LoopDetector())
    said: list[Said] = []
    for number in range(8):
        said += session.done("Bash", {"command": "make", "description": f"try number {number}"})
    assert len(notices(said)) == 1


def test_parallel_calls_count_in_the_order_they_were_made_whatever_order_results_come_in() -> None:
    session = Watched(LoopDetector())
    said: list[Said] = []
    for number in range(8):
        session.call(*GREP)
        session.call(*LIST)
        ids = [f"c{session.calls}", f"c{session.calls - 1}"]
        for call_id in ids if number % 2 else reversed(ids):
            said += session.end(call_id=call_id)
    assert len(notices(said)) == 1


def test_calls_that_never_end_do_not_stop_it() -> None:
    session = Watched(LoopDetector())
    session.call(*LIST)
    assert notices(repeated(session, 8, GREP)) != []


def test_results_without_a_hash_are_compared_by_their_text() -> None:
    session = Watched(LoopDetector())
    said: list[Said] = []
    for number in range(8):
        session.call(*TEST)
        said += session.tell(EventKind.TOOL_ENDED, call_id=f"c{session.calls}", text=f"run {number}")
    assert said == []
