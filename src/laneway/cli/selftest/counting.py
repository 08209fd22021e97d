"""The outside world of the crash test: it counts every call on its own side, and can end the caller mid-call.

One JSON line in, one JSON line out, over loopback. What this server logged is the evidence: it does not
depend on anything the killed process remembers.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from uuid import uuid4

HOLD_SECONDS = 0.05


@dataclass
class Call:
    """One call as the server saw it."""

    kind: str
    key: str
    nonce: str
    text: str = ""
    ended: bool = False
    killed: bool = False


@dataclass
class KillOrder:
    """End the caller inside its `nth` call of `kind`."""

    kind: str
    nth: int
    kill: Callable[[], None]


@dataclass
class CountingServer:
    """Counts model, tool and delivery calls."""

    calls: list[Call] = field(default_factory=list)
    order: KillOrder | None = None
    port: int = 0
    _seen: Counter[str] = field(default_factory=Counter)
    _server: asyncio.Server | None = None

    async def start(self) -> None:
        """The server listens on a free loopback port."""
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = int(self._server.sockets[0].getsockname()[1])

    async def stop(self) -> None:
        if self._server is not None:
            self._server.close()

    def expect(self, order: KillOrder | None) -> None:
        """From now on calls are counted anew towards `order`."""
        self.order = order
        self._seen.clear()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            asked = json.loads(await reader.readline())
            call = Call(asked["kind"], asked["key"], uuid4().hex, asked.get("text", ""))
            self.calls.append(call)
            if self._is_the_one(call.kind):
                call.killed = True
                await asyncio.sleep(HOLD_SECONDS)
                assert self.order is not None
                self.order.kill()
                return
            writer.write(json.dumps({"nonce": call.nonce}).encode() + b"\n")
            await writer.drain()
            call.ended = True
        except (ConnectionError, ValueError):
            # The caller was killed while it spoke; the log keeps whatever it had begun.
            return
        finally:
            writer.close()

    def _is_the_one(self, kind: str) -> bool:
        self._seen[kind] += 1
        return self.order is not None and self.order.kind == kind and self._seen[kind] == self.order.nth


async def tell(port: int, kind: str, key: str, text: str = "") -> str:
    """The server has counted the call; returns the nonce it gave it."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(json.dumps({"kind": kind, "key": key, "text": text}).encode() + b"\n")
        await writer.drain()
        line = await reader.readline()
        if not line:
            raise ConnectionError("The counting server hung up.")
        return str(json.loads(line)["nonce"])
    finally:
        writer.close()
