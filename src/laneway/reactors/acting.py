"""What is done about a reaction to one of our own jobs, and put down: each once, however often it is tried."""

from __future__ import annotations

import asyncio
import hashlib
from collections import deque
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from laneway.domain.job import Job, JobStatus
from laneway.domain.keepable import keepable
from laneway.domain.session import EventKind, SessionEvent
from laneway.errors import IllegalTransition, Unavailable
from laneway.reactors.border import Failed
from laneway.reactors.chain import Said
from laneway.reactors.contract import Intervene, Warn
from laneway.store import events, jobs, notices, outbox
from laneway.store.database import Connection, Database

MOST = 200
"""Reactions of one job that wait to be put down; more are no news to anybody."""
_LONGEST = 600


@dataclass(frozen=True, slots=True)
class _Owed:
    kind: str
    body: dict[str, Any]
    notice: str | None = None


class Acting:
    """Carries out what the chain of one job says."""

    def __init__(self, db: Database, job: Job, pulled: Collection[str]) -> None:
        self._db, self._job, self._pulled = db, job, pulled
        self._owed: deque[_Owed] = deque(maxlen=MOST)
        self._wake = asyncio.Event()

    def later(self, event: SessionEvent, said: Said, *, strongest: bool) -> None:
        """The reaction will be put down soon, and the owner told if it is a notification and the strongest."""
        reaction = said.reaction
        tells = strongest and isinstance(reaction, Intervene)
        words = reaction.message if isinstance(reaction, Warn) else reaction.reason
        kind = "reactor.notified" if tells else "reactor.warned"
        self._owe(_Owed(kind, _body(event, said.reactor, words), words if tells else None))

    def failure(self, failed: Failed) -> None:
        """That the reactor failed will be put down soon."""
        self._owe(_Owed("reactor.failed", {"reactor": failed.reactor, "error": keepable(failed.error)[:_LONGEST]}))

    async def wait(self, seconds: float) -> None:
        """Returns when there is something to carry out, or after so long."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._wake.wait()

    def wake(self) -> None:
        """Whoever waits goes on."""
        self._wake.set()

    async def carry_out(self) -> bool:
        """Nothing is owed any more; False if the database is away: then it is owed still."""
        self._wake.clear()
        owed = list(self._owed)
        if not owed:
            return True
        try:
            async with self._db.transaction() as tx:
                for one in owed:
                    await self._put_down(tx, one)
        except Unavailable:
            return False
        for _ in owed:
            self._owed.popleft()
        return True

    async def kill(self, event: SessionEvent, said: Said) -> bool:
        """The job has been told to stop, and why; returns whether it was running."""
        assert isinstance(said.reaction, Intervene)
        why, job = keepable(said.reaction.reason)[:_LONGEST], self._job
        body = _body(event, said.reactor, why)
        told = f"Ended by the reactor {said.reactor}: {why}"
        async with self._db.transaction() as tx:
            try:
                await jobs.note(tx, job.id, {"stopped_because": told})
                stopped = await jobs.request_cancel(tx, job.id)
            except IllegalTransition:
                # It has ended by itself meanwhile.
                return False
            await events.append(tx, "reactor.killed", body, thread_id=job.thread_id, job_id=job.id)
            if stopped.status is JobStatus.CANCELLED and job.owner:
                await outbox.write_reply(
                    tx, stopped, f"Stopped. {told}", key=f"stopped.{job.run}", pulled=self._pulled, meta={}
                )
            if not job.owner:
                await self._tell(tx, f"Job {job.id} was ended. {told}", body)
        return stopped.status is JobStatus.RUNNING

    def _owe(self, owed: _Owed) -> None:
        self._owed.append(owed)
        self._wake.set()

    async def _put_down(self, tx: Connection, owed: _Owed) -> None:
        body = owed.body
        if owed.notice is not None:
            words = keepable(owed.notice)[:_LONGEST]
            # An owner who has never written anywhere cannot be told; the record says so.
            told = await self._tell(tx, f"Job {self._job.id}: {words} (reactor {body['reactor']})", body)
            body = body | {"told": told}
        await events.append(tx, owed.kind, body, thread_id=self._job.thread_id, job_id=self._job.id)

    async def _tell(self, tx: Connection, text: str, body: dict[str, Any]) -> bool:
        # One key for one cause: whoever tries again after a crash says nothing twice.
        cause = hashlib.sha256(f"{body['reactor']} {body['cause']}".encode()).hexdigest()[:24]
        return await notices.tell_owner(
            tx, text, key=f"reactor:{self._job.id}:{cause}", kind="reactor", pulled=self._pulled
        )


def cause_of(event: SessionEvent) -> str:
    """Names the event within its job, the same in a replay; a tick of the clock is its own."""
    return f"{event.kind}:{event.call_id or event.at.isoformat()}"


def _body(event: SessionEvent, reactor: str, words: str) -> dict[str, Any]:
    told = {"reactor": reactor, "message": keepable(words)[:_LONGEST], "cause": cause_of(event)}
    if event.kind in (EventKind.TOOL_CALLED, EventKind.TOOL_ENDED) and event.tool:
        told["tool"] = keepable(event.tool)[:200]
    return told
