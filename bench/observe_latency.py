"""Watching: how long after an agent has written a dangerous call its reaction is there, with 200 sessions watched.

A process of its own appends to random sessions, as agents would; the time in each line is when it was written.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import psutil

from bench.report import percentile, show
from laneway.observe.changes import Changes
from laneway.observe.discovery import discover, roots
from laneway.observe.watched import Seen
from laneway.observe.watching import Watching, keep_watching
from laneway.reactors.shipped import shipped

SESSIONS = 200
A_SECOND = 40
SECONDS = 8.0
_WRITER = """
import json, random, sys, time
from datetime import datetime, timezone
paths, rate, seconds = json.loads(sys.argv[1]), float(sys.argv[2]), float(sys.argv[3])
chance, began, number = random.Random(6), time.monotonic(), 0
while time.monotonic() - began < seconds:
    path, number = chance.choice(paths), number + 1
    call = {"type": "tool_use", "id": f"new_{number}", "name": "Bash", "input": {"command": f"rm -rf /etc/n{number}"}}
    message = {"role": "assistant", "id": f"new_{number}", "model": "claude-sonnet-4-5", "content": [call],
               "usage": {"input_tokens": 5, "output_tokens": 9}}
    with open(path, "a") as file:
        record = {"type": "assistant", "sessionId": path[-41:-6], "message": message,
                  "timestamp": datetime.now(timezone.utc).isoformat()}
        file.write(json.dumps(record) + "\\n")
    time.sleep(max(0, began + number / rate - time.monotonic()))
print(number)
"""


def measure(seconds: float = SECONDS) -> None:
    """The figures are printed, by the system's word and by looking again and again."""
    for polling in (False, True):
        with tempfile.TemporaryDirectory(prefix="laneway-bench-") as folder:
            paths = list(_sessions(Path(folder)))
            written, waits, memory = asyncio.run(_watched(Path(folder), paths, seconds, polling))
        name = f"watching {SESSIONS} sessions{', polling' if polling else ''}"
        show(f"{name}: calls without a reaction", written - len(waits), "", 0)
        show(f"{name}: append to reaction p50", percentile(waits, 0.5), "s")
        show(f"{name}: append to reaction p95", percentile(waits, 0.95), "s", 1)
        show(f"{name}: append to reaction, longest", max(waits), "s")
        show(f"{name}: memory of the process", memory, "MB")


def _sessions(home: Path) -> Iterator[Path]:
    """Logs of some two hundred lines each, as they are when an agent has worked for a while."""
    for number in range(SESSIONS):
        path = home / ".claude" / "projects" / f"p{number % 20}" / f"{number:08x}-0000-4000-8000-000000000000.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w", encoding="utf-8") as file:
            for turn in range(50):
                file.writelines(json.dumps(record) + "\n" for record in _turn(path.stem, turn))
        yield path


def _turn(session: str, turn: int) -> Iterator[dict[str, object]]:
    frame = {"sessionId": session, "cwd": "/home/someone/project", "timestamp": datetime.now(UTC).isoformat()}
    call = {"type": "tool_use", "id": f"t{turn}", "name": "Bash", "input": {"command": f"make test T={turn}"}}
    answer = {"role": "assistant", "id": f"m{turn}", "model": "claude-sonnet-4-5", "content": [call],
              "usage": {"input_tokens": 9, "output_tokens": 80, "cache_read_input_tokens": 40_000}}  # fmt: skip
    result = {"type": "tool_result", "tool_use_id": f"t{turn}", "content": f"{turn} passed" * 20}
    yield {"type": "user", "message": {"role": "user", "content": f"go on with {turn}"}, **frame}
    yield {"type": "assistant", "message": answer, **frame}
    yield {"type": "progress", "data": {"type": "bash_progress"}, **frame}
    yield {"type": "user", "message": {"role": "user", "content": [result]}, **frame}


async def _watched(home: Path, paths: list[Path], seconds: float, polling: bool) -> tuple[int, list[float], float]:
    environ, waits = {"HOME": str(home)}, list[float]()

    def hear(seen: Seen) -> None:
        if not seen.past and any(said.reactor == "safety" for said in seen.said):
            waits.append((datetime.now(UTC) - seen.event.at).total_seconds())

    async def after() -> None:
        pass

    watching = Watching(partial(discover, environ), lambda _: shipped(), hear)
    watching.begin()
    watching.read(60)
    changes = Changes(lambda: [folder for several in roots(environ).values() for folder in several], polling=polling)
    task = asyncio.create_task(keep_watching(watching, changes, after))
    await asyncio.sleep(1)
    arguments = (json.dumps([str(path) for path in paths]), str(A_SECOND), str(seconds))
    writer = await asyncio.create_subprocess_exec(sys.executable, "-c", _WRITER, *arguments, stdout=subprocess.PIPE)
    out, _ = await writer.communicate()
    await asyncio.sleep(2)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    return int(out), waits, psutil.Process(os.getpid()).memory_info().rss / 1_000_000


if __name__ == "__main__":
    measure()
