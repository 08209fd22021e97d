"""Processes that want to outlive their command, each on every boundary; none is alive soon after."""

# ruff: noqa: ASYNC220  nobody else waits for this loop

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from uuid import uuid4

import pytest

from laneway.sandbox.contract import Boundary, Killed
from tests.sandboxing import SMALL, alive_with, limited, none_alive_with, python, tried, until_alive


def stubborn(marker: str) -> str:
    """Children that ignore TERM, go to a session of their own, become daemons; each with this marker."""
    return f"""
        (trap '' TERM HUP INT; exec {marker}1) &
        (setsid setsid bash -c "trap '' TERM; {marker}2; true" &) &
        nohup {marker}3 >/dev/null 2>&1 &
    """ + python(f"""
        import os, signal
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                for number in (signal.SIGTERM, signal.SIGHUP): signal.signal(number, signal.SIG_IGN)
                null = os.open("/dev/null", os.O_RDWR)
                for fd in (0, 1, 2): os.dup2(null, fd)
                os.execlp(*{marker.split()[:1]!r}, *{[*marker.split()[:-1], marker.split()[-1] + "4"]!r})
            os._exit(0)
    """)


@pytest.fixture
def marker() -> str:
    return f"sleep 8{uuid4().int % 10**8}"


async def test_nothing_outlives_its_command(boundary: Boundary, workspace: Path, marker: str) -> None:
    ran = await tried(boundary, workspace, f"{stubborn(marker)} sleep 0.3; echo done")
    assert (ran.exit_code, ran.stdout) == (0, "done\n")
    assert await none_alive_with(marker)


async def test_nothing_outlives_its_time(boundary: Boundary, workspace: Path, marker: str) -> None:
    ran = await tried(boundary, workspace, f"{stubborn(marker)} wait; {marker}5", limited(seconds=1.5))
    assert ran.killed_because is Killed.TIMEOUT
    assert await none_alive_with(marker)


@pytest.mark.fault
async def test_nothing_outlives_being_stopped(boundary: Boundary, workspace: Path, marker: str) -> None:
    stops: list[Callable[[], None]] = []

    def on_stop(end: Callable[[], None]) -> Callable[[], None]:
        stops.append(end)
        return lambda: stops.remove(end)

    running = asyncio.create_task(
        boundary.run(f"{stubborn(marker)} {marker}5", workspace=workspace, limits=SMALL, on_stop=on_stop)
    )
    await until_alive(marker, 5)
    began = time.monotonic()
    stops[0]()
    ran = await running
    assert ran.killed_because is Killed.STOPPED
    assert time.monotonic() - began < 2
    assert await none_alive_with(marker, 2 - (time.monotonic() - began))
    assert stops == []


async def test_nothing_outlives_a_cancelled_job(boundary: Boundary, workspace: Path, marker: str) -> None:
    running = asyncio.create_task(tried(boundary, workspace, f"{stubborn(marker)} {marker}5"))
    await until_alive(marker, 5)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert await none_alive_with(marker)


async def test_nothing_outlives_a_killed_server(boundary: Boundary, workspace: Path, marker: str) -> None:
    program = (
        "import asyncio, os, sys; from pathlib import Path; from tests.sandboxing import boundary_called, SMALL\n"
        "async def main():\n"
        f"    b = await boundary_called({boundary.name!r})\n"
        "    await b.run(os.environ['COMMAND'], workspace=Path(sys.argv[1]), limits=SMALL)\n"
        "asyncio.run(main())"
    )
    command = f"{stubborn(marker)} {marker}5"
    server = subprocess.Popen(
        [sys.executable, "-c", program, str(workspace)], cwd=Path(__file__).parents[2],
        env={"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join([".", *sys.path]), "COMMAND": command},
    )  # fmt: skip
    try:
        await until_alive(marker, 5)
    finally:
        server.kill()
        server.wait()
    assert await none_alive_with(marker), alive_with(marker)
