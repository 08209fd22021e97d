"""A program that writes Claude-style logs live and misbehaves on order; only the standard library is needed.

Usage: fake_agent.py TOKEN ORDER… ; the token is in the arguments of everything it starts, so that tests find it.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NoReturn

TOKEN = sys.argv[1]
SLEEPER = (
    "import os, signal, sys, time\n"
    "if 'deaf' in sys.argv: signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
    "for word in sys.argv:\n"
    "    if word.startswith('up:'): os.write(int(word[3:]), b'.')\n"
    "time.sleep(600)"
)
"""Whoever named a pipe to it knows when it sleeps: until then it is not deaf, nor are all there who will be."""


class Log:
    """A session's file, where Claude Code would keep it."""

    def __init__(self, name: str | None = None, parent: str | None = None) -> None:
        self.session = parent or name or str(uuid.uuid4())
        self.name = name or self.session

    def write(self, kind: str, content: Any, **message: Any) -> None:
        cwd = str(Path.cwd())
        folder = "".join(letter if letter.isalnum() else "-" for letter in cwd)
        path = Path(os.environ["CLAUDE_CONFIG_DIR"]) / "projects" / folder / f"{self.name}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        record = {"type": kind, "sessionId": self.session, "cwd": cwd, "timestamp": datetime.now(UTC).isoformat(),
                  "uuid": str(uuid.uuid4()), "version": "2.0.0", "isSidechain": self.name != self.session,
                  "message": {"role": kind, "content": content, **message}}  # fmt: skip
        with path.open("ab") as file:
            file.write(json.dumps(record).encode() + b"\n")

    def answer(self, block: dict[str, Any], output: int = 10) -> None:
        usage = {"input_tokens": 100, "output_tokens": output}
        self.write("assistant", [block], id=f"msg_{uuid.uuid4().hex}", model="claude-sonnet-4-5", usage=usage)

    def call(self, command: str) -> str:
        return self.use("Bash", {"command": command})

    def use(self, tool: str, given: dict[str, str]) -> str:
        name = f"toolu_{uuid.uuid4().hex[:8]}"
        self.answer({"type": "tool_use", "id": name, "name": tool, "input": given})
        return name

    def does(self, command: str, text: str) -> None:
        self.write("user", [{"type": "tool_result", "tool_use_id": self.call(command), "content": text}])


def note(what: str) -> None:
    """The test knows when it happened; an offence is noted first, because its writer may be dead right after it."""
    with Path(os.environ["FAKE_NOTES"]).open("a", encoding="utf-8") as file:
        file.write(f"{what} {time.time():.6f}\n")


def danger(log: Log) -> None:
    note("offended")
    log.call("rm -rf /etc /usr")


def climb(log: Log) -> None:
    note("offended")
    log.use("Read", {"file_path": "../../etc/passwd"})


def loop(log: Log) -> None:
    for turn in range(14):
        if turn == 11:
            note("offended")
        log.does("cat missing.txt", "No such file")
        time.sleep(0.02)


def budget(log: Log) -> None:
    for turn in range(5):
        if turn == 3:
            note("offended")
        log.answer({"type": "text", "text": "thinking"}, output=50_000)


def sleeper(*words: str, **options: Any) -> None:
    subprocess.Popen([sys.executable, "-c", SLEEPER, TOKEN, *words], start_new_session=True, **options)


@contextmanager
def beginning(sleepers: int) -> Iterator[int]:
    """So many sleepers were given this pipe; they sleep when the block is left."""
    reading, writing = os.pipe()
    os.set_inheritable(writing, True)
    yield writing
    while sleepers:
        sleepers -= len(os.read(reading, sleepers))


def double_fork(deaf: str = "") -> None:
    """A daemon: its parent is gone, its session is its own, and its environment and files are empty."""
    with beginning(1) as pipe:
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                os.chdir("/")
                null = os.open(os.devnull, os.O_RDWR)
                for file in (0, 1, 2):
                    os.dup2(null, file)
                os.execve(sys.executable, [sys.executable, "-c", SLEEPER, TOKEN, deaf, f"up:{pipe}"], {})
            os._exit(0)
        os.wait()


def tree() -> None:
    """Children of children, in groups and sessions of their own; one does not listen."""
    with beginning(3) as pipe:
        words = f"{TOKEN} up:{pipe}"
        script = f'{sys.executable} -c "$0" {words} & setsid {sys.executable} -c "$0" {words} deaf & wait'
        subprocess.Popen(["/bin/sh", "-c", script, SLEEPER], pass_fds=[pipe])
        sleeper(f"up:{pipe}", pass_fds=[pipe])


def spawn_for_ever(*_: object) -> NoReturn:
    """Starts a new process all the time, and goes on with that when it is asked to end."""
    signal.signal(signal.SIGTERM, spawn_for_ever)
    while True:
        sleeper("deaf")
        time.sleep(0.1)


def main() -> None:
    log = Log()
    for order in sys.argv[2:]:
        word, _, value = order.partition(":")
        match word:
            case "start":
                log.write("user", "please")
            case "resume":
                log = Log(value)
            case "danger" | "climb" | "loop" | "budget":
                globals()[word](log)
            case "sub_agent":
                # A file of its own has the offence.
                danger(Log(f"{log.session}/subagents/agent-1", parent=log.session))
            case "harmless":
                log.does("ls", "README.md")
            case "open":
                log.call(f"sleep 600 # {value}")
            case "cd":
                Path(value).mkdir(exist_ok=True)
                os.chdir(value)
            case "deaf":
                signal.signal(signal.SIGTERM, signal.SIG_IGN)
                signal.signal(signal.SIGHUP, signal.SIG_IGN)
            case "double_fork":
                double_fork(value)
            case "setsid":
                with beginning(1) as pipe:
                    sleeper(value, f"up:{pipe}", pass_fds=[pipe])
            case "tree":
                tree()
            case "storm":
                spawn_for_ever()
            case "write":
                Path(value).write_text("changed\n", encoding="utf-8")
            case "sleep":
                time.sleep(float(value))
            case "until":
                while not Path(value).exists():
                    time.sleep(0.05)
            case "note":
                note(value)
            case "exit":
                sys.exit(int(value))
            case "die":
                os.kill(os.getpid(), int(value))
            case "wait":
                while True:
                    time.sleep(0.05)
            case _:
                sys.exit(f"no such order: {order}")


if __name__ == "__main__":
    main()
