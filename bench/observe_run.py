"""`laneway run`: how long an agent lives on after the line that it is killed for has reached the disk."""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench.report import show
from tests.observe.runs import Desk

_RUNS = 5
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
    with tempfile.TemporaryDirectory(prefix="laneway-bench-") as folder:
        desk = Desk(Path(folder))
        # Its supervisor carries the token in its arguments, too, and goes on to write the report.
        process = desk.start(*options, "--", "claude", "start", "harmless", *before, order, "wait",
                             stderr=subprocess.DEVNULL)  # fmt: skip
        offended = desk.noted("offended")
        while any(f"{process.pid} " not in line and "laneway run" not in line for line in desk.alive()):
            time.sleep(0.01)
        took = time.time() - offended
        process.wait()
        return took


def _around() -> float:
    began = time.perf_counter()
    subprocess.run([sys.executable, "-m", "laneway", "run", "--", "true"], check=True, stdin=subprocess.DEVNULL)
    return time.perf_counter() - began


if __name__ == "__main__":
    measure()
