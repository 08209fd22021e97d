"""A producer of jobs in Redis, as other programs are, and what it finds there afterwards."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import SecretStr
from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import ConstantBackoff
from redis.exceptions import ConnectionError

from laneway.domain.conversation import Principal, Role
from laneway.domain.job import Job, JobStatus
from laneway.store import conversations, jobs, principals
from tests.running import Laneway, laneway


@dataclass
class Producer:
    """Writes jobs and reads results."""

    redis: Redis
    home: Laneway

    async def push(self, job_id: str | None = None, prompt: str | None = "two and two?", **more: Any) -> None:
        job = {"version": "1.0", "job_id": job_id, "prompt": prompt, **more}
        await self.redis.rpush("agent:jobs", json.dumps({k: v for k, v in job.items() if v is not None}))

    async def results(self, job_id: str) -> list[dict[str, Any]]:
        return [json.loads(raw) for raw in await self.redis.lrange(f"agent:results:{job_id}", 0, -1)]

    async def result(self, job_id: str, seconds: float = 30) -> dict[str, Any]:
        """The one result of the job, once it is there and nobody is asked any more."""

        async def ended() -> list[dict[str, Any]]:
            return [one for one in await self.results(job_id) if one["status"] != "waiting"]

        await until(ended, seconds)
        [found] = await self.results(job_id)
        return found

    async def dead(self) -> list[dict[str, Any]]:
        return [json.loads(raw) for raw in await self.redis.lrange("agent:dead", 0, -1)]

    async def jobs(self) -> list[Job]:
        async with self.home.app.db.transaction() as tx:
            return await jobs.page(tx, limit=200)

    async def job(self, job_id: str, status: JobStatus | None = None) -> Any:
        """The job of ours that the producer calls so, if there is one with this status."""
        for job in await self.jobs():
            if job.payload.get("runner", {}).get("job_id") == job_id and status in (None, job.status):
                return job
        return None

    async def principal(self, job: Job) -> Principal:
        """As whom the job acts."""
        async with self.home.app.db.transaction() as tx:
            message = await conversations.message(tx, job.message_id)
            found = await principals.by_id(tx, message and message.principal_id)
        assert found is not None
        return found

    async def operators(self, *names: str) -> list[Principal]:
        """People whose jobs a producer may bring."""
        async with self.home.app.db.transaction() as tx:
            return [await principals.make(tx, Role.OPERATOR, name) for name in names]

    async def notices(self) -> list[str]:
        """What the owner was asked for jobs of Redis."""
        async with self.home.app.db.transaction() as tx:
            cursor = await tx.execute("SELECT text FROM messages WHERE meta->>'notice' = 'question'")
            return [row[0] for row in await cursor.fetchall()]

    async def lying_about(self) -> int:
        """How many jobs Redis still has, waiting or taken."""
        # In the order in which they move, so that one that just does may be counted twice and is never overlooked.
        waiting = int(await self.redis.llen("agent:jobs"))
        keys = [key async for key in self.redis.scan_iter("agent:jobs:processing:*")]
        return waiting + sum([int(await self.redis.llen(key)) for key in keys])

    async def settled(self, left: int = 0, seconds: float = 30) -> None:
        """Every job but so many has been taken out of Redis, which happens a moment after it was stored."""

        async def gone() -> bool:
            return await self.lying_about() == left

        await until(gone, seconds)


async def until(true: Callable[[], Any], seconds: float = 30) -> Any:
    """What the condition gave when it first gave something."""
    async with asyncio.timeout(seconds):
        while not (found := await true()):
            await asyncio.sleep(0.03)
    return found


@asynccontextmanager
async def producing(
    server_url: str, database_url: str, home: Path, *given: Any, **more: Any
) -> AsyncIterator[Producer]:
    """Laneway takes jobs from this Redis while the block lasts."""
    more.setdefault("redis_url", SecretStr(server_url))
    more.setdefault("redis_jobs_per_minute", 100_000)
    again = Retry(ConstantBackoff(0.1), 5)
    async with (
        laneway(database_url, home, *given, **more) as running,
        Redis.from_url(server_url, retry=again, retry_on_error=[ConnectionError]) as client,
    ):
        yield Producer(client, running)
