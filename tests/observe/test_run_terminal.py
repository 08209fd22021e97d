"""`laneway run` in a terminal: programs that draw, sizes, keys, job control, and a terminal that is given back."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator

import psutil
import pytest

from tests.observe.runs import Desk, until
from tests.observe.terminals import PROMPT, Terminal

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="it looks into /proc")


@pytest.fixture
def terminal(desk: Desk) -> Iterator[Terminal]:
    with Terminal(desk) as terminal:
        yield terminal


def test_the_agent_has_a_real_terminal_and_is_told_of_its_size_and_of_ctrl_c(desk: Desk, terminal: Terminal) -> None:
    script = f'trap "stty size" WINCH; trap "exit 9" INT; stty size; while :; do sleep 0.05; done # {desk.token}'
    terminal.runs("--", "bash", "-c", script)
    terminal.sees("40 120")
    terminal.resize(20, 60)
    terminal.sees("20 60")
    terminal.types("\x03")
    terminal.sees(PROMPT)
    assert terminal.code() == 9


def test_a_full_screen_program_works_stops_goes_on_and_gives_the_terminal_back(desk: Desk, terminal: Terminal) -> None:
    before = terminal.settings()
    terminal.draws()
    assert terminal.is_raw
    terminal.types("\x03")
    terminal.sees("key b'\\x03'")
    terminal.types("\x1a")
    terminal.sees("Stopped", PROMPT)
    until(lambda: desk.states().count("T") == 2, "we and the agent are stopped")
    terminal.types("fg\n")
    until(lambda: "T" not in desk.states(), "both go on")
    terminal.types("y")
    terminal.sees("key b'y'")
    terminal.types("q")
    terminal.sees("\x1b[?1049l", PROMPT)
    assert terminal.code() == 0
    # The shell has settings of its own while it reads a line, so they are compared while a command runs.
    terminal.types("cat\n")
    until(lambda: terminal.settings()[3] == before[3] or not terminal.is_raw, "the terminal reads lines again")


def test_a_file_stays_a_file_where_only_some_are_the_terminal(desk: Desk, terminal: Terminal) -> None:
    script = f"test -t 0 && test -t 2 && ! test -t 1 && echo inside; read line; echo heard $line # {desk.token}"
    command = f"{sys.executable} -m laneway run -- sh -c '{script}' > out.txt"
    terminal.types(command + "\n")
    until(lambda: (desk.folder / "out.txt").exists() and "inside" in (desk.folder / "out.txt").read_text(), "it runs")
    terminal.types("there\n")
    terminal.sees(PROMPT)
    assert (desk.folder / "out.txt").read_text(encoding="utf-8") == "inside\nheard there\n"


def test_what_a_reactor_says_waits_for_the_end_of_a_program_that_draws(terminal: Terminal) -> None:
    terminal.draws(misbehaves=True)
    assert "laneway: safety" not in terminal.sees("\a")
    terminal.types("q")
    assert "laneway: safety" not in terminal.sees("\x1b[?1049l")
    terminal.sees("laneway: safety: Bash rm -rf /etc /usr", PROMPT)


@pytest.mark.fault
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_the_terminal_is_given_back_even_if_laneway_run_is_ended(
    desk: Desk, terminal: Terminal, number: signal.Signals
) -> None:
    terminal.draws()
    # Its keeper looks the same but for its parent.
    (supervisor,) = psutil.Process(terminal.shell.pid).children()
    supervisor.send_signal(number)
    terminal.sees("Killed" if number == signal.SIGKILL else "\x1b[?1049l", PROMPT)
    until(lambda: desk.alive() == [], "the keeper ends everything")
    assert terminal.code() == 128 + number
    terminal.sees(PROMPT)
    terminal.types("stty -a\n")
    assert " echo " in terminal.sees(PROMPT).replace("\r\n", " ")


def test_a_frozen_agent_is_asked_about_and_goes_on_or_is_killed(desk: Desk, terminal: Terminal) -> None:
    terminal.draws("--kill-on", "danger", "--freeze", misbehaves=True)
    terminal.sees("laneway: Frozen: Bash rm -rf /etc /usr", "[r]esume or [k]ill? ")
    until(lambda: "T" in desk.states(), "it stands still")
    assert not terminal.is_raw
    terminal.types("what?\n")
    terminal.sees("[r]esume or [k]ill? ")
    terminal.types("r\n")
    terminal.sees("\x1b[?1049h")
    until(lambda: "T" not in desk.states(), "it goes on")
    terminal.types("d")
    terminal.sees("[r]esume or [k]ill? ")
    terminal.types("k\n")
    terminal.sees("survivors  none", PROMPT)
    assert terminal.code() == 81
    assert desk.alive() == []
