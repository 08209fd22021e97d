"""StallDetector: by state, once for each standstill, with a cool-down, and only when the clock ticks."""

from __future__ import annotations

from datetime import timedelta

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


def test_an_agent_that_finished_its_turn_waits_for_you_after_a_minute_and_says_so_once_and_only_at_a_tick() -> None:
    session = silent((EventKind.USER, {"text": "hi"}), (EventKind.OTHER, {"turn_ended": True}))
    assert notices(session.wait(55)) == []
    assert notices(session.wait(5)) == ["It has been waiting for you for 60 s."]
    assert notices(session.wait(3 * 3600)) == []
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


OPEN_CALLS: list[tuple[str, dict[str, str], str, float, str]] = [
    # A call, what the clock saw below the agent, the seconds it may take, and what is said then.
    ("AskUserQuestion", {"question": "A?"}, "", 60, "It has been waiting for you for 60 s (AskUserQuestion: A?)."),
    ("Bash", {"command": "make"}, "", 60, "It has been running or waiting for your permission for 60 s (Bash: make)."),
    ("Bash", {"command": "make"}, "idle", 60, "It has been waiting for your permission for 60 s (Bash: make)."),
    ("Bash", {"command": "make"}, "busy", 600, "A tool has been running for 10 minutes (Bash: make)."),
    ("Bash", {"command": "grep x ."}, "", 600, "A tool has been running for 10 minutes (Bash: grep x .)."),
    ("Edit", {"file_path": "a.py"}, "", 60, "It has been waiting for your permission for 60 s (Edit: a.py)."),
    ("Read", {"file_path": "a.py"}, "", 600, "A tool has been running for 10 minutes (Read: a.py)."),
    ("Task", {"prompt": "look"}, "", 600, "Background work has given no sign for 10 minutes (Task: look)."),
]


def test_what_a_call_waits_for_and_how_long_it_may_take_depends_on_what_it_does() -> None:
    wrong = []
    for tool, arguments, below, seconds, expected in OPEN_CALLS:
        session = silent()
        session.call(tool, arguments)
        said = notices(session.wait(seconds - 5, text=below)), notices(session.wait(5, text=below))
        wrong += [] if said == ([], [expected]) else [f"{tool} {below}: {said}"]
    assert not wrong, "\n".join(wrong)


ENDINGS = (
    lambda session: session.done("KillShell", {"shell_id": "bash_1"}),
    lambda session: session.done("BashOutput", {"bash_id": "bash_1"}, "<status>completed</status>"),
    lambda session: session.tell(EventKind.OTHER, text="<task-notification>bash_1 completed</task-notification>"),
)


def test_while_background_work_runs_nobody_is_told_that_it_waits_until_it_is_over() -> None:
    for ending in (None, *ENDINGS):
        session = silent()
        session.done(
            "Bash", {"command": "x", "run_in_background": True}, "Command running in background with ID: bash_1"
        )
        if ending is not None:
            ending(session)
        session.turn_over()
        said = notices(session.wait(60)), notices(session.wait(535)), notices(session.wait(5))
        if ending is None:
            assert said == ([], [], ["Background work has given no sign for 10 minutes."])
        else:
            assert said == (["It has been waiting for you for 60 s."], [], [])


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


def test_the_times_can_be_chosen_and_what_a_call_says_cannot_steer_the_terminal() -> None:
    session = Watched(StallDetector(Patience(user=10, cool_down=0)))
    for _ in range(2):
        session.turn_over()
        assert len(notices(session.wait(10))) == 1
    session = silent()
    session.call("Edit\x1b[2J", {"file_path": "\x1b]0;owned\x07a.py"})
    [said] = notices(session.wait(60))
    assert not {"\x1b", "\x07"} & set(said)
