"""Small courtesies that nobody waits for: a message is shown as read, somebody types, a press is answered."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any

from laneway.channels.whatsapp_cloud.composing import MOST_TEXT, message, read_receipt, recipient
from laneway.channels.whatsapp_cloud.formatting import formatted
from laneway.channels.whatsapp_cloud.graph import Graph
from laneway.channels.whatsapp_cloud.splitting import split
from laneway.errors import ModelFault

MOST_AT_ONCE = 64
_log = logging.getLogger("laneway.channels.whatsapp")


class Attention:
    """Does what it can, beside the way of the message; what fails is forgotten."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._tasks: set[asyncio.Task[None]] = set()

    def read(self, wamid: str, *, typing: bool) -> None:
        """The person will see that the message was read, and if `typing`, that an answer is on its way."""
        self._begin(self._graph.post(read_receipt(wamid, typing)))

    def tell(self, address: str, text: str) -> None:
        """The person will be told."""
        self._begin(self._say(address, text))

    async def close(self) -> None:
        """Nothing is under way any more."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _say(self, address: str, text: str) -> None:
        await self._graph.send(recipient(address) | message(split(formatted(text), MOST_TEXT)[0], ()))

    def _begin(self, courtesy: Coroutine[Any, Any, object]) -> None:
        if len(self._tasks) >= MOST_AT_ONCE:
            # A provider that does not answer is not asked for more of them.
            courtesy.close()
            return
        task = asyncio.create_task(_kindly(courtesy))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


async def _kindly(courtesy: Coroutine[Any, Any, object]) -> None:
    try:
        await courtesy
    except ModelFault as fault:
        _log.info("A courtesy was left out: %s", fault)
