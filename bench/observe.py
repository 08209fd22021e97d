"""Reading sessions: lines and megabytes a second on one core, beside `json.loads` alone over the same bytes.

`python -m bench.observe --megabytes 40` is a shorter run.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench.report import show

MEGABYTES = 200
_WORDS = (
    "build",
    "the",
    "test",
    "fails",
    "because",
    "naïve",
    "path",
    "→",
    "module",
    "import",
    "value",
    "error",
    "🚀",
    "file",
)
_SCRIPT = """
import json, resource, sys, time
from pathlib import Path
from laneway.observe.reading import Reading
from laneway.observe.sources import pieces
path, wanted = Path(sys.argv[1]), sys.argv[2] == "events"
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
began, events = time.process_time(), 0
reading = Reading(path, wanted=wanted)
for piece in pieces(path):
    reading.feed(piece)
    events += len(reading.take())
reader = reading.finish()
seconds = time.process_time() - began
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps([seconds, reading.lines.lines, peak / 1024, reader.totals().assistant_messages, events]))
"""
_PLAIN = """
import json, sys, time
began = time.process_time()
with open(sys.argv[1], "rb") as file:
    for line in file:
        json.loads(line)
print(json.dumps([time.process_time() - began]))
"""


def corpus(path: Path, megabytes: int, seed: int = 6) -> None:
    """A log of that size lies at the path, in the proportions of real ones: mostly progress, some very long lines."""
    chance, number, written = random.Random(seed), 0, 0
    with path.open("wb") as file:
        while written < megabytes * 1_000_000:
            for record in _turn(chance, number):
                line = json.dumps(record, ensure_ascii=False).encode() + b"\n"
                written += file.write(line)
            number += 1


def _turn(chance: random.Random, number: int) -> Iterator[dict[str, Any]]:
    clock = f"{number // 3600 % 24:02}:{number // 60 % 60:02}:{number % 60:02}.000Z"
    frame = {
        "parentUuid": f"{chance.getrandbits(128):032x}",
        "isSidechain": False,
        "userType": "external",
        "cwd": "/home/someone/project",
        "sessionId": "corpus",
        "version": "2.1.38",
        "gitBranch": "main",
        "timestamp": f"2026-01-{1 + number // 86400 % 28:02}T{clock}",
    }

    def record(kind: str, **fields: Any) -> dict[str, Any]:
        return frame | {"type": kind, "uuid": f"{chance.getrandbits(128):032x}"} | fields

    if number % 5 == 0:
        yield record("user", message={"role": "user", "content": _text(chance, 30)})
    call, length = f"toolu_{number}", 400_000 if number % 400 == 7 else chance.choice((20, 60, 300))
    usage = {"input_tokens": 5, "cache_creation_input_tokens": 800, "cache_read_input_tokens": 40_000 + number}
    blocks = (
        {"type": "thinking", "thinking": _text(chance, 80)},
        {"type": "text", "text": _text(chance, 60)},
        {"type": "tool_use", "id": call, "name": "Bash", "input": {"command": _text(chance, 10)}},
    )
    for grown, block in enumerate(blocks):
        message = {"id": f"msg_{number}", "role": "assistant", "model": "claude-x", "content": [block],
                   "usage": usage | {"output_tokens": 40 * (grown + 1)}}  # fmt: skip
        yield record("assistant", requestId=f"req_{number}", message=message)
    for _ in range(9):
        progress = {"type": "bash_progress", "output": _text(chance, 40), "elapsedTimeSeconds": 2}
        yield record("progress", data=progress, toolUseID=call, parentToolUseID=call)
    done = {"type": "tool_result", "tool_use_id": call, "content": _text(chance, length), "is_error": number % 11 == 0}
    yield record("user", message={"role": "user", "content": [done]}, toolUseResult={"stdout": done["content"]})


def _text(chance: random.Random, words: int) -> str:
    few = [chance.choice(_WORDS) for _ in range(min(words, 60))]
    return " ".join(few * (words // len(few) or 1))


def measure(megabytes: int = MEGABYTES) -> None:
    """What reading costs is printed, beside what parsing alone costs."""
    with tempfile.TemporaryDirectory(prefix="laneway-bench-") as folder:
        path = Path(folder) / "session.jsonl"
        corpus(path, megabytes)
        size = path.stat().st_size / 1_000_000
        runs = [(_run(_PLAIN, path)[0], _run(_SCRIPT, path, "totals"), _run(_SCRIPT, path, "events")) for _ in range(3)]
    plain = min(run[0] for run in runs)
    seconds, lines, peak, *_ = min(run[1] for run in runs)
    told, *_, events = min(run[2] for run in runs)
    show(f"sessions: {size:.0f} MB, json.loads alone", size / plain, "MB/s")
    show("sessions: read and counted", size / seconds, "MB/s")
    show("sessions: read and counted", lines / seconds, "lines/s")
    show("sessions: time beside json.loads alone", seconds / plain, "times", 2.5)
    show("sessions: with every event, redacted", size / told, "MB/s")
    show("sessions: with every event, beside json.loads alone", told / plain, "times")
    show("sessions: events", events / told, "/s")
    show("sessions: most memory while reading", peak, "MB", 150)


def _run(script: str, path: Path, *arguments: str) -> list[float]:
    """The figures of a fresh process, so that the one's memory is not the other's."""
    done = subprocess.run([sys.executable, "-c", script, str(path), *arguments], capture_output=True, check=True)
    figures: list[float] = json.loads(done.stdout)
    return figures


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=MEGABYTES)
    measure(parser.parse_args().megabytes)
