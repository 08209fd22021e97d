"""StallDetector: by state, once for each standstill, with a cool-down, and only when the clock ticks."""

from __future__ import annotations

from datetime import timedelta

import pytest

from laneway.domain.session import EventKind, SessionState
from laneway.reactors import Continue, Intervene, ReactorContext
from laneway.reactors.stall_detector import Patience, StallDetector
from tests.reactors.watched import START, Watched, notices, told


def silent(*events: tuple[EventKind, dict[str, object]]) -> Watched:
    session = Watched(StallDetector())
    for kind, fields in events:
        session.tell(kind, **fields)
    return session


def test_two_dataclasses_are_enough_to_try_it() -> None:
    state = SessionState("s", "codex", last_activity=START)
    early = told(EventKind.TICK, START + timedelta(seconds=59))
    late = told(EventKind.TICK, START + timedelta(seconds=60))
    detector = StallDetector()
    assert detector.handle(ReactorContext(early, state)) == Continue()
    assert detector.handle(ReactorContext(late, state)) == Intervene("It has been waiting for you for 60 s.")
    assert detector.handle(ReactorContext(late, state)) == Continue()


def test_an_agent_that_finished_its_turn_waits_for_you_after_a_minute_and_says_so_once() -> None:
    session = silent((EventKind.USER, {"text": "hi"}), (EventKind.OTHER, {"turn_ended": True}))
    assert notices(session.wait(55)) == []
    assert notices(session.wait(5)) == ["It has been waiting for you for 60 s."]
    assert notices(session.wait(3 * 3600)) == []


def test_no_event_but_a_tick_makes_it_speak() -> None:
    session = silent((EventKind.OTHER, {"turn_ended": True}))
    session.now += timedelta(hours=1)
    assert session.tell(EventKind.TOKENS) == []


def test_within_five_minutes_of_a_notice_there_is_no_other_and_then_it_comes_if_it_still_stands() -> None:
    session = silent((EventKind.OTHER, {"turn_ended": True}))
    assert len(notices(session.wait(60))) == 1
    session.tell(EventKind.USER, text="go on")
    session.turn_over()
    assert notices(session.wait(295)) == []
    [told] = notices(session.wait(10))
    assert told == "It has been waiting for you for 5 minutes."


def test_a_question_to_the_user_is_waiting_for_the_user() -> None:
    session = silent()
    session.call("AskUserQuestion", {"question": "Which one?"})
    assert notices(session.wait(60)) == ["It has been waiting for you for 60 s (AskUserQuestion: Which one?)."]


def test_a_command_that_changes_things_runs_or_waits_for_permission_and_both_is_said() -> None:
    session = silent()
    session.call("Bash", {"command": "make deploy"})
    assert notices(session.wait(60)) == [
        "It has been running or waiting for your permission for 60 s (Bash: make deploy)."
    ]
    assert notices(session.wait(540)) == ["A tool has been running for 10 minutes (Bash: make deploy)."]
    assert notices(session.wait(3600)) == []


def test_where_nothing_runs_below_the_agent_it_waits_for_permission() -> None:
    session = silent()
    session.call("Bash", {"command": "make deploy"})
    assert notices(session.wait(60, text="idle")) == [
        "It has been waiting for your permission for 60 s (Bash: make deploy)."
    ]


def test_an_edit_that_takes_a_minute_waits_for_permission() -> None:
    session = silent()
    session.call("Edit", {"file_path": "a.py"})
    assert notices(session.wait(60)) == ["It has been waiting for your permission for 60 s (Edit: a.py)."]


@pytest.mark.parametrize(("tool", "arguments", "tick"), [
    ("Bash", {"command": "grep -r x ."}, ""), ("Read", {"file_path": "a.py"}, ""),
    ("Bash", {"command": "make test"}, "busy"),
])  # fmt: skip
def test_a_tool_that_runs_may_take_ten_minutes(tool: str, arguments: dict[str, str], tick: str) -> None:
    session = silent()
    session.call(tool, arguments)
    assert notices(session.wait(595, text=tick)) == []
    [told] = notices(session.wait(5, text=tick))
    assert told.startswith("A tool has been running for 10 minutes")


def test_while_background_work_runs_nobody_is_told_that_it_waits() -> None:
    session = silent()
    session.done(
        "Bash", {"command": "npm run dev", "run_in_background": True}, "Command running in background with ID: bash_1"
    )
    session.turn_over()
    assert notices(session.wait(595)) == []
    assert notices(session.wait(5)) == ["Background work has given no sign for 10 minutes."]


@pytest.mark.parametrize("ending", ["kill", "notification", "asked"])
def test_when_background_work_is_over_it_waits_for_you(ending: str) -> None:
    session = silent()
    session.done("Bash", {"command": "x", "run_in_background": True}, "Command running in background with ID: bash_1")
    if ending == "kill":
        session.done("KillShell", {"shell_id": "bash_1"})
    elif ending == "asked":
        session.done("BashOutput", {"bash_id": "bash_1"}, "<status>completed</status>")
    else:
        session.tell(EventKind.OTHER, text="<task-notification>bash_1 completed</task-notification>")
    session.turn_over()
    assert notices(session.wait(60)) == ["It has been waiting for you for 60 s."]


def test_a_sub_agent_at_work_is_background_work() -> None:
    session = silent()
    session.call("Task", {"prompt": "look around"})
    assert notices(session.wait(595)) == []
    assert notices(session.wait(5)) == ["Background work has given no sign for 10 minutes (Task: look around)."]


def test_a_model_that_owes_an_answer_may_think_for_six_minutes() -> None:
    session = silent((EventKind.USER, {"text": "prove it"}))
    assert notices(session.wait(355)) == []
    [told] = notices(session.wait(5))
    assert told == "No sign of life for 6 minutes: the model has not answered yet, or the agent is dead."


def test_a_process_that_is_gone_in_the_middle_of_its_turn_is_told_at_once_and_once() -> None:
    session = silent((EventKind.USER, {"text": "go"}))
    session.call("Bash", {"command": "make"})
    assert notices(session.wait(5, failed=True)) == [
        "The agent's process is gone in the middle of its turn (Bash: make)."
    ]
    assert notices(session.wait(600, failed=True)) == []


def test_an_ended_session_stands_still_for_good_reason() -> None:
    session = silent((EventKind.USER, {"text": "go"}), (EventKind.ENDED, {}))
    assert session.wait(3600) == []


def test_the_times_can_be_chosen() -> None:
    session = Watched(StallDetector(Patience(user=10, cool_down=0)))
    session.turn_over()
    assert len(notices(session.wait(10))) == 1
    session.turn_over()
    assert len(notices(session.wait(10))) == 1


def test_what_a_call_says_cannot_steer_the_terminal_of_whoever_is_told() -> None:
    session = silent()
    session.call("Edit\x1b[2J", {"file_path": "\x1b]0;owned\x07a.py"})
    [said] = notices(session.wait(60))
    assert "\x1b" not in said
    assert "\x07" not in said
