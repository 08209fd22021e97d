"""The process between us and the agent: it leads the agent's session, adopts its orphans, and outlives us to end them.

It is a copy of ours that never returns. We and it hold the two ends of a socket: it says how the agent is, and when our
end closes without a word we have died, so the keeper ends everything, gives the person the terminal back and goes.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import select
import signal
import socket
import sys
import termios
from dataclasses import dataclass
from typing import Any, NoReturn

from laneway.observe.supervised.cgroup import Group
from laneway.observe.supervised.ending import end
from laneway.observe.supervised.order import MARK, Order
from laneway.observe.supervised.tree import Tree

_PDEATHSIG, _SUBREAPER = 1, 36
LEAVE = b"L"
"""Our word for: go, and leave everybody alone."""


@dataclass(frozen=True, slots=True)
class Wiring:
    """What the agent gets: files for 0, 1 and 2 (None = ours), its terminal, its group, and the person's terminal."""

    files: tuple[int | None, int | None, int | None]
    terminal: int | None
    group: Group | None
    outer: int | None
    settings: list[Any] | None
    """Of the person's terminal, as they were before us."""
    ignored: frozenset[signal.Signals]
    """Signals that were ignored when we were started; the agent ignores them, too."""


def prctl(option: int, argument: int) -> bool:
    """The kernel was asked for it; False where it is not Linux or says no."""
    if sys.platform != "linux":
        return False
    return bool(ctypes.CDLL(None).prctl(option, argument, 0, 0, 0) == 0)


def adopt() -> bool:
    """Orphans of everything below this process come to it instead of to init."""
    return prctl(_SUBREAPER, 1)


def keep(order: Order, wiring: Wiring, talk: socket.socket) -> NoReturn:
    """This copy of us is the keeper; it never comes back."""
    try:
        _lead(wiring)
        waker, child = _hear_children(), _start(order, wiring)
        if wiring.terminal is not None:
            # It stays ours to lead; closed here, it ends with the last one who has it open.
            os.close(wiring.terminal)
        talk.sendall(f"started {child}\n".encode())
        _watch(child, talk, waker, order, wiring)
    except OSError as error:
        with contextlib.suppress(OSError):
            talk.sendall(f"failed {error.errno or 1}\n".encode())
    finally:
        # Whatever happened, this copy must not go on as if it were the command.
        os._exit(0)


def _lead(wiring: Wiring) -> None:
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTSTP, signal.SIGTTOU, signal.SIGTTIN,
                   signal.SIGTERM, signal.SIGWINCH, signal.SIGUSR1, signal.SIGUSR2, signal.SIGCONT):  # fmt: skip
        signal.signal(number, signal.SIG_IGN)
    os.setsid()
    adopt()
    if wiring.terminal is not None:
        fcntl.ioctl(wiring.terminal, termios.TIOCSCTTY, 0)


def _hear_children() -> int:
    """A file that can be read as soon as a child has ended or stopped."""
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    os.set_blocking(writing, False)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    return reading


def _start(order: Order, wiring: Wiring) -> int:
    """The agent runs; OSError says why it does not."""
    reading, writing = os.pipe()
    keeper = os.getpid()
    child = os.fork()
    if child == 0:
        _become(order, wiring, keeper, writing)
    os.close(writing)
    with contextlib.suppress(OSError):
        os.setpgid(child, child)
    said = os.read(reading, 16)
    os.close(reading)
    if said:
        os.waitpid(child, 0)
        raise OSError(int(said), "it could not be started")
    return child


def _become(order: Order, wiring: Wiring, keeper: int, tell: int) -> NoReturn:
    """This process is the agent, or has told why not."""
    try:
        os.setpgid(0, 0)
        if wiring.terminal is not None:
            # Still ignoring SIGTTOU: we are in the background until this is done.
            os.tcsetpgrp(wiring.terminal, os.getpid())
        if wiring.group is not None:
            wiring.group.join()
        for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
            with contextlib.suppress(OSError, ValueError):
                signal.signal(number, signal.SIG_IGN if number in wiring.ignored else signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        for place, file in enumerate(wiring.files):
            if file is not None:
                os.dup2(file, place)
        prctl(_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != keeper:
            os._exit(1)
        os.chdir(order.cwd)
        os.execvpe(order.command[0], list(order.command), {**order.environ, MARK: order.run_id})  # noqa: S606
    except OSError as error:
        os.write(tell, str(error.errno or 1).encode())
    finally:
        os._exit(127)


def _watch(child: int, talk: socket.socket, waker: int, order: Order, wiring: Wiring) -> None:
    """Everybody who ends is buried and the agent's end told, until we are told to go or nobody is there to tell."""
    while True:
        select.select([talk.fileno(), waker], [], [], 1.0)
        with contextlib.suppress(OSError):
            os.read(waker, 4096)
        _bury(child, talk)
        word = _word(talk)
        if word == LEAVE:
            return
        if word == b"":
            _give_back(wiring)
            end(Tree(order.run_id, os.getpid(), group=wiring.group), grace=order.grace, bury=lambda: _bury(0, None))
            if wiring.group:
                wiring.group.close()
            return


def _word(talk: socket.socket) -> bytes | None:
    """What we were told; empty when nobody is there any more, None when nothing was said."""
    try:
        return talk.recv(1, socket.MSG_DONTWAIT)
    except BlockingIOError:
        return None
    except OSError:
        return b""


def _bury(child: int, talk: socket.socket | None) -> None:
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG | os.WUNTRACED)
        except ChildProcessError:
            return
        if pid == 0:
            return
        if pid == child and talk is not None:
            said = f"stopped {os.WSTOPSIG(status)}\n" if os.WIFSTOPPED(status) else f"ended {status}\n"
            with contextlib.suppress(OSError):
                talk.sendall(said.encode())


def _give_back(wiring: Wiring) -> None:
    """The person's terminal is as it was before us."""
    if wiring.outer is not None and wiring.settings is not None:
        with contextlib.suppress(termios.error):
            termios.tcsetattr(wiring.outer, termios.TCSANOW, wiring.settings)
