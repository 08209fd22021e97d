"""How long an agent waits for its hook: at the resident server, and by the command that asks it."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import httpx

from bench.report import percentile, show
from bench.server import Server, serving

CALLS, PER_SECOND, STARTS = 300, 20, 15
TOOLS: list[tuple[str, dict[str, Any]]] = [
    ("Bash", {"command": "git log --oneline -n {}"}),
    ("Bash", {"command": "cd src && npm test -- --grep 'case {}' 2>&1 | tail -n 40"}),
    ("Bash", {"command": "find . -name '*.py' -newer x{} | xargs grep -l TODO | sort | head"}),
    ("Bash", {"command": "python - <<'E'\nimport os\nprint(sum({} for _ in os.listdir('.')))\nE"}),
    ("Edit", {"file_path": "src/part_{}.py", "old_string": "a" * 400, "new_string": "b" * 400}),
    ("Read", {"file_path": "src/part_{}.py"}),
    ("Write", {"file_path": "src/new_{}.py", "content": "x = 1\n" * 2000}),
    ("mcp__github__list_issues", {"repo": "me/mine", "page": "{}"}),
    ("WebFetch", {"url": "https://example.org/{}", "prompt": "what is it?"}),
    ("Bash", {"command": "rm -rf /tmp/../etc/{}"}),
]


def measure(server: Server) -> None:
    """The waiting times are printed, of calls at the pace of a dozen busy agents."""
    with httpx.Client(base_url=server.url, headers={"X-API-Key": server.key}, timeout=30) as client:
        calls = itertools.islice(_calls(), CALLS + 40)
        asked = [(_asked(client, body), _nothing(client)) for body in calls][40:]
    taken, nothing = [one for one, _ in asked], [other for _, other in asked]
    show("hook: an answer before a tool runs (p50)", percentile(taken, 0.5) * 1000, "ms")
    show("hook: an answer before a tool runs (p95)", percentile(taken, 0.95) * 1000, "ms", 20)
    show("hook: an answer of the same server that says nothing (p50)", percentile(nothing, 0.5) * 1000, "ms")
    show("hook: an answer of the same server that says nothing (p95)", percentile(nothing, 0.95) * 1000, "ms")
    started = [_started(server) for _ in range(STARTS)]
    bare = [_seconds([sys.executable, "-c", "pass"], b"") for _ in range(STARTS)]
    show("hook: the command `laneway hooks call` in all (p50)", percentile(started, 0.5) * 1000, "ms")
    show("hook: an empty Python program beside it (p50)", percentile(bare, 0.5) * 1000, "ms")


def _calls() -> Any:
    for number in itertools.count():
        tool, given = TOOLS[number % len(TOOLS)]
        arguments = {name: value.replace("{}", str(number)) for name, value in given.items()}
        yield {
            "hook_event_name": "PreToolUse", "session_id": f"s{number % 7}", "cwd": "/srv/app", "tool_name": tool,
            "tool_input": arguments, "tool_use_id": f"t{number}",
        }  # fmt: skip


def _asked(client: httpx.Client, body: dict[str, Any]) -> float:
    time.sleep(1 / PER_SECOND)
    began = time.perf_counter()
    client.post("/hooks/claude-code", json=body).raise_for_status()
    return time.perf_counter() - began


def _nothing(client: httpx.Client) -> float:
    began = time.perf_counter()
    client.get("/health").raise_for_status()
    return time.perf_counter() - began


def _started(server: Server) -> float:
    body = json.dumps(next(_calls())).encode()
    return _seconds([sys.executable, "-m", "laneway", "hooks", "call", "claude-code", "--home", str(server.home)], body)


def _seconds(command: list[str], typed: bytes) -> float:
    began = time.perf_counter()
    subprocess.run(command, input=typed, capture_output=True, check=True)
    return time.perf_counter() - began


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="laneway-bench-") as folder, serving(Path(folder) / "home") as server:
        measure(server)
