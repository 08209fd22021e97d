"""`laneway run`: an agent that misbehaves is ended, with all it started, and the exit code says why."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import psutil
import pytest

from tests.observe.runs import Desk, until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="it looks into /proc")


def test_the_exit_code_is_the_agents_own(desk: Desk) -> None:
    ended = desk.run("--", "claude", "start", "harmless", "exit:7", code=7)
    assert ended.err == ""
    assert not (desk.root / "laneway").exists()
    desk.run("--", "claude", "die:11", code=128 + 11)
    assert desk.run("--", "no-such-agent", code=127).err.startswith("laneway: no-such-agent: ")


def test_output_and_input_pass_through_unchanged(desk: Desk) -> None:
    source = desk.root / "input"
    source.write_bytes(bytes(range(256)) * 1000)
    with source.open("rb") as given, (desk.root / "output").open("wb") as taken:
        desk.run("--", "sh", "-c", "cat; echo oops >&2", stdin=given, stdout=taken)
    assert (desk.root / "output").read_bytes() == source.read_bytes()


@pytest.mark.parametrize(
    ("options", "order", "code", "cause"),
    [
        ("--kill-on loop", "loop", 82, "loop"),
        ("--budget-tokens 200000", "budget", 83, "budget"),
        ("--budget-usd 2.50", "budget", 83, "budget"),
        ("--kill-on danger,loop,budget", "sub_agent", 81, "danger"),
        ("--kill-on danger", "climb", 81, "danger"),
    ],
)
def test_an_agent_that_misbehaves_is_killed_soon_and_nothing_is_left_alive(
    desk: Desk, options: str, order: str, code: int, cause: str
) -> None:
    ended = desk.run(*options.split(), "--", "claude", "start", "harmless", order, "wait", code=code)
    # On a busy machine; bench/observe_run.py measures against two seconds.
    assert ended.at - desk.noted("offended") < 30
    report = desk.report()
    assert (report["cause"], report["exit_code"], report["survivors"]) == (cause, code, [])
    assert report["evidence"]["session"]
    assert report["killed"]


@pytest.mark.parametrize("orders", ["setsid double_fork", "tree deaf double_fork:deaf"])
def test_whatever_it_did_to_get_away_nothing_is_left_in_proc(desk: Desk, orders: str) -> None:
    words = ("start", *orders.split(), "danger", "wait")
    desk.run("--kill-on", "danger", "--grace", "0.3", "--", "claude", *words, code=81)
    assert desk.report()["survivors"] == []


@pytest.mark.fault
def test_an_agent_that_starts_processes_for_ever_is_ended_with_all_of_them(desk: Desk) -> None:
    desk.run("--kill-on", "danger", "--grace", "0.3", "--", "claude", "start", "danger", "storm", code=81)


def test_daemons_are_ended_though_the_agent_itself_is_gone_first(desk: Desk) -> None:
    orders = ("start", "double_fork:deaf", "setsid:deaf", "exit:3")
    ended = desk.run("--grace", "0.3", "--", "claude", *orders, code=3)
    assert ended.err.startswith("laneway: It left processes behind, which were ended: ")


def test_what_an_agent_left_running_may_be_kept(desk: Desk) -> None:
    process = desk.start("--keep-background", "--", "claude", "double_fork", "exit:0")
    assert process.wait(60) == 0
    assert len(desk.alive()) == 1, "it sleeps already, so that nobody looks while it becomes another program"


def test_time_is_limited_though_no_log_is_ever_found(desk: Desk) -> None:
    ended = desk.run("--max-minutes", "0.002", "--", "sh", "-c", f"sleep 600 # {desk.token}", code=84)
    assert "It ran for 0.002 minutes, which is its limit." in ended.err
    assert desk.report()["logs"] == []


def test_what_is_not_armed_only_speaks(desk: Desk) -> None:
    words = ("start", "loop", "danger", "budget")
    ended = desk.run("--budget-tokens", "1000", "--kill-on", "none", "--", "claude", *words)
    for said in ("laneway: safety: ", "laneway: loop: ", "laneway: tokens: The budget is used up"):
        assert said in ended.err


@pytest.mark.fault
@pytest.mark.parametrize(
    ("whom", "number", "code"),
    [("run", signal.SIGTERM, 143), ("run", signal.SIGKILL, -9), ("keeper", signal.SIGKILL, 137)],
)
def test_the_tree_goes_down_with_whatever_part_of_laneway_run_is_ended(
    desk: Desk, whom: str, number: signal.Signals, code: int
) -> None:
    orders = ("start", "tree", "double_fork:deaf", "deaf", "note:ready", "wait")
    process = desk.start("--grace", "0.3", "--", "claude", *orders)
    desk.noted("ready")
    (keeper,) = psutil.Process(process.pid).children()
    os.kill(process.pid if whom == "run" else keeper.pid, number)
    assert process.wait(60) == code
    until(lambda: desk.alive() == [], "everything is ended")


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
    script = f"read line; kill -HUP $$; echo alive # {desk.token}"
    ignoring = lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)  # noqa: E731
    process = desk.start("--", "sh", "-c", script, stdin=subprocess.PIPE, preexec_fn=ignoring)
    process.send_signal(signal.SIGHUP)
    assert process.communicate("go on\n", timeout=60)[0] == "alive\n"


FREEZING = ("--kill-on", "danger", "--freeze", "--freeze-wait")


def test_a_frozen_agent_ends_where_nobody_can_be_asked(desk: Desk) -> None:
    ended = desk.run(
        *FREEZING, "0.1", "--", "claude", "start", "tree", "danger", "wait", code=81, start_new_session=True
    )
    assert "kill -CONT" in ended.err


def test_a_frozen_agent_goes_on_when_laneway_run_is_told_to(desk: Desk) -> None:
    orders = ("start", "tree", "danger", "until:go", "note:went-on", "exit:4")
    process = desk.start(*FREEZING, "60", "--grace", "0.3", "--", "claude", *orders, start_new_session=True)
    errors = process.stderr
    assert errors is not None
    until(lambda: "kill -CONT" in errors.readline(), "it says how it goes on")
    until(lambda: set(desk.states()) == {"T"}, "the agent and all it started stand still")
    (desk.folder / "go").touch()
    process.send_signal(signal.SIGCONT)
    desk.noted("went-on")
    assert process.wait(60) == 4
    assert desk.alive() == []


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
