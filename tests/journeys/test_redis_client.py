"""The queue as the client of seed 001 uses it: plain redis-py, the job as it is printed there, default settings."""

from __future__ import annotations

import json
from typing import Any

from redis import Redis

from laneway.domain.conversation import Role
from laneway.llm.offline import OfflineModel
from laneway.store import principals
from tests.journeys.redis_queue import Producer, until
from tests.journeys.tooling import Start

FLIGHTS = [{"flight": f"F{n:02}", "price": n * 37 % 101} for n in range(15)]
WORKFLOW = {"nodes": [{"id": "agent_node", "type": "agent", "config": {"prompt": "Look."}}], "edges": []}


def printed(job_id: str = "uuid-123", **more: Any) -> dict[str, Any]:
    """The job of the document, with what it writes as `...`."""
    return {
        "version": "1.0", "job_id": job_id, "run_id": "run-456", "node_id": "agent_node", "workflow_tag": "main",
        "workflow_owner": "username", "prompt": "show me top 10 flights sorted by price", "current_workflow": WORKFLOW,
        "context": {"previous_results": [{"rows": FLIGHTS}], "session_id": "sess-xyz"}, **more,
    }  # fmt: skip


class Client:
    """Another program, which knows Redis and nothing of us."""

    def __init__(self, producer: Producer) -> None:
        place = producer.redis.connection_pool.connection_kwargs
        self._redis = Redis(host=place["host"], port=place["port"])
        self._producer = producer

    def push(self, job: dict[str, Any] | bytes) -> None:
        self._redis.rpush("agent:jobs", job if isinstance(job, bytes) else json.dumps(job))

    async def take(self, job_id: str = "uuid-123") -> dict[str, Any]:
        """The result, which is gone from Redis then."""

        async def pop() -> Any:
            return self._redis.lpop(f"agent:results:{job_id}")

        found: dict[str, Any] = json.loads(await until(pop))
        return found


async def test_the_printed_job_runs_and_its_client_reads_all_of_its_rows(queue: Start[Producer]) -> None:
    async with queue(OfflineModel()) as producer:
        client = Client(producer)
        client.push(printed())
        result = await client.take()
        assert result["status"] == "completed", result
        assert result["result_ref"].startswith("artifact://")
        assert result["result_data"] == sorted(FLIGHTS, key=lambda row: int(str(row["price"])))[:10]
        [job] = await producer.jobs()
        who = await producer.principal(job)
        assert (who.role, who.name) == (Role.OPERATOR, "redis:username")
        client.push(printed("again"))
        await client.take("again")
        async with producer.home.app.db.transaction() as tx:
            assert [one.name for one in await principals.listed(tx, 10)].count("redis:username") == 1


async def test_a_failed_job_does_not_burn_its_id(queue: Start[Producer]) -> None:
    async with queue(OfflineModel()) as producer:
        client = Client(producer)
        for wrong in (
            printed(prompt="show the flights with the best karma"), printed(prompt=5), printed(version="3.0"),
        ):  # fmt: skip
            client.push(wrong)
            assert (await client.take())["status"] == "failed", wrong
            await producer.settled()
        client.push(printed())
        good = await client.take()
        assert good["status"] == "completed", good
        await producer.settled()
        client.push(printed(prompt=5))
        client.push(printed())
        assert await client.take() == good, "taken, and asked for once more"
        await producer.settled()
        assert len(await producer.jobs()) == 2, "what went well is not done again"


async def test_a_failed_result_that_nobody_took_makes_room_for_the_good_one(queue: Start[Producer]) -> None:
    async with queue(OfflineModel()) as producer:
        client = Client(producer)
        client.push(printed(prompt="show the flights with the best karma"))
        assert (await producer.result("uuid-123"))["status"] == "failed"
        client.push(printed())

        async def good() -> bool:
            return [one["status"] for one in await producer.results("uuid-123")] == ["completed"]

        await until(good)


async def test_the_id_is_found_wherever_it_stands_in_a_job_that_is_too_large(queue: Start[Producer]) -> None:
    filler = 'a \\" { [ \\\\ ' * 450_000
    large = {
        "last": f'{{"prompt": "{filler}", "context": {{"job_id": "not this"}}, "job_id": "last"}}',
        "middle": f'{{"context": {{"x": [{{"job_id": "no"}}]}}, "job_id": "middle", "prompt": "{filler}"}}',
        "cut": f'{{"tables": {{"t": [{{"job_id": 1}}]}}, "job_id": "cut", "prompt": "{filler}',
    }
    async with queue() as producer:
        client = Client(producer)
        for job_id, raw in large.items():
            assert len(raw) > 4_900_000
            client.push(raw.encode())
            result = await client.take(job_id)
            assert (result["status"], result["error"]["type"]) == ("failed", "too-large"), job_id
