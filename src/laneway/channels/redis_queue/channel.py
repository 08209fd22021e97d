"""The channel: jobs come in from Redis, and of all that is said about them only the final answer goes back."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any
from uuid import UUID

import orjson
from redis.asyncio import Redis

from laneway.channels.contract import Channel, Duty, Part
from laneway.channels.redis_queue import results
from laneway.channels.redis_queue.acting import Acting
from laneway.channels.redis_queue.connection import FAULTS, connected, place, told
from laneway.channels.redis_queue.keys import WrongKind, check_kinds, kinds
from laneway.channels.redis_queue.lists import ListSource
from laneway.channels.redis_queue.publishing import Publisher
from laneway.channels.redis_queue.reader import Reader
from laneway.channels.redis_queue.source import Source
from laneway.channels.redis_queue.streams import StreamSource
from laneway.channels.redis_queue.taking import Taker
from laneway.channels.redis_queue.tokens import STREAM
from laneway.channels.redis_queue.watch import Watch
from laneway.clock import Clock, SystemClock
from laneway.domain.conversation import Role
from laneway.domain.ids import new_id
from laneway.domain.judgement import ApprovalState, OutboxRow
from laneway.errors import LanewayError, TransientFault, Unavailable
from laneway.settings import Settings
from laneway.store import approvals, artifacts, job_parts, redis_jobs
from laneway.store.artifacts import Artifacts
from laneway.store.database import Database
from laneway.store.redis_jobs import Asked

MOST_BESIDE = 1_000_000
"""Bytes of a result that lie beside its preview, for those who have no key to fetch it with."""
MOST_INLINE = 10_000_000
"""Bytes of a result that `completion_signals` takes whole."""


@dataclass(frozen=True, slots=True)
class Orders:
    """What the settings say about the queue."""

    url: str
    acting: Acting
    jobs: str = "agent:jobs"
    stream: str | None = None
    tokens: bool = False
    keep_seconds: int = 86_400
    per_minute: int = 600
    unfinished: int = 100
    job_bytes: int = 2_000_000


def orders_of(settings: Settings) -> Orders:
    """The settings of the queue, as values; there must be a REDIS_URL."""
    assert settings.redis_url is not None
    acting = Acting(Role(settings.redis_role), settings.redis_owners)
    return Orders(
        settings.redis_url.get_secret_value(), acting, settings.redis_jobs, settings.redis_stream,
        settings.redis_tokens, settings.redis_result_seconds, settings.redis_jobs_per_minute, settings.redis_unfinished,
        settings.redis_job_bytes,
    )  # fmt: skip


class RedisQueue(Channel):
    """A queue of jobs in Redis, and the results beside it."""

    name = redis_jobs.CHANNEL

    def __init__(self, db: Database, originals: Artifacts, orders: Orders, clock: Clock | None = None) -> None:
        self._db, self._originals, self._orders = db, originals, orders
        self._client = connected(orders.url)
        self._publisher = Publisher(self._client, orders.keep_seconds)
        self._watch = Watch(db, self._look, place(orders.url), clock or SystemClock())
        self._kinds = kinds(orders.jobs, orders.stream, orders.tokens)
        self._readers: dict[str, Reader] = {}
        # A stopped process of the same number must not be taken for this one.
        self._worker = f"{socket.gethostname()[:40]}-{os.getpid()}-{new_id().hex[-8:]}"

    # What comes in.

    def duties(self) -> Sequence[Duty]:
        """One for each place that jobs are taken from, and one that looks whether Redis is there."""
        return (*(self._reading(source) for source in self._sources(self._client)), self._watch.keep_watching)

    def _sources(self, client: Redis) -> list[Source]:
        orders = self._orders
        found: list[Source] = [ListSource(client, orders.jobs, self._worker, orders.job_bytes)]
        if orders.stream is not None:
            found.append(StreamSource(client, orders.stream, self._worker, orders.job_bytes))
        if orders.tokens:
            found.append(StreamSource(client, STREAM, self._worker, orders.job_bytes, tokens=True))
        return found

    def _reading(self, source: Source) -> Duty:
        async def keep_reading() -> None:
            if self.door is None:
                raise Unavailable("The door is not open yet.", hint="It is tried again.")
            taker = Taker(self._db, self.door.paced(self._orders.per_minute), self._orders.acting, self._originals)
            self._readers[source.name] = Reader(source, taker, self._orders.unfinished)
            await self._readers[source.name].keep_reading()

        return keep_reading

    # What goes out.

    async def send(self, row: OutboxRow, part: Part, again: bool) -> dict[str, Any]:
        """The job's result is in Redis, if this is its final answer; nothing else that is said goes there."""
        if isinstance(row.meta.get("refused"), dict):
            return await self._send_refusal(row)
        asked = await self._asked(row)
        if asked is None:
            return {"id": None, "kept": "no result of a job"}
        if "approval" in row.meta:
            return await self._send_question(row, asked)
        result, whole = await self._result(row, asked)
        named = asked.job.payload.get("runner") or {}
        fresh = await self._publisher.publish(result, self._signal(result, named, whole), _once(row))
        async with self._db.transaction() as tx:
            await redis_jobs.closed(tx, asked.job.id)
        return {"id": asked.job_id, "published": fresh}

    async def _asked(self, row: OutboxRow) -> Asked | None:
        """The job that the reply answers, if one that came from here; a notice or a reminder answers none."""
        answers = row.meta.get("answers")
        if not isinstance(answers, str) or "notice" in row.meta:
            return None
        async with self._db.transaction() as tx:
            return await redis_jobs.asked(tx, UUID(answers), question="approval" in row.meta)

    async def _send_question(self, row: OutboxRow, asked: Asked) -> dict[str, Any]:
        """While a person is asked, what lies where the result will be says so."""
        async with self._db.transaction() as tx:
            approval = await approvals.get(tx, UUID(str(row.meta["approval"])))
        if approval.state is not ApprovalState.PENDING:
            return {"id": None, "kept": "a question"}
        fresh = await self._publisher.publish(results.waiting(asked.job_id, approval, row.text), None, _once(row))
        return {"id": asked.job_id, "published": fresh}

    async def _send_refusal(self, row: OutboxRow) -> dict[str, Any]:
        named = row.meta["refused"]
        result = results.failed(str(named["job_id"]), row.meta["failed"], {}, {})
        fresh = await self._publisher.publish(result, self._signal(result, named, None), _once(row))
        return {"id": result["job_id"], "published": fresh}

    async def _result(self, row: OutboxRow, asked: Asked) -> tuple[dict[str, Any], Any]:
        """The result, and all of what it refers to as far as somebody wants that."""
        error = results.failed_of(row.meta, row.text, asked.not_approved)
        async with self._db.transaction() as tx:
            took = await job_parts.expense(tx, asked.job.id)
        if error is not None:
            return results.failed(asked.job_id, error, took, row.meta), None
        ref = row.meta.get("result_ref")
        if not isinstance(ref, str):
            async with self._db.transaction() as tx:
                ref = await artifacts.record(tx, row.text.encode(), "text/plain")
        result = results.completed(asked.job_id, took, row.meta, row.text, ref)
        size, whole = await self._whole(ref)
        if size <= MOST_BESIDE:
            result["result_data"] = whole
        return result, whole if size <= MOST_INLINE else result["result_preview"]

    def _signal(self, result: dict[str, Any], named: Mapping[str, Any], whole: Any) -> dict[str, Any] | None:
        """What whoever runs the workflow is told, if the job belongs to a run."""
        return results.signal(result, named, whole) if self._orders.tokens and named.get("run_id") else None

    async def _whole(self, ref: str) -> tuple[float, Any]:
        """All of the result and its bytes; beyond all if it cannot be read now, and not read if it is too large."""
        try:
            found = await self._originals.read(ref)
        except LanewayError:
            return inf, None
        size, wanted = len(found.content), MOST_INLINE if self._orders.tokens else MOST_BESIDE
        return size, await asyncio.to_thread(_decoded, found.mime, found.content) if size <= wanted else None

    async def check(self) -> None:
        """Returns if Redis answers now."""
        try:
            async with asyncio.timeout(3):
                await self._client.ping()
        except FAULTS as error:
            raise TransientFault(f"Redis at {place(self._orders.url)} does not answer: {told(error)}") from error

    async def _look(self) -> None:
        """Returns if Redis answers and there is nothing in it that keeps us from working; TransientFault says what."""
        await self.check()
        where = place(self._orders.url)
        try:
            async with asyncio.timeout(3):
                await check_kinds(self._client, self._kinds)
        except WrongKind as error:
            raise TransientFault(f"Redis at {where} cannot be worked with: {told(error)}") from error
        except FAULTS as error:
            raise TransientFault(f"Redis at {where} does not answer: {told(error)}") from error
        for reader in self._readers.values():
            if reader.wrong is not None:
                raise TransientFault(f"Redis at {where} cannot be worked with: {reader.wrong}")

    async def trouble(self) -> str | None:
        """What is wrong with Redis now; looked at again after a few seconds only."""
        return await self._watch.trouble()

    async def close(self) -> None:
        await self._client.aclose()


def _once(row: OutboxRow) -> str:
    """What tells this publishing of the reply from all others."""
    return f"{row.message_id}.{row.meta.get('times', 1)}"


def _decoded(mime: str, content: bytes) -> Any:
    """What the content is as JSON, as it is written there: rows are looked at, but neither kept nor written again."""
    if "json" not in mime:
        return content.decode("utf-8", errors="replace")
    lined = "ndjson" in mime or "jsonl" in mime
    values = [line for line in content.splitlines() if line.strip()] if lined else [content]
    try:
        for value in values:
            orjson.loads(value)
    except orjson.JSONDecodeError:
        return content.decode("utf-8", errors="replace")
    return orjson.Fragment(b"[" + b",".join(values) + b"]" if lined else content)


def redis_channel(settings: Settings, db: Database, originals: Artifacts) -> RedisQueue:
    """The queue that the settings name."""
    return RedisQueue(db, originals, orders_of(settings))
