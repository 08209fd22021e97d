"""`laneway run`: how long an agent lives on after the line that it is killed for has reached the disk."""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench.report import show
from laneway.observe.supervised.tree import look
from tests.observe.runs import Desk

_RUNS = 3
_CASES = {
    "danger": ("--kill-on", "danger"),
    "loop": ("--kill-on", "loop"),
    "budget": ("--budget-tokens", "200000"),
}


def measure() -> None:
    """The seconds from the offending line to an empty process table, and what the wrapper itself costs, are printed."""
    for order, options in _CASES.items():
        _show(f"killed after {order}", [_killed(options, order) for _ in range(_RUNS)])
    _show("killed, TERM ignored", [_killed(_CASES["danger"], "danger", "deaf") for _ in range(_RUNS)])
    tree = ("deaf", "tree", "double_fork:deaf", "setsid:deaf")
    _show("killed, TERM ignored, daemons", [_killed(_CASES["danger"], "danger", *tree) for _ in range(_RUNS)])
    show("laneway run around a program that does nothing", statistics.median(_around() for _ in range(_RUNS)), "s")


def _show(name: str, seconds: list[float]) -> None:
    show(f"{name}, median", statistics.median(seconds), "s", 2)
    show(f"{name}, slowest of {_RUNS}", max(seconds), "s")


def _killed(options: tuple[str, ...], order: str, *before: str) -> float:
    """Seconds from the offending line to the moment when the last process of the agent was gone."""
    with tempfile.TemporaryDirectory(prefix="laneway-bench-") as folder:
        desk = Desk(Path(folder))
        process = desk.start(*options, "--", "claude", "start", "harmless", *before, "note:ready", "sleep:2", order,
                             "wait", stderr=subprocess.DEVNULL)  # fmt: skip
        desk.noted("ready")
        # The supervisor and its keeper have the token in their arguments, too.
        agents = [int(line.split()[0]) for line in desk.alive() if "laneway run" not in line]
        while any(look(pid) for pid in agents):
            time.sleep(0.005)
        gone = time.time()
        process.wait()
        if left := desk.alive():
            raise RuntimeError(f"There are survivors: {left}")
        return gone - desk.noted("offended")


def _around() -> float:
    began = time.perf_counter()
    subprocess.run([sys.executable, "-m", "laneway", "run", "--", "true"], check=True, stdin=subprocess.DEVNULL)
    return time.perf_counter() - began


if __name__ == "__main__":
    measure()
