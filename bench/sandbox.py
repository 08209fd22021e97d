"""What a command costs behind each boundary, beside a bare `bash -c`: `python -m bench.sandbox`."""

from __future__ import annotations

import asyncio
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

from bench.report import show
from laneway.sandbox.boundary import Wanted, choose
from laneway.sandbox.confined import OnHost
from laneway.sandbox.contract import Boundary, Limits

ROUNDS = 15
NAMES: tuple[Wanted, ...] = ("bubblewrap", "sandlock", "landlock")


async def measure() -> None:
    """The figures are printed; all kinds take turns, so that the machine treats them alike."""
    kinds: dict[str, Boundary] = {}
    for wanted in NAMES:
        began = time.perf_counter()
        choice = await choose(wanted)
        if choice.boundary.off is None:
            kinds[wanted] = choice.boundary
            show(f"{wanted}: tried out at the start", (time.perf_counter() - began) * 1000, "ms")
    kinds["host"] = OnHost()
    taken: dict[str, list[float]] = {"bash": [], **{name: [] for name in kinds}}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(ROUNDS):
            taken["bash"].append(await asyncio.to_thread(_bare))
            for name, boundary in kinds.items():
                taken[name].append((await boundary.run("true", workspace=Path(folder), limits=Limits())).seconds)
    for name, seconds in taken.items():
        label = "bash without anything around it" if name == "bash" else f"bash: `true` behind {name}"
        show(f"{label} (median)", statistics.median(seconds) * 1000, "ms")
        show(f"{label} (fastest)", min(seconds) * 1000, "ms")


def _bare() -> float:
    began = time.perf_counter()
    subprocess.run(["bash", "--norc", "-c", "true"], check=True)
    return time.perf_counter() - began


if __name__ == "__main__":
    asyncio.run(measure())
