"""Whole numbers beyond 64 bits come back digit by digit, whichever way they went through Laneway."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.journeys.redis_queue import producing
from tests.journeys.tables_asked import chat, offline, result
from tests.web.conftest import Open

LONG = (2**64, 10**30 + 1, -(2**63) - 1)
ROWS = [{"id": long, "kg": place} for place, long in enumerate(LONG)] + [{"id": 3, "kg": -1}]
SORTED = sorted(ROWS, key=lambda row: row["kg"])


async def test_a_small_table_through_the_chat_comes_back_exact_and_so_does_what_follows_it(opened: Open) -> None:
    async with opened(offline()) as door:
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


async def test_a_sum_and_a_condition_beyond_64_bits_are_exact(opened: Open) -> None:
    rows = [{"kg": 2**63, "tags": [2**70]}] * 3
    total = {"steps": [{"do": "group_by", "by": [], "values": {"kg": {"do": "sum", "column": "kg"}}}]}
    above = {"steps": [{"do": "filter", "where": {"column": "id", "is": "==", "value": 10**30 + 1}}]}
    async with opened(offline()) as door:
        found = await door.post("/pipelines", json={"plan": total, "tables": {"crates": rows}})
        assert found["rows"] == found["result_preview"]["sample"] == [{"kg": 3 * 2**63}]
        found = await door.post("/pipelines", json={"plan": above, "tables": {"crates": ROWS}})
        assert found["rows"] == [ROWS[1]]
        assert found["plan"]["steps"][0]["where"]["value"] == 10**30 + 1
        found = await door.post("/pipelines", json={"plan": {"steps": []}, "tables": {"crates": rows}})
        assert found["result_preview"]["sample"] == rows


@pytest.mark.parametrize("count", [20_000, 60_000])
async def test_a_table_that_a_worker_process_reads_comes_back_exact(opened: Open, count: int) -> None:
    rows = [{"id": 10**30 + place, "kg": place} for place in range(count)]
    plan = {"steps": [{"do": "filter", "where": {"column": "id", "is": ">=", "value": 10**30 + count - 2}}]}
    async with opened(offline()) as door:
        found = await door.post("/pipelines", json={"plan": plan, "tables": {"crates": rows}}, timeout=120)
        assert found.get("rows") == rows[-2:], found
        everything = {"steps": [{"do": "sort", "by": [{"column": "kg", "order": "desc"}]}]}
        found = await door.post("/pipelines", json={"plan": everything, "tables": {"crates": rows}}, timeout=120)
        assert found["rows"][:2] == rows[:-3:-1]


@pytest.mark.parametrize("source", ["list", "stream"])
async def test_a_job_from_redis_has_an_exact_result(
    redis_url: str, database_url: str, tmp_path: Path, source: str
) -> None:
    more: dict[str, Any] = {"redis_stream": "jobs"} if source == "stream" else {}
    async with producing(redis_url, database_url, tmp_path, redis_tokens=True, **more) as producer:
        context = {"previous_results": [{"rows": ROWS}]}
        if source == "stream":
            entry = {"job_id": "j", "prompt": "sort by kg", "run_id": "r", "context": json.dumps(context)}
            await producer.redis.xadd("jobs", entry)  # type: ignore[arg-type]
        else:
            await producer.push("j", "sort by kg", run_id="r", context=context)
        found = await producer.result("j")
        assert found["status"] == "completed", found
        assert found["result_preview"]["sample"] == SORTED[:3]
        original = await producer.home.app.artifacts.read(found["result_ref"])
        assert json.loads(original.content) == SORTED
        [signal] = await producer.redis.lrange("completion_signals", 0, -1)
        assert json.loads(signal)["result_data"] == SORTED
