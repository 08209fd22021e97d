"""The loop that takes jobs, on a real Redis and a real database, while one of its jobs keeps it waiting."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import psycopg

from tests.journeys.redis_queue import producing, until

END_WHO_WAITS = (
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
    "WHERE datname = current_database() AND wait_event_type = 'Lock'"
)


async def test_what_a_dead_worker_left_is_settled_although_it_was_found_while_another_job_was_waited_for(
    redis_url: str, database_url: str, tmp_path: Path
) -> None:
    async with producing(redis_url, database_url, tmp_path) as producer:
        client = producer.redis
        await producer.push("first")
        await producer.result("first")
        await producer.settled()
        with (
            psycopg.connect(database_url) as holder,
            psycopg.connect(database_url, autocommit=True) as chief,
        ):
            # Nobody can look for a job now; whoever waits for that loses the connection, as when the database goes.
            # Aside, since it waits for everybody who reads or writes messages just now.
            await asyncio.to_thread(holder.execute, "LOCK TABLE messages IN ACCESS EXCLUSIVE MODE")
            await producer.push("held")

            async def taken() -> list[Any]:
                chief.execute(END_WHO_WAITS)
                return await client.keys("agent:jobs:processing:*")

            [own] = await until(taken)
            await client.rpush("agent:jobs:processing:dead", json.dumps({"job_id": "left", "prompt": "who is left?"}))
            await client.sadd("agent:jobs:workers", "dead")

            async def taken_over() -> bool:
                chief.execute(END_WHO_WAITS)
                return await client.llen(own) == 2

            await until(taken_over)
            holder.rollback()
        assert (await producer.result("held"))["status"] == "completed"
        assert (await producer.result("left"))["status"] == "completed"
        await producer.settled()
