"""A way out of bubblewrap's empty network: a listening socket inside it that the proxy outside accepts from.

A socket belongs to the network it was made in. A small program of ours enters that network, makes the socket and hands
it out; so nothing has to run inside, and no socket file has to be mounted.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from laneway.sandbox.contract import BoundaryBroken
from laneway.sandbox.proxy import Proxy, Reach, environment

PORT = 3128
_PROGRAM = Path(__file__).with_name("listen_inside.py")
_SECONDS = 10


class Passage:
    """The command waits at the gate until the proxy listens inside."""

    def __init__(self, granted: frozenset[str], reach: Reach) -> None:
        self._proxy = Proxy(granted, reach)
        self._told, self.info = os.pipe()
        self.gate, self._opener = os.pipe()
        self.port = PORT
        self.error: str | None = None

    @classmethod
    @asynccontextmanager
    async def to(cls, granted: frozenset[str], reach: Reach) -> AsyncIterator[Passage]:
        passage = cls(granted, reach)
        serving = asyncio.create_task(passage._serve())
        try:
            yield passage
        except BoundaryBroken as error:
            raise BoundaryBroken(passage.error or str(error)) from None
        finally:
            serving.cancel()
            await asyncio.gather(serving, return_exceptions=True)
            os.close(passage._opener)
            os.close(passage._told)

    @property
    def environment(self) -> dict[str, str]:
        return environment(PORT, None)

    async def _serve(self) -> None:
        pid = await asyncio.to_thread(self._pid)
        if pid is None:
            return
        try:
            inside = await self._listening(pid)
        except (OSError, TimeoutError) as error:
            self.error = f"The way to the granted hosts could not be opened: {error or 'it took too long'}."
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            return
        async with self._proxy.serving(inside):
            os.write(self._opener, b"x")
            await asyncio.Event().wait()

    def _pid(self) -> int | None:
        """The first process inside, as bubblewrap tells it; None if there is none."""
        told = b""
        while chunk := os.read(self._told, 4096):
            told += chunk
            with suppress(ValueError):
                return int(json.loads(told)["child-pid"])
        return None

    async def _listening(self, pid: int) -> socket.socket:
        ours, theirs = socket.socketpair()
        with ours, theirs:
            helper = await asyncio.create_subprocess_exec(
                sys.executable, "-I", "-S", str(_PROGRAM), str(pid), str(theirs.fileno()), str(PORT),
                env={}, pass_fds=[theirs.fileno()], stdin=asyncio.subprocess.DEVNULL,
            )  # fmt: skip
            theirs.close()
            ours.settimeout(_SECONDS)
            said, numbers, _, _ = await asyncio.to_thread(socket.recv_fds, ours, 200, 1)
            await helper.wait()
        if not numbers:
            raise OSError(said.decode("utf-8", "replace") or "no answer")
        return socket.socket(fileno=numbers[0])
