"""`laneway run`: an agent that misbehaves is ended, with all it started, and the exit code says why."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.observe.runs import Desk, until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="it looks into /proc")
SLACK = 30.0
"""Seconds, for a busy machine; bench/observe_run.py measures against two."""


def test_the_exit_code_is_the_agents_own(desk: Desk) -> None:
    ended = desk.run("--", "claude", "start", "harmless", "done", "exit:7", code=7)
    assert ended.err == ""
    assert not (desk.root / "laneway").exists()


def test_an_agent_that_a_signal_ended_gives_128_and_the_signal(desk: Desk) -> None:
    desk.run("--", "claude", "die:11", code=128 + 11)


@pytest.mark.parametrize(("command", "code"), [("no-such-agent", 127), ("/etc/hostname", 126)])
def test_what_cannot_be_started_is_named_as_shells_do(desk: Desk, command: str, code: int) -> None:
    ended = desk.run("--", command, code=code)
    assert ended.err.startswith(f"laneway: {command}: ")


def test_output_and_input_pass_through_unchanged(desk: Desk) -> None:
    source = desk.root / "input"
    source.write_bytes(bytes(range(256)) * 1000)
    with source.open("rb") as given, (desk.root / "output").open("wb") as taken:
        desk.run("--", "sh", "-c", "cat; echo oops >&2", stdin=given, stdout=taken)
    assert (desk.root / "output").read_bytes() == source.read_bytes()


@pytest.mark.parametrize(
    ("options", "order", "code", "cause"),
    [
        (("--kill-on", "danger"), "danger", 81, "danger"),
        (("--kill-on", "loop"), "loop", 82, "loop"),
        (("--budget-tokens", "200000"), "budget", 83, "budget"),
        (("--budget-usd", "2.50"), "budget", 83, "budget"),
        (("--kill-on", "danger,loop,budget"), "sub_agent", 81, "danger"),
    ],
)
def test_an_agent_that_misbehaves_is_killed_soon_and_nothing_is_left_alive(
    desk: Desk, options: tuple[str, ...], order: str, code: int, cause: str
) -> None:
    ended = desk.run(*options, "--", "claude", "start", "harmless", order, "wait", code=code)
    assert ended.at - desk.noted("offended") < SLACK
    report = desk.report()
    assert (report["cause"], report["exit_code"], report["survivors"]) == (cause, code, [])
    assert report["evidence"]["session"]
    assert report["killed"]


@pytest.mark.parametrize(
    "orders",
    [
        ("deaf",),
        ("double_fork",),
        ("double_fork:deaf",),
        ("setsid", "setsid:deaf"),
        ("tree", "deaf", "double_fork:deaf"),
    ],
    ids=" ".join,
)
def test_whatever_it_did_to_get_away_nothing_is_left_in_proc(desk: Desk, orders: tuple[str, ...]) -> None:
    ended = desk.run("--kill-on", "danger", "--", "claude", "start", *orders, "danger", "wait", code=81)
    assert ended.at - desk.noted("offended") < SLACK
    assert desk.report()["survivors"] == []


def test_an_agent_that_starts_processes_for_ever_is_ended_with_all_of_them(desk: Desk) -> None:
    desk.run("--kill-on", "danger", "--grace", "0.5", "--", "claude", "start", "danger", "storm", code=81)


def test_daemons_are_ended_though_the_agent_itself_is_gone_first(desk: Desk) -> None:
    ended = desk.run("--", "claude", "start", "double_fork:deaf", "setsid:deaf", "done", "exit:3", code=3)
    assert ended.err.startswith("laneway: It left processes behind, which were ended: ")


def test_what_an_agent_left_running_may_be_kept(desk: Desk) -> None:
    process = desk.start("--keep-background", "--", "claude", "double_fork", "exit:0")
    assert process.wait(60) == 0
    assert len(desk.alive()) == 1, "it sleeps already, so that nobody looks while it becomes another program"


def test_time_is_limited_though_no_log_is_ever_found(desk: Desk) -> None:
    ended = desk.run("--max-minutes", "0.02", "--", "sh", "-c", f"sleep 600 # {desk.token}", code=84)
    assert "It ran for 0.02 minutes, which is its limit." in ended.err
    assert desk.report()["logs"] == []


def test_a_silent_agent_is_ended_when_its_time_is_over(desk: Desk) -> None:
    # Six seconds: it must have begun by then, and a busy machine starts two programs in more than one.
    desk.run("--max-minutes", "0.1", "--", "claude", "start", "open:stall", "wait", code=84)
    assert [call["tool"] for call in desk.report()["open_calls"]] == ["Bash"]


def test_what_is_not_armed_only_speaks(desk: Desk) -> None:
    ended = desk.run("--", "claude", "start", "loop", "danger", "exit:0")
    assert "laneway: safety: " in ended.err
    assert "laneway: loop: " in ended.err


def test_a_budget_that_is_not_armed_only_speaks(desk: Desk) -> None:
    ended = desk.run("--kill-on", "danger", "--budget-tokens", "1000", "--", "claude", "start", "budget")
    assert "laneway: tokens: The budget is used up" in ended.err


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_the_tree_goes_down_with_laneway_run(desk: Desk, number: signal.Signals) -> None:
    process = desk.start("--", "claude", "start", "tree", "double_fork:deaf", "deaf", "note:ready", "wait")
    desk.noted("ready")
    process.send_signal(number)
    assert process.wait(60) == 128 + number
    assert desk.alive() == []


def test_the_tree_goes_down_even_if_laneway_run_is_killed(desk: Desk) -> None:
    process = desk.start("--", "claude", "start", "tree", "double_fork:deaf", "deaf", "note:ready", "wait")
    desk.noted("ready")
    process.kill()
    process.wait(60)
    until(lambda: desk.alive() == [], "the keeper ends everything")


def test_the_tree_goes_down_if_the_keeper_is_killed(desk: Desk) -> None:
    process = desk.start("--", "claude", "start", "tree", "double_fork:deaf", "deaf", "note:ready", "wait")
    desk.noted("ready")
    (keeper,) = children(process.pid)
    os.kill(keeper, signal.SIGKILL)
    assert process.wait(60) == 128 + signal.SIGKILL
    assert desk.alive() == []


def test_an_interrupt_reaches_the_agent_and_not_us(desk: Desk) -> None:
    script = f'trap "echo got it; exit 5" INT; echo ready; while :; do sleep 0.1; done # {desk.token}'
    # A test that was started in the background ignores interrupts, and so would everything it starts.
    listening = lambda: signal.signal(signal.SIGINT, signal.default_int_handler)  # noqa: E731
    process = desk.start("--", "bash", "-c", script, start_new_session=True, preexec_fn=listening)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    os.killpg(process.pid, signal.SIGINT)
    assert process.wait(60) == 5
    assert process.stdout.read() == "got it\n"


def test_a_signal_that_was_ignored_before_us_stays_ignored(desk: Desk) -> None:
    script = f"sleep 1; kill -HUP $$; echo alive # {desk.token}"
    process = desk.start("--", "sh", "-c", script, preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    process.send_signal(signal.SIGHUP)
    assert process.communicate(timeout=60)[0] == "alive\n"


def test_a_frozen_agent_ends_where_nobody_can_be_asked(desk: Desk) -> None:
    process = desk.start("--kill-on", "danger", "--freeze", "--freeze-wait", "5", "--", "claude", "start", "tree",
                         "danger", "wait", start_new_session=True)  # fmt: skip
    until(lambda: desk.states().count("T") >= 5, "the agent and all it started stand still")
    assert process.wait(60) == 81
    assert desk.alive() == []


def test_a_frozen_agent_goes_on_when_laneway_run_is_told_to(desk: Desk) -> None:
    process = desk.start("--kill-on", "danger", "--freeze", "--freeze-wait", "60", "--", "claude", "start", "tree",
                         "danger", "until:go", "note:went-on", "exit:4", start_new_session=True)  # fmt: skip
    asked_to_answer(process)
    until(lambda: set(desk.states()) == {"T"}, "the agent and all it started stand still")
    (desk.folder / "go").touch()
    process.send_signal(signal.SIGCONT)
    desk.noted("went-on")
    assert process.wait(60) == 4
    assert desk.alive() == []


def test_a_frozen_agent_ends_at_once_when_laneway_run_is_told_to(desk: Desk) -> None:
    process = desk.start("--kill-on", "danger", "--freeze", "--freeze-wait", "600", "--", "claude", "start", "tree",
                         "danger", "wait", start_new_session=True)  # fmt: skip
    asked_to_answer(process)
    process.send_signal(signal.SIGTERM)
    assert process.wait(60) == 81
    assert desk.alive() == []


def asked_to_answer(process: subprocess.Popen[str]) -> None:
    """It has said how it can be answered; whoever answers that at once is heard."""
    assert process.stderr is not None
    until(lambda: "kill -CONT" in process.stderr.readline(), "it says how it goes on")


def test_an_agent_that_cannot_be_watched_any_more_is_ended(desk: Desk) -> None:
    script = (
        "import os, sys; from pathlib import Path\n"
        "from laneway.observe.supervised.armed import Armed\n"
        "from laneway.observe.supervised.order import Order\n"
        "from laneway.observe.supervised.run import supervise\n"
        "order = Order(sys.argv[1:], Path.cwd(), dict(os.environ), 'run')\n"
        "sys.exit(supervise(order, Armed(lambda _: [][0], [])).exit_code)\n"
    )
    command = [sys.executable, "-c", script, "claude", "start", "tree", "wait"]
    ended = subprocess.run(command, cwd=desk.folder, env=desk.environ, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE,
                           timeout=60, check=False)  # fmt: skip
    assert ended.returncode == 86, ended.stderr
    assert desk.alive() == []


def children(pid: int) -> list[int]:
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        except OSError:
            continue
        if fields[0] != "Z" and int(fields[1]) == pid:
            found.append(int(stat.parent.name))
    return found
