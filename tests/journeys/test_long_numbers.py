"""Whole numbers beyond 64 bits come back digit by digit, whichever way they went through Laneway."""

from __future__ import annotations

import json

from tests.journeys.redis_queue import Producer
from tests.journeys.tables_asked import chat, result
from tests.journeys.tooling import Start
from tests.web.conftest import Door

LONG = (2**64, 10**30 + 1, -(2**63) - 1)
ROWS = [{"id": long, "kg": place} for place, long in enumerate(LONG)] + [{"id": 3, "kg": -1}]
SORTED = sorted(ROWS, key=lambda row: row["kg"])


async def test_a_small_table_through_the_chat_comes_back_exact_and_so_does_what_follows_it(door: Door) -> None:
    found = await chat(door, "sort by kg", tables={"crates": ROWS}, session_id="s", job_id="one")
    assert found["status"] == "completed", found
    assert found["result_preview"]["sample"] == SORTED[:3]
    assert str(10**30 + 1)[:27] in found["reply"]
    assert await result(door, found) == SORTED
    again = await chat(door, "sort by kg", tables={"crates": ROWS}, session_id="s", job_id="one")
    assert again["result_preview"] == found["result_preview"]
    after = await chat(door, "sort by id descending", session_id="s")
    assert await result(door, after) == sorted(ROWS, key=lambda row: -row["id"])
    assert after["result_preview"]["sample"][0]["id"] == 10**30 + 1


async def test_a_job_from_redis_has_an_exact_result(queue: Start[Producer]) -> None:
    context = {"previous_results": [{"rows": ROWS}]}
    async with queue(redis_tokens=True, redis_stream="jobs") as producer:
        await producer.push("list", "sort by kg", run_id="r", context=context)
        entry = {"job_id": "stream", "prompt": "sort by kg", "run_id": "r", "context": json.dumps(context)}
        await producer.redis.xadd("jobs", entry)  # type: ignore[arg-type]
        for name in ("list", "stream"):
            found = await producer.result(name)
            assert found["status"] == "completed", found
            assert found["result_preview"]["sample"] == SORTED[:3]
            original = await producer.home.app.artifacts.read(found["result_ref"])
            assert json.loads(original.content) == SORTED
        signals = await producer.redis.lrange("completion_signals", 0, -1)
        assert [json.loads(signal)["result_data"] for signal in signals] == [SORTED, SORTED]
