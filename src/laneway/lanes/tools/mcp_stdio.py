"""An MCP server that is a program of this machine: started, spoken with over its pipes, and surely ended.

It gets a clean environment, a line of it is bounded, and it cannot outlive us: its whole process group is ended with
the connection, and on Linux the kernel kills it when this process dies without a word.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
    from mcp.client import Transport
    from mcp.client._transport import TransportStreams
    from mcp.shared.message import SessionMessage

MOST_LINE_BYTES = 8_000_000
MOST_GARBAGE = 200
"""So many lines that are no messages are put up with: some servers greet on the wrong pipe."""

INHERITED = ("PATH", "HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "TZ", "TMPDIR")
END_SECONDS = 1.0

# Asks the kernel to be killed when its parent dies (prctl PR_SET_PDEATHSIG), then becomes the server.
_LAUNCH = """
import ctypes, os, sys
if sys.platform == "linux":
    ctypes.CDLL(None).prctl(1, 9)
    if os.getppid() != int(sys.argv[1]):
        sys.exit(1)
os.execvp(sys.argv[2], sys.argv[2:])
"""


def environment(configured: Mapping[str, str]) -> dict[str, str]:
    """What a server sees: where programs are and what the owner gave it, nothing of ours."""
    return {name: os.environ[name] for name in INHERITED if name in os.environ} | dict(configured)


class Program:
    """A server's program; `last_words` are the end of what it wrote to its standard error."""

    def __init__(self, command: Sequence[str], configured: Mapping[str, str]) -> None:
        self._command, self._env = list(command), environment(configured)
        self._heard = asyncio.Event()
        self.last_words = ""
        self.exit_code: int | None = None

    def transport(self) -> Transport:
        """The connection to it, as the client library wants it."""
        return self._connected()

    @asynccontextmanager
    async def _connected(self) -> AsyncIterator[TransportStreams]:
        import anyio
        from mcp.shared.message import SessionMessage

        process = await self._start()
        told, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        outgoing, to_tell = anyio.create_memory_object_stream[SessionMessage](0)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_read, process, told)
            tasks.start_soon(_write, process, to_tell, told)
            tasks.start_soon(self._listen, process)
            try:
                yield incoming, outgoing
            finally:
                with anyio.CancelScope(shield=True):
                    await _end(process)
                    with anyio.move_on_after(0.2):
                        await self._heard.wait()
                self.exit_code = process.returncode
                tasks.cancel_scope.cancel()
                for stream in (told, incoming, outgoing, to_tell):
                    stream.close()

    async def _start(self) -> asyncio.subprocess.Process:
        program = shutil.which(self._command[0], path=self._env.get("PATH"))
        if program is None:
            raise FileNotFoundError(f"there is no program {self._command[0]}")
        return await asyncio.create_subprocess_exec(
            sys.executable, "-I", "-S", "-c", _LAUNCH, str(os.getpid()), program, *self._command[1:],
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
            env=self._env, cwd="/", start_new_session=True, limit=MOST_LINE_BYTES,
        )  # fmt: skip

    async def _listen(self, process: asyncio.subprocess.Process) -> None:
        assert process.stderr is not None
        while chunk := await process.stderr.read(4096):
            self.last_words = (self.last_words + chunk.decode("utf-8", "replace"))[-1000:]
        self._heard.set()


async def _read(process: asyncio.subprocess.Process, told: MemoryObjectSendStream[SessionMessage | Exception]) -> None:
    import anyio
    from mcp.shared.message import SessionMessage
    from mcp_types import jsonrpc_message_adapter

    assert process.stdout is not None
    garbage = 0
    # Whatever ends the reading, closing the stream is what tells the session that nobody is there any more.
    with told, suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
        while garbage < MOST_GARBAGE:
            try:
                line = await process.stdout.readline()
            except ValueError:
                return
            if not line:
                return
            try:
                message = jsonrpc_message_adapter.validate_json(line, by_name=False)
            except ValueError:
                garbage += 1
                continue
            await told.send(SessionMessage(message))


async def _write(
    process: asyncio.subprocess.Process,
    to_tell: MemoryObjectReceiveStream[SessionMessage],
    told: MemoryObjectSendStream[SessionMessage | Exception],
) -> None:
    assert process.stdin is not None
    try:
        async for one in to_tell:
            process.stdin.write(one.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n")
            await process.stdin.drain()
    except (OSError, RuntimeError):
        # It no longer listens: whoever waits for its answer must hear of it.
        told.close()


async def _end(process: asyncio.subprocess.Process) -> None:
    """Its standard input is closed, it had its second, and then its process group is gone."""
    if process.stdin is not None:
        process.stdin.close()
    if not await _ended(process):
        _signal(process, signal.SIGTERM)
        await _ended(process)
    # Also after a polite end: what it had started must not stay.
    _signal(process, signal.SIGKILL)
    await _ended(process)


async def _ended(process: asyncio.subprocess.Process) -> bool:
    # Not process.wait(): that waits for the pipes as well, which a grandchild may hold open.
    for _ in range(int(END_SECONDS / 0.02)):
        if process.returncode is not None:
            return True
        await asyncio.sleep(0.02)
    return process.returncode is not None


def _signal(process: asyncio.subprocess.Process, number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)
