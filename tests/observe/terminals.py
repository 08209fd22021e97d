"""A terminal with a shell in it, driven as a person would: keys in, a screen out, a window that changes its size."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import select
import shlex
import struct
import subprocess
import sys
import termios
import time
from types import TracebackType
from typing import Any, Self

from tests.observe.runs import COMMAND, PATIENCE, Desk

PROMPT = "READY> "
DRAWING = """
import os, signal, subprocess, sys, termios, tty
misbehave = lambda: subprocess.run(["claude", "start", sys.argv[-1]])
before = termios.tcgetattr(0)
tty.setraw(0)
os.write(1, b"\\x1b[?1049h\\x1b[?25l\\x1b[2J\\x1b[Hdrawn by a program")
if "misbehave" in sys.argv:
    misbehave()
while True:
    key = os.read(0, 1)
    if key == b"q":
        break
    if key == b"d":
        misbehave()
    if key == b"\\x1a":
        os.kill(os.getpid(), signal.SIGTSTP)
        os.write(1, b"\\x1b[Hback again")
    os.write(1, b"\\x1b[2;1Hkey " + repr(key).encode())
os.write(1, b"\\x1b[?25h\\x1b[?1049l")
termios.tcsetattr(0, termios.TCSADRAIN, before)
"""
"""A full-screen program: the alternate screen, no cursor, single keys; q ends it."""


class Terminal:
    """An interactive bash in a terminal of 40 rows and 120 columns."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self.master, self.slave = pty.openpty()
        self.screen = ""
        self.resize(40, 120)

    def __enter__(self) -> Self:
        environ = self._desk.environ | {"PS1": PROMPT, "TERM": "xterm", "HISTFILE": "/dev/null"}
        for name in ("LINES", "COLUMNS"):
            # Where they are set, curses believes them instead of the terminal.
            environ.pop(name, None)
        self.shell = subprocess.Popen(
            ["bash", "--norc", "--noprofile", "-i"],
            stdin=self.slave, stdout=self.slave, stderr=self.slave, cwd=self._desk.folder, env=environ,
            start_new_session=True, preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )  # fmt: skip
        self.sees(PROMPT)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.shell.kill()
        self.shell.wait()
        os.close(self.master)
        os.close(self.slave)

    def runs(self, *words: str) -> None:
        """The command line has been typed."""
        self.types(shlex.join([*COMMAND, *words]) + "\n")

    def draws(self, *options: str, misbehaves: bool = False) -> None:
        """A full-screen program has been started and draws; the desk's token is in its arguments."""
        program = self._desk.root / "program.py"
        program.write_text(DRAWING, encoding="utf-8")
        words = ("misbehave", "danger") if misbehaves else ()
        self.runs(*options, "--", sys.executable, str(program), self._desk.token, *words)
        self.sees("drawn by a program")

    def types(self, text: str) -> None:
        os.write(self.master, text.encode())

    def resize(self, rows: int, columns: int) -> None:
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def sees(self, *texts: str) -> str:
        """What was on the screen up to the last of these texts, which have appeared; the next look begins after it."""
        before, end = "", time.monotonic() + PATIENCE
        for text in texts:
            while text not in self.screen:
                assert time.monotonic() < end, f"{text!r} never appeared: {self.screen[-3000:]!r}"
                if select.select([self.master], [], [], 0.1)[0]:
                    with contextlib.suppress(OSError):
                        self.screen += os.read(self.master, 65536).decode("utf-8", "replace")
            before, _, self.screen = self.screen.partition(text)
        return before

    def code(self) -> int:
        """The exit code of the last command; the shell has its prompt again."""
        self.types("echo co''de $?.\n")
        self.sees("code ")
        return int(self.sees("."))

    def settings(self) -> list[Any]:
        """The terminal's own, as they are now."""
        return termios.tcgetattr(self.slave)

    @property
    def is_raw(self) -> bool:
        return not self.settings()[3] & termios.ICANON
