"""What WhatsApp says became of a message: it only gets further, what failed is listed, and what it cost is booked.

    sent < failed < delivered < read < played

A message said to have failed may be delivered all the same; one that was delivered cannot fail any more.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from decimal import Decimal
from typing import Any

from laneway.channels.whatsapp_cloud.faults import WINDOW_SHUT, explained
from laneway.channels.whatsapp_cloud.reading import CHANNEL, Status
from laneway.clock import Clock
from laneway.domain.judgement import OutboxRow, OutboxState
from laneway.store import deliveries, whatsapp
from laneway.store.database import Connection, Database

RANKS = {"sent": 1, "failed": 2, "delivered": 3, "read": 4, "played": 5}
_log = logging.getLogger("laneway.channels.whatsapp")


class Statuses:
    """Brings each status to the reply it is about."""

    def __init__(self, db: Database, clock: Clock, fees: Mapping[str, Decimal]) -> None:
        self._db, self._clock, self._fees = db, clock, fees

    async def take(self, statuses: list[Status]) -> bool:
        """All of them are applied, or wait for their message; False if some wait."""
        async with self._db.transaction() as tx:
            applied = [await self._apply(tx, one) for one in statuses]
        return all(applied)

    async def take_early(self) -> None:
        """What came before its message was on record is applied as far as it can be now."""
        async with self._db.transaction() as tx:
            for body in await whatsapp.take_early(tx):
                await self._apply(tx, _restored(body))

    async def _apply(self, tx: Connection, status: Status) -> bool:
        if status.status not in RANKS:
            _log.info("WhatsApp tells of a status nobody knows here: %r.", status.status)
            return True
        row = await deliveries.reply_of(tx, CHANNEL, status.id)
        if row is None or not whatsapp.settled(row):
            await whatsapp.keep_early(tx, status.id, status.status, _stored(status))
            return False
        error = explained(status.code, status.error) if status.status == "failed" else None
        further = await deliveries.set_status(tx, CHANNEL, status.id, status.status, RANKS[status.status], error)
        if further and error is not None:
            await self._failed(tx, row, status, error)
        elif further and RANKS[status.status] > RANKS["failed"]:
            await whatsapp.arrived_after_all(tx, row)
        await self._charge(tx, row, status)
        return True

    async def _failed(self, tx: Connection, row: OutboxRow, status: Status, error: str) -> None:
        _log.warning("Reply %s was not delivered: %s", row.message_id, error)
        await whatsapp.refund(tx, status.id)
        free_text = row.state is OutboxState.SENT and not await self._was_template(tx, row, status)
        if status.code == WINDOW_SHUT and free_text:
            # It certainly did not arrive; now that the window is known to be shut, a template may.
            await whatsapp.shut(tx, row.thread_id, self._clock.now())
            await whatsapp.send_otherwise(tx, row, status.id)
        else:
            await whatsapp.refused_later(tx, row, error)

    async def _was_template(self, tx: Connection, row: OutboxRow, status: Status) -> bool:
        receipts = await deliveries.receipts(tx, row.id)
        return any(one.get("id") == status.id and one.get("template") for one in receipts)

    async def _charge(self, tx: Connection, row: OutboxRow, status: Status) -> None:
        """A message that money is due for is in the ledger, whichever status said so first."""
        if not status.billable or await whatsapp.status_of(tx, status.id) in ("failed", ""):
            return
        cost = self._fees.get(status.category)
        if cost is None:
            _log.warning("No fee is set for WhatsApp messages of the category %s.", status.category)
        meta = {**status.pricing, "reply": str(row.message_id), **({} if cost is not None else {"price": "unknown"})}
        await whatsapp.charge(tx, status.id, row.thread_id, status.category, cost or Decimal(0), meta)


def _stored(status: Status) -> dict[str, Any]:
    return asdict(status) | {"at": None if status.at is None else status.at.isoformat()}


def _restored(body: dict[str, Any]) -> Status:
    at = body["at"]
    return Status(**{**body, "at": None if at is None else datetime.fromisoformat(at)})
