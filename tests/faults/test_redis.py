"""Redis killed and restarted, workers killed, all under load: each job has exactly one result."""

from __future__ import annotations

import asyncio
import json
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr
from redis.asyncio import Redis
from redis.exceptions import RedisError

from laneway.store.database import Database
from tests.faults.worker import Orders, kill, started
from tests.servers.redis_server import RedisServer, restartable_redis

JOBS = 1000
FLIGHTS = [{"flight": name, "price": price, "to": "Oslo"} for name, price in (("A", 300), ("B", 99), ("C", 120))]


@dataclass
class Plant:
    """A Redis that can be killed, a database, and workers that can be killed."""

    server: RedisServer
    orders: Orders
    db: Database
    redis: Redis
    workers: list[ForkServerProcess] = field(default_factory=list)

    def worker(self, **more: Any) -> ForkServerProcess:
        child = started(replace(self.orders, **more))
        self.workers.append(child)
        return child

    async def push(self, job_id: str, count: int = 2) -> None:
        """The job is in Redis at least once; whoever does not hear an answer asks again, as producers do."""
        raw = written(job_id, count)
        while True:
            try:
                await self.redis.rpush("agent:jobs", raw)
                return
            except (RedisError, OSError):
                await asyncio.sleep(0.1)

    async def results(self) -> int:
        """How many jobs have a result; 0 while Redis is away."""
        try:
            return len([key async for key in self.redis.scan_iter("agent:results:*", count=1000)])
        except (RedisError, OSError):
            return 0

    async def until_results(self, count: int, seconds: float) -> None:
        async with asyncio.timeout(seconds):
            while await self.results() < count:
                await asyncio.sleep(0.1)

    async def number(self, statement: str) -> int:
        async with self.db.transaction() as tx:
            row = await (await tx.execute(statement.encode())).fetchone()
        assert row is not None
        return int(row[0])


def written(job_id: str, count: int = 2) -> str:
    """A job that the offline planner understands."""
    prompt = f"show me top {count} flights sorted by price"
    return json.dumps({"version": "1.0", "job_id": job_id, "prompt": prompt, "tables": {"flights": FLIGHTS}})


@asynccontextmanager
async def planted(folder: Path, database_url: str, stream: str | None = None) -> AsyncIterator[Plant]:
    (folder / "redis").mkdir()
    (folder / "home").mkdir()
    db = Database(database_url)
    await db.open()
    with restartable_redis(folder / "redis", keeps=True) as server:
        client = Redis.from_url(server.url)
        settings = {"redis_url": SecretStr(server.url), "redis_stream": stream, "redis_jobs_per_minute": 1_000_000}
        plant = Plant(server, Orders(database_url, str(folder / "home"), settings=settings), db, client)
        try:
            yield plant
        finally:
            for worker in plant.workers:
                if worker.pid is not None and worker.is_alive():
                    worker.terminate()
            for worker in plant.workers:
                worker.join(20)
            await client.aclose()
            await db.close()


@pytest.mark.slow
@pytest.mark.timeout(600)
async def test_redis_and_workers_killed_under_a_thousand_jobs_each_job_has_one_result(
    database_url: str, tmp_path: Path
) -> None:
    async with planted(tmp_path, database_url) as plant:
        first, _ = plant.worker(), plant.worker()

        async def feed() -> None:
            for number in range(JOBS):
                await plant.push(f"j{number}", number % 2 + 2)

        feeding = asyncio.create_task(feed())
        await plant.until_results(50, 120)
        await asyncio.to_thread(plant.server.kill)
        await asyncio.sleep(0.19)
        await asyncio.to_thread(plant.server.start)
        await plant.until_results(200, 120)
        await asyncio.to_thread(kill, first)
        plant.worker()
        await plant.until_results(400, 150)
        await asyncio.to_thread(plant.server.kill)
        await asyncio.to_thread(plant.server.start)
        await feeding
        await plant.until_results(JOBS, 240)
        counts = {await plant.redis.llen(f"agent:results:j{number}") for number in range(JOBS)}
        assert counts == {1}
        for number in range(JOBS):
            result = json.loads((await plant.redis.lrange(f"agent:results:j{number}", 0, 0))[0])
            assert result["status"] == "completed", result
            assert result["result_preview"]["row_count"] == number % 2 + 2
        assert await plant.number("SELECT count(*) FROM jobs WHERE status = 'done'") == JOBS
        assert await plant.number("SELECT count(*) FROM jobs") == JOBS
        assert not await plant.redis.exists("agent:dead")


@pytest.mark.slow
@pytest.mark.timeout(300)
async def test_a_worker_that_dies_between_publishing_and_writing_that_down_publishes_once(
    database_url: str, tmp_path: Path
) -> None:
    async with planted(tmp_path, database_url) as plant:
        await plant.push("j")
        doomed = plant.worker(die_at="deliver:sent")
        await asyncio.to_thread(doomed.join, 120)
        assert doomed.exitcode == -signal.SIGKILL
        assert await plant.redis.llen("agent:results:j") == 1
        assert await plant.number("SELECT count(*) FROM outbox WHERE state = 'sent'") == 0
        plant.worker()
        async with asyncio.timeout(120):
            while await plant.number("SELECT count(*) FROM outbox WHERE state = 'sent'") == 0:
                await asyncio.sleep(0.1)
        assert await plant.redis.llen("agent:results:j") == 1
        assert await plant.number("SELECT count(*) FROM redis_open") == 0


@pytest.mark.slow
@pytest.mark.timeout(300)
async def test_what_a_killed_worker_had_taken_is_run_by_the_next(database_url: str, tmp_path: Path) -> None:
    async with planted(tmp_path, database_url, "agent:stream") as plant:
        dead = "host-1-dead"
        for job_id in ("list", "twice"):
            await plant.redis.rpush(f"agent:jobs:processing:{dead}", written(job_id))
        await plant.redis.sadd("agent:jobs:workers", dead)
        await plant.push("twice")
        await plant.redis.xgroup_create("agent:stream", "agent_workers", "0", mkstream=True)
        await plant.redis.xadd("agent:stream", {"job": written("stream")})
        await plant.redis.xreadgroup("agent_workers", dead, {"agent:stream": ">"})
        # As old as if its reader had been silent for a minute.
        [pending] = await plant.redis.xpending_range("agent:stream", "agent_workers", "-", "+", 1)
        await plant.redis.xclaim(
            "agent:stream", "agent_workers", dead, 0, [pending["message_id"]], idle=60_000, justid=True
        )
        plant.worker()
        await plant.until_results(3, 120)
        assert [await plant.redis.llen(f"agent:results:{name}") for name in ("list", "twice", "stream")] == [1, 1, 1]
        assert await plant.number("SELECT count(*) FROM jobs") == 3
        assert not await plant.redis.exists(f"agent:jobs:processing:{dead}")
        assert not await plant.redis.sismember("agent:jobs:workers", dead)


@pytest.mark.slow
@pytest.mark.timeout(300)
async def test_columns_keep_their_order_through_the_death_of_a_worker(database_url: str, tmp_path: Path) -> None:
    async with planted(tmp_path, database_url) as plant:
        await plant.push("j")
        doomed = plant.worker(die_at="pipeline.run:stored")
        await asyncio.to_thread(doomed.join, 120)
        assert doomed.exitcode == -signal.SIGKILL
        plant.worker()
        await plant.until_results(1, 120)
        [raw] = await plant.redis.lrange("agent:results:j", 0, -1)
        assert [list(row) for row in json.loads(raw)["result_preview"]["sample"]] == [["flight", "price", "to"]] * 2
