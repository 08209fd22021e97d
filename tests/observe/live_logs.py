"""An agent as its log shows it: Claude Code's lines, appended while somebody watches."""

from __future__ import annotations

import itertools
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from laneway.clock import Clock, SystemClock


class Agent:
    """Writes one session below a home folder."""

    _numbers = itertools.count(1)

    def __init__(self, home: Path, *, clock: Clock | None = None, cwd: str = "/home/u/project") -> None:
        self.number = next(self._numbers)
        self.session_id = f"{self.number:08x}-0000-4000-8000-000000000000"
        self.path = home / ".claude" / "projects" / "p" / f"{self.session_id}.jsonl"
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._clock, self._cwd, self._calls = clock or SystemClock(), cwd, itertools.count(1)

    def write(self, **record: Any) -> None:
        told = {"sessionId": self.session_id, "cwd": self._cwd, "timestamp": self._clock.now().isoformat(), **record}
        with self.path.open("ab") as file:
            file.write(json.dumps(told).encode() + b"\n")

    def says(self, text: str) -> None:
        """A person said it to the agent."""
        self.write(type="user", message={"role": "user", "content": text})

    def calls(self, tool: str, **arguments: Any) -> str:
        """The agent calls a tool; returns the call's id."""
        number = next(self._calls)
        call = f"toolu_{self.number}_{number}"
        block = {"type": "tool_use", "id": call, "name": tool, "input": arguments}
        usage = {"input_tokens": 100, "output_tokens": 10}
        message = {"role": "assistant", "id": f"msg_{self.number}_{number}", "model": "claude-sonnet-4-5",
                   "content": [block], "usage": usage, "stop_reason": "tool_use"}  # fmt: skip
        self.write(type="assistant", message=message)
        return call

    def ends(self, call: str, *, failed: bool = False, text: str = "out") -> None:
        """The tool has ended."""
        block = {"type": "tool_result", "tool_use_id": call, "content": text, "is_error": failed}
        self.write(type="user", message={"role": "user", "content": [block]})

    def does(self, command: str) -> None:
        """A command is called and ends well."""
        self.ends(self.calls("Bash", command=command))


NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
