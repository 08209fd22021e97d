"""`laneway run` in a terminal: programs that draw, sizes, keys, job control, and a terminal that is given back."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator

import psutil
import pytest

from tests.observe.runs import Desk, until
from tests.observe.terminals import CURSES, DRAWING, PROMPT, SIZES, Terminal, python

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="it looks into /proc")
FOR_EVER = "while :; do sleep 0.1; done"
"""As a shell waits: one long sleep would not end where Ctrl-C came just before it was started."""


@pytest.fixture
def terminal(desk: Desk) -> Iterator[Terminal]:
    with Terminal(desk) as terminal:
        yield terminal


def test_the_agent_has_a_real_terminal_of_the_same_size_and_is_told_when_it_changes(
    desk: Desk, terminal: Terminal
) -> None:
    terminal.runs("--", *python(desk, "sizes.py", SIZES))
    terminal.sees("size 40 120")
    terminal.resize(20, 60)
    terminal.sees("size 20 60")
    terminal.resize(50, 200)
    terminal.sees("size 50 200")
    terminal.types("\x03")
    terminal.sees(PROMPT)
    assert terminal.code() in (1, 130)


def test_a_full_screen_program_works_and_the_terminal_is_given_back(desk: Desk, terminal: Terminal) -> None:
    before = terminal.settings()
    terminal.runs("--", *python(desk, "drawing.py", DRAWING))
    terminal.sees("\x1b[?1049h")
    terminal.sees("drawn by a program")
    assert terminal.is_raw
    terminal.types("x")
    terminal.sees("key b'x'")
    terminal.types("\x03")
    terminal.sees("key b'\\x03'")
    terminal.types("q")
    terminal.sees("\x1b[?1049l")
    terminal.sees(PROMPT)
    assert terminal.code() == 0
    # The shell has settings of its own while it reads a line, so they are compared while a command runs.
    terminal.types("sleep 1\n")
    until(lambda: terminal.settings()[3] == before[3] or not terminal.is_raw, "the terminal reads lines again")


def test_a_program_of_curses_is_drawn_anew_when_the_window_changes(desk: Desk, terminal: Terminal) -> None:
    terminal.runs("--", *python(desk, "cursed.py", CURSES))
    terminal.sees("curses 40 x 120")
    terminal.resize(30, 100)
    terminal.sees("30 x 100")
    terminal.types("q")
    terminal.sees(PROMPT)
    assert terminal.code() == 0


def test_ctrl_c_reaches_the_agent(desk: Desk, terminal: Terminal) -> None:
    terminal.runs("--", "bash", "-c", f'trap "echo caught; exit 9" INT; echo on; {FOR_EVER} # {desk.token}')
    terminal.sees("on\r\n")
    terminal.types("\x03")
    terminal.sees("caught")
    terminal.sees(PROMPT)
    assert terminal.code() == 9


@pytest.mark.parametrize("drawing", [True, False])
def test_ctrl_z_stops_both_and_fg_continues_both(desk: Desk, terminal: Terminal, drawing: bool) -> None:
    plain = 'import sys\nprint("drawn by a program")\nfor line in sys.stdin:\n    print("key", line)\n    break'
    terminal.runs("--", *python(desk, "program.py", DRAWING if drawing else plain))
    terminal.sees("drawn by a program")
    terminal.types("\x1a")
    terminal.sees("Stopped")
    terminal.sees(PROMPT)
    until(lambda: desk.states().count("T") == 2, "we and the agent are stopped")
    terminal.types("fg\n")
    until(lambda: "T" not in desk.states(), "both go on")
    terminal.types("y" if drawing else "y\n")
    terminal.sees("key")
    if drawing:
        terminal.types("q")
    terminal.sees(PROMPT)
    assert terminal.code() == 0


def test_a_job_in_the_background_goes_on_and_can_be_fetched_back(desk: Desk, terminal: Terminal) -> None:
    script = (
        f"for i in 1 2 3 4 5 6 7 8 9; do sleep 0.3; echo $i >> count; done; read line; echo got $line # {desk.token}"
    )
    # Not dash: stopped while it starts a program (vfork), it never stands still, whoever looks after it.
    terminal.runs("--", "bash", "-c", script)
    until((desk.folder / "count").exists, "it counts")
    terminal.types("\x1a")
    terminal.sees("Stopped")
    terminal.types("bg\n")
    until(lambda: "9" in (desk.folder / "count").read_text(encoding="utf-8"), "it went on in the background")
    terminal.types("fg\n")
    # The shell reads its own lines raw, too.
    until(lambda: not terminal.is_shells and terminal.is_raw, "the terminal is the agent's again")
    terminal.types("hello\n")
    terminal.sees("got hello")
    terminal.sees(PROMPT)
    assert terminal.code() == 0


def test_a_file_stays_a_file_where_only_some_are_the_terminal(desk: Desk, terminal: Terminal) -> None:
    script = f"test -t 0 && test -t 2 && ! test -t 1 && echo inside; read line; echo heard $line # {desk.token}"
    command = f"{sys.executable} -m laneway run -- sh -c '{script}' > out.txt"
    terminal.types(command + "\n")
    until(lambda: (desk.folder / "out.txt").exists() and "inside" in (desk.folder / "out.txt").read_text(), "it runs")
    terminal.types("there\n")
    terminal.sees(PROMPT)
    assert (desk.folder / "out.txt").read_text(encoding="utf-8") == "inside\nheard there\n"


def test_what_a_reactor_says_waits_for_the_end_of_a_program_that_draws(desk: Desk, terminal: Terminal) -> None:
    terminal.runs("--", *python(desk, "drawing.py", DRAWING), "misbehave", "danger")
    terminal.sees("drawn by a program")
    assert "laneway: safety" not in terminal.sees("\a")
    terminal.types("q")
    assert "laneway: safety" not in terminal.sees("\x1b[?1049l")
    terminal.sees("laneway: safety: Bash rm -rf /etc /usr")
    terminal.sees(PROMPT)


def test_what_a_reactor_says_is_seen_at_once_beside_plain_lines(desk: Desk, terminal: Terminal) -> None:
    terminal.runs("--", "sh", "-c", f"printf begun; claude start danger; read line # {desk.token}")
    terminal.sees("begun\r\nlaneway: safety: Bash rm -rf /etc /usr")
    terminal.types("\n")
    terminal.sees(PROMPT)


def test_a_program_that_draws_is_killed_and_leaves_an_ordinary_terminal(desk: Desk, terminal: Terminal) -> None:
    terminal.runs("--kill-on", "danger", "--", *python(desk, "drawing.py", DRAWING), "misbehave", "danger")
    terminal.sees("drawn by a program")
    terminal.sees("\x1b[?25h")
    terminal.sees("\x1b[?1049l")
    terminal.sees("survivors  none")
    terminal.sees(PROMPT)
    assert terminal.code() == 81
    assert desk.alive() == []


def supervisor(terminal: Terminal) -> int:
    """The number of the `laneway run` that the shell started; its keeper looks the same but for its parent."""
    (child,) = psutil.Process(terminal.shell.pid).children()
    return child.pid


def test_the_terminal_is_given_back_even_if_laneway_run_is_killed(desk: Desk, terminal: Terminal) -> None:
    terminal.runs("--", *python(desk, "drawing.py", DRAWING))
    terminal.sees("drawn by a program")
    terminal.types("!")
    terminal.sees("key b'!'")
    os.kill(supervisor(terminal), signal.SIGKILL)
    terminal.sees("Killed")
    terminal.sees(PROMPT)
    until(lambda: desk.alive() == [], "the keeper ends everything")
    terminal.types("stty -a\n")
    assert " echo " in terminal.sees(PROMPT).replace("\r\n", " ")


def test_the_terminal_is_given_back_when_laneway_run_is_asked_to_end(desk: Desk, terminal: Terminal) -> None:
    terminal.runs("--", *python(desk, "drawing.py", DRAWING))
    terminal.sees("drawn by a program")
    os.kill(supervisor(terminal), signal.SIGTERM)
    terminal.sees("\x1b[?1049l")
    terminal.sees(PROMPT)
    assert terminal.code() == 143
    assert desk.alive() == []


@pytest.mark.parametrize("drawing", [True, False])
def test_a_frozen_agent_is_asked_about_and_goes_on(desk: Desk, terminal: Terminal, drawing: bool) -> None:
    plain = 'import subprocess\nsubprocess.run(["claude", "start", "danger"])\nprint("key", input())'
    terminal.runs("--kill-on", "danger", "--freeze", "--", *python(desk, "p.py", DRAWING if drawing else plain),
                  "misbehave", "danger")  # fmt: skip
    terminal.sees("laneway: Frozen: Bash rm -rf /etc /usr")
    terminal.sees("[r]esume or [k]ill? ")
    until(lambda: "T" in desk.states(), "it stands still")
    assert not terminal.is_raw
    terminal.types("what?\n")
    terminal.sees("[r]esume or [k]ill? ")
    terminal.types("r\n")
    if drawing:
        terminal.sees("\x1b[?1049h")
    until(lambda: "T" not in desk.states(), "it goes on")
    terminal.types("y" if drawing else "y\n")
    terminal.sees("key ")
    if drawing:
        terminal.types("q")
    terminal.sees(PROMPT)
    assert terminal.code() == 0


def test_a_frozen_agent_is_asked_about_and_killed(desk: Desk, terminal: Terminal) -> None:
    terminal.runs("--kill-on", "danger", "--freeze", "--", *python(desk, "drawing.py", DRAWING), "misbehave", "danger")
    terminal.sees("[r]esume or [k]ill? ")
    terminal.types("k\n")
    terminal.sees("survivors  none")
    terminal.sees(PROMPT)
    assert terminal.code() == 81
    assert desk.alive() == []
