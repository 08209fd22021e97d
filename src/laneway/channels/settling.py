"""Takes the buttons from a question once it is answered, wherever that was, or has expired."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from contextlib import aclosing

from laneway.channels.contract import Channel
from laneway.channels.presses import outcome
from laneway.domain.judgement import ApprovalState, Event
from laneway.engine.stream import Hub, Watcher
from laneway.errors import LanewayError
from laneway.store import deliveries
from laneway.store.database import Database

KINDS = {f"approval.{state}": state for state in ApprovalState if state is not ApprovalState.PENDING}
_log = logging.getLogger("laneway.channels")


class Settling:
    """Watches answers. It does its best: a button that stays all the same says that it is too late when pressed."""

    def __init__(self, db: Database, hub: Hub, channels: Mapping[str, Channel]) -> None:
        self._db, self._hub, self._channels = db, hub, channels

    async def keep_settling(self) -> None:
        """Runs until cancelled."""
        begin = await self._hub.place("now")
        async with aclosing(self._hub.watch(begin, Watcher())) as items:
            async for item in items:
                if isinstance(item, Event) and item.kind in KINDS:
                    await self._settle(item)

    async def _settle(self, event: Event) -> None:
        try:
            async with self._db.transaction() as tx:
                asked = await deliveries.asking(tx, str(event.body["approval_id"]))
                found = [(row, await deliveries.receipts(tx, row.id)) for row in asked]
            for row, receipts in found:
                if receipts and row.channel in self._channels:
                    async with asyncio.timeout(30):
                        await self._channels[row.channel].settle(row, receipts, outcome(KINDS[event.kind]))
        except (LanewayError, TimeoutError) as error:
            _log.info("A question kept its buttons: %s", error)
