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
        self._calls = 0

    def write(self, kind: str, message: dict[str, Any], **fields: Any) -> None:
        cwd = str(Path.cwd())
        folder = "".join(letter if letter.isalnum() else "-" for letter in cwd)
        path = Path(os.environ["CLAUDE_CONFIG_DIR"]) / "projects" / folder / f"{self.name}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        at = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        record = {"type": kind, "sessionId": self.session, "cwd": cwd, "timestamp": at, "uuid": str(uuid.uuid4()),
                  "version": "2.0.0", "message": message, **fields}  # fmt: skip
        with path.open("ab") as file:
            file.write(json.dumps(record).encode() + b"\n")

    def prompt(self, text: str) -> None:
        self.write("user", {"role": "user", "content": text})

    def answer(self, *blocks: dict[str, Any], output: int = 10, **fields: Any) -> None:
        usage = {"input_tokens": 100, "output_tokens": output}
        self.write("assistant", {"role": "assistant", "id": f"msg_{uuid.uuid4().hex}", "model": "claude-sonnet-4-5",
                                 "content": list(blocks), "usage": usage}, **fields)  # fmt: skip

    def call(self, tool: str, arguments: dict[str, Any], **fields: Any) -> str:
        self._calls += 1
        name = f"toolu_{self._calls}_{uuid.uuid4().hex[:8]}"
        self.answer({"type": "tool_use", "id": name, "name": tool, "input": arguments}, **fields)
        return name

    def result(self, call: str, text: str) -> None:
        block = {"type": "tool_result", "tool_use_id": call, "content": text}
        self.write("user", {"role": "user", "content": [block]})


def note(what: str) -> None:
    """The test knows when it happened; an offence is noted first, because its writer may be dead right after it."""
    path = Path(os.environ["FAKE_NOTES"])
    with path.open("a", encoding="utf-8") as file:
        file.write(f"{what} {time.time():.6f}\n")


def danger(log: Log) -> None:
    note("offended")
    log.call("Bash", {"command": "rm -rf /etc /usr"})


def harmless(log: Log) -> None:
    log.result(log.call("Bash", {"command": "ls"}), "README.md")


def loop(log: Log) -> None:
    for turn in range(14):
        if turn == 11:
            note("offended")
        log.result(log.call("Bash", {"command": "cat missing.txt"}), "No such file")
        time.sleep(0.02)


def budget(log: Log) -> None:
    for turn in range(5):
        if turn == 3:
            note("offended")
        log.answer({"type": "text", "text": "thinking"}, output=50_000)


def sub_agent(log: Log) -> None:
    """A sub-agent's file of its own has the offence."""
    below = Log(f"{log.session}/subagents/agent-1", parent=log.session)
    note("offended")
    below.call("Bash", {"command": "rm -rf /etc /usr"}, isSidechain=True, agentId="1")


def sleeper(*words: str, **options: Any) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", SLEEPER, TOKEN, *words], **options)


def wait_for(reading: int, sleepers: int) -> None:
    """So many sleepers sleep."""
    while sleepers:
        sleepers -= len(os.read(reading, sleepers))


def double_fork(deaf: str = "") -> None:
    """A daemon: its parent is gone, its session is its own, and its environment and files are empty."""
    reading, writing = os.pipe()
    os.set_inheritable(writing, True)
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.chdir("/")
            null = os.open(os.devnull, os.O_RDWR)
            for file in (0, 1, 2):
                os.dup2(null, file)
            os.execve(sys.executable, [sys.executable, "-c", SLEEPER, TOKEN, deaf, f"up:{writing}"], {})
        os._exit(0)
    os.wait()
    wait_for(reading, 1)


def tree() -> None:
    """Children of children, in groups and sessions of their own; one does not listen."""
    reading, writing = os.pipe()
    words = f"{TOKEN} up:{writing}"
    script = f'{sys.executable} -c "$0" {words} & setsid {sys.executable} -c "$0" {words} deaf & wait'
    subprocess.Popen(["/bin/sh", "-c", script, SLEEPER], pass_fds=[writing])
    sleeper(f"up:{writing}", start_new_session=True, pass_fds=[writing])
    wait_for(reading, 3)


def spawn_for_ever() -> NoReturn:
    """Starts a new process whenever it is asked to end, and all the time besides."""
    signal.signal(signal.SIGTERM, lambda *_: [sleeper("deaf", start_new_session=True) for _ in range(3)])
    while True:
        sleeper("deaf", start_new_session=True)
        time.sleep(0.1)


def main() -> None:
    log = Log()
    for order in sys.argv[2:]:
        word, _, value = order.partition(":")
        match word:
            case "start":
                log.prompt("please")
            case "resume":
                log = Log(value)
            case "danger" | "loop" | "budget" | "harmless" | "sub_agent":
                globals()[word](log)
            case "open":
                log.call("Bash", {"command": f"sleep 600 # {value}"})
            case "done":
                log.answer({"type": "text", "text": "done"})
            case "cd":
                Path(value).mkdir(exist_ok=True)
                os.chdir(value)
            case "deaf":
                signal.signal(signal.SIGTERM, signal.SIG_IGN)
                signal.signal(signal.SIGHUP, signal.SIG_IGN)
            case "double_fork":
                double_fork(value)
            case "setsid":
                reading, writing = os.pipe()
                sleeper(value, f"up:{writing}", start_new_session=True, pass_fds=[writing])
                wait_for(reading, 1)
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
