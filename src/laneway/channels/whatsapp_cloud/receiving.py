"""The webhook: nothing is read before its signature is right, and nothing is acknowledged before it is stored."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from itertools import groupby
from uuid import UUID

from laneway.channels.arrival import Arrival, Taken
from laneway.channels.presses import outcome
from laneway.channels.whatsapp_cloud.attention import Attention
from laneway.channels.whatsapp_cloud.number import Number
from laneway.channels.whatsapp_cloud.reading import CHANNEL, read
from laneway.channels.whatsapp_cloud.signature import signed, verified
from laneway.channels.whatsapp_cloud.statuses import Statuses
from laneway.clock import Clock
from laneway.domain.judgement import ApprovalState
from laneway.errors import BadInput, Forbidden, NotFound, Unauthorized
from laneway.store import approvals, deliveries, whatsapp
from laneway.store.database import Connection, Database

Take = Callable[[Arrival], Awaitable[Taken]]
UNSAID = frozenset({outcome(ApprovalState.APPROVED), outcome(ApprovalState.REJECTED), "Understood."})
"""What a press leads to, a reply of its own tells."""

LOOK_AGAIN_SECONDS = (2.0, 20.0)
_log = logging.getLogger("laneway.channels.whatsapp")


class Webhook:
    """Takes what Meta pushes."""

    def __init__(self, db: Database, number: Number, attention: Attention, statuses: Statuses, clock: Clock) -> None:
        self._db, self._number, self._attention, self._statuses, self._clock = db, number, attention, statuses, clock
        self._looking: asyncio.Task[None] | None = None

    def challenge(self, mode: str, token: str, challenge: str) -> str:
        """What Meta wants to hear when it looks for the webhook; anybody else is refused."""
        if not verified(self._number.verify_token, mode, token):
            raise Forbidden("This is not the verify token.", hint="It is the value of WHATSAPP_VERIFY_TOKEN.")
        return challenge

    async def receive(self, take: Take, raw: bytes, signature: str) -> None:
        """Everything in the webhook is committed; Unavailable means that Meta must send it again."""
        if not signed(self._number.app_secret, raw, signature):
            raise Unauthorized("The signature is not WhatsApp's.", hint="Check WHATSAPP_APP_SECRET.")
        try:
            payload = json.loads(raw)
        except (ValueError, RecursionError):
            raise BadInput("The body is not valid JSON.") from None
        notice = read(payload, self._number.id)
        for theirs in notice.foreign:
            _log.warning(
                "A webhook is for the number id %s, not ours; nothing of it is stored.",
                theirs if theirs.isalnum() else "?",
            )
        for fault in notice.faults:
            _log.warning("WhatsApp reports: %s.", " ".join(fault.split()))
        await self._take_all(take, notice.arrivals)
        if notice.statuses and not await self._statuses.take(notice.statuses):
            self._look_again()

    async def close(self) -> None:
        """Nothing is under way any more."""
        if self._looking is not None:
            self._looking.cancel()
            await asyncio.gather(self._looking, return_exceptions=True)

    async def _take_all(self, take: Take, arrivals: Sequence[Arrival]) -> None:
        """Each is taken, those of one person in the order they were said; one that fails hurts no other."""
        ordered = sorted(arrivals, key=lambda one: (one.address, one.meta.get("said_at", "")))
        groups = [list(theirs) for _, theirs in groupby(ordered, key=lambda one: one.address)]
        failed: list[BaseException] = []
        for arrival in (arrival for theirs in groups for arrival in theirs):
            (result,) = await asyncio.gather(self._take(take, arrival), return_exceptions=True)
            if isinstance(result, BaseException):
                failed.append(result)
        if failed:
            # Meta sends all of it again; what was taken is recognised then.
            raise failed[0]

    async def _take(self, take: Take, arrival: Arrival) -> None:
        was_open = arrival.press is not None and await self._hear(arrival, arrival.press)
        taken = await take(arrival)
        if taken.outcome == "duplicate":
            return
        if taken.outcome != "refused":
            self._attention.read(arrival.external_id, typing=taken.outcome in ("taken", "pressed"))
        told_anyway = taken.outcome == "paired" or taken.receipt is not None or (was_open and taken.say in UNSAID)
        if taken.say and not told_anyway:
            self._attention.tell(arrival.address, taken.say)

    async def _hear(self, arrival: Arrival, press: str) -> bool:
        """A press opens the window as a message does, and is none; True if its question waits for an answer."""
        said_at = arrival.meta.get("said_at")
        at = datetime.fromisoformat(said_at) if said_at else self._clock.now()
        async with self._db.transaction() as tx:
            reply = None
            if arrival.reply_to is not None:
                reply = await deliveries.reply_of(tx, CHANNEL, arrival.reply_to)
            if reply is None:
                # Whoever is quick presses before it is on record that the question arrived.
                return await _is_open(tx, press)
            await whatsapp.heard(tx, reply.thread_id, at)
            open_ones = await approvals.open_questions(tx, CHANNEL, reply.thread_external_id)
        return any(str(asked.id) in press for asked in open_ones)

    def _look_again(self) -> None:
        """What was said of messages that are not on record yet is applied in a moment."""
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(self._apply_soon())

    async def _apply_soon(self) -> None:
        for seconds in LOOK_AGAIN_SECONDS:
            await asyncio.sleep(seconds)
            await self._statuses.take_early()


async def _is_open(tx: Connection, press: str) -> bool:
    """Whether the question that the button belongs to waits for an answer."""
    try:
        asked = await approvals.get(tx, UUID(press.split(":")[1]))
    except (IndexError, ValueError, NotFound):
        return False
    return asked.state is ApprovalState.PENDING
