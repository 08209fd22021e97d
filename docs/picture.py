"""Draws docs/images/watch.svg: what `laneway watch` shows of two agents at work, by the code that shows it.

`python docs/picture.py` prints the picture; with `--write` the file holds it. tests/test_docs.py fails when they
differ. The sessions are made up; their logs, the reading, the reactors and the lines are the real ones.
"""

from __future__ import annotations

import io
import itertools
import json
import re
import sys
import tempfile
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.text import Text

from laneway.cli.watch_lines import Lines
from laneway.clock import FakeClock
from laneway.observe.discovery import discover
from laneway.observe.watching import Watching
from laneway.reactors.options import Options
from laneway.reactors.shipped import shipped

PICTURE = Path(__file__).parent / "images" / "watch.svg"
WIDTH = 104
_SHOP, _API = "5c1e7a90-3f0b-4d1e-9a57-2f6f0c7b1d44", "b83d02f1-66a1-4c0e-8e0b-90d1f2a7c3e5"
_FRAME = re.sub(r"@font-face \{\{.*?\}\}", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL).replace(
    "Fira Code, monospace", "ui-monospace, SFMono-Regular, Menlo, Consolas, monospace"
)
"""Rich's own frame without the fonts from elsewhere that it asks for."""


class _Session:
    """A made-up session of Claude Code, written line by line."""

    def __init__(self, home: Path, session_id: str, cwd: str, clock: FakeClock) -> None:
        self.path = home / ".claude" / "projects" / cwd.replace("/", "-") / f"{session_id}.jsonl"
        self.path.parent.mkdir(parents=True)
        self._frame = {"sessionId": session_id, "cwd": cwd}
        self._clock, self._numbers = clock, itertools.count(1)

    def _write(self, kind: str, message: dict[str, Any]) -> None:
        self._clock.advance(3)
        record = {"type": kind, "timestamp": self._clock.now().isoformat(), "message": message, **self._frame}
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")

    def asked(self, text: str) -> None:
        self._write("user", {"role": "user", "content": text})

    def said(self, text: str) -> None:
        self._answer({"type": "text", "text": text})

    def did(self, tool: str, failed: str = "", **arguments: Any) -> None:
        call = f"toolu_{next(self._numbers)}"
        self._answer({"type": "tool_use", "id": call, "name": tool, "input": arguments})
        done = {"type": "tool_result", "tool_use_id": call, "content": failed or "ok", "is_error": bool(failed)}
        self._write("user", {"role": "user", "content": [done]})

    def _answer(self, block: dict[str, Any]) -> None:
        usage = {"input_tokens": 40, "output_tokens": 900, "cache_read_input_tokens": 18_000}
        message = {"role": "assistant", "id": f"msg_{next(self._numbers)}", "model": "claude-sonnet-4-5",
                   "content": [block], "usage": usage}  # fmt: skip
        self._write("assistant", message)


def lines() -> list[str]:
    """What `laneway watch` prints, with its colours."""
    told: list[str] = []
    clock = FakeClock(datetime(2026, 1, 1, 9, 41, tzinfo=UTC))
    with tempfile.TemporaryDirectory(prefix="laneway-picture-") as folder:
        home = Path(folder)
        screen = Lines(told.append, colour=True, width=WIDTH, side=False)
        make = screen.reactors(lambda _: shipped(Options(budget_tokens=400_000)))
        watching = Watching(partial(discover, {"HOME": folder}), make, screen.hear, clock=clock)
        watching.begin()
        for _ in _story(_Session(home, _SHOP, "/home/ada/shop", clock), _Session(home, _API, "/home/ada/api", clock)):
            watching.rescan()
            watching.read(60)
    return told


def _story(shop: _Session, api: _Session) -> Any:
    """Yields whenever somebody should look."""
    shop.asked("The checkout test fails since yesterday. Find out why and mend it.")
    shop.did("Read", file_path="/home/ada/shop/checkout.py")
    yield
    api.asked("Move the old releases out of the way.")
    yield
    shop.did("Bash", failed="E   assert 19.99 == 20.00", command="pytest -q tests/test_checkout.py")
    shop.did("Edit", file_path="/home/ada/shop/checkout.py", old_string="round(x)", new_string="round(x, 2)")
    yield
    api.said("I will remove what no release needs any more.")
    api.did("Bash", failed="permission denied", command="rm -rf ../../../etc/nginx")
    yield
    for _ in range(8):
        shop.did("Bash", command="pytest -q tests/test_checkout.py")
    yield
    shop.said("All tests pass now.")
    yield


def drawn() -> str:
    """The picture as SVG."""
    console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True, color_system="truecolor")
    console.print(Text("$ laneway watch", style="bold"))
    for line in lines():
        console.print(Text.from_ansi(line), soft_wrap=False)
    return console.export_svg(title="laneway watch", code_format=_FRAME, unique_id="watch")


if __name__ == "__main__":
    if "--write" in sys.argv:
        PICTURE.parent.mkdir(exist_ok=True)
        PICTURE.write_text(drawn(), encoding="utf-8")
    else:
        sys.stdout.write(drawn())
