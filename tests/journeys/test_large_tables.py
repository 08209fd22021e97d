"""Tables of megabytes in a request: taken at every door, stored once, and nobody carries their rows any further."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from laneway.llm.offline import OfflineModel
from tests.journeys.redis_queue import producing
from tests.journeys.tables_asked import CHEAPEST, PLAN, offline
from tests.web.conftest import Door, Open, counts

LARGE: list[dict[str, Any]] = [
    {"flight": f"F{number}", "price": (number * 7919) % 100_003, "note": "x" * 60} for number in range(90_000)
]
"""About 9 MB of JSON."""
LOWEST = [row["price"] for row in sorted(LARGE, key=lambda row: row["price"])[:2]]
JSON = {"content-type": "application/json"}


def prices(shape: dict[str, Any]) -> list[int]:
    return [row["price"] for row in shape["result_preview"]["sample"]]


async def sent(door: Door, path: str, **fields: Any) -> Any:
    response = await door.http.post(path, content=json.dumps(fields).encode(), headers=JSON, timeout=120)
    assert response.status_code in (200, 202), response.text
    return response.json()


async def test_nine_megabytes_are_taken_at_every_door_and_the_job_only_points_at_them(opened: Open) -> None:
    async with opened(offline()) as door:
        found = await sent(door, "/pipelines", plan=PLAN, tables={"flights": LARGE})
        assert [row["price"] for row in found["rows"]] == LOWEST
        assert found["counts"][0] == {"step": "flights", "rows": 90_000}
        assert found["sources_of_rows"] == ["the table `flights` of the request"]
        for more in ({"tables": {"flights": LARGE}}, {"context": {"previous_results": [{"rows": LARGE}]}}):
            assert prices(await sent(door, "/test/chat", prompt=CHEAPEST, **more)) == LOWEST
        receipt = await sent(door, "/messages", text=CHEAPEST, lane="pipeline", tables={"flights": LARGE})
        assert prices((await door.until(receipt["job_id"]))["result"]) == LOWEST
        for job in (await door.get("/jobs"))["items"]:
            assert len(json.dumps(job)) < 5_000, "no rows in it"


async def test_a_form_brings_large_tables_beside_its_files(opened: Open) -> None:
    async with opened(offline()) as door:
        form = {"text": CHEAPEST, "lane": "pipeline", "tables": json.dumps({"flights": LARGE[:5000]})}
        receipt = await door.post("/messages", 202, data=form, files={"files": ("a.txt", b"hello")})
        assert prices((await door.until(receipt["job_id"]))["result"]) == sorted(r["price"] for r in LARGE[:5000])[:2]
        form["tables"] = '{"flights": [' + "1," * 100_000 + '1]}, "lane": "answer"'
        wrong = await door.post("/messages", 400, data=form, files={"files": ("a.txt", b"hello")})
        assert "`tables` is not valid JSON" in wrong["detail"]


async def test_a_large_result_comes_with_its_first_thousand_rows(opened: Open) -> None:
    async with opened(offline()) as door:
        plan = {"steps": [{"do": "sort", "by": [{"column": "price"}]}]}
        found = await sent(door, "/pipelines", plan=plan, tables={"flights": LARGE})
        assert len(found["rows"]) == 1000
        assert found["result_preview"]["row_count"] == 90_000
        whole = await door.http.get(f"/artifacts/{found['result_ref'].rpartition('/')[2]}")
        assert [json.loads(line) for line in whole.content.splitlines()[:1000]] == found["rows"]


async def test_of_a_wide_table_the_first_cells_are_shown_and_all_are_kept(opened: Open) -> None:
    wide = [{f"c{column}": column * row for column in range(1000)} for row in range(300)]
    async with opened(offline()) as door:
        plan = {"steps": [{"do": "limit", "count": 2}]}
        found = await sent(door, "/pipelines", plan=plan, tables={"wide": wide})
        assert found["result_preview"]["sample"] == [{f"c{n}": n * row for n in range(100)} for row in (0, 1)]
        whole = await door.http.get(f"/artifacts/{found['result_ref'].rpartition('/')[2]}")
        assert whole.json() == found["rows"] == wide[:2]


@pytest.mark.parametrize(
    ("fields", "status", "said"),
    [
        ({"tables": {"t": [{"x": "y" * 1000}] * 10_500}}, 413, "The table t is larger than 10 MB"),
        ({"tables": {"t": [{"x": "y" * 1000}] * 14_000}}, 413, "longer than"),
        ({"context": {"notes": ["y" * 1000] * 3_000}}, 413, "Beside its tables the request has"),
        ({"tables": {"t": LARGE[:5000], "u": [1, {"a": 1}]}}, 400, "no object"),
        ({"tables": {"t": LARGE[:5000]}, "job_id": ""}, 400, "`job_id`"),
        ({"tables": {"t": LARGE[:5000]}, "prompt": ""}, 400, "neither"),
        ({"tables": {"t": [{"x": "\x00"}] * 20_000}}, 400, "`tables` holds a NUL"),
    ],
    ids=["a table", "a request", "all else", "no table", "a wrong field", "no words", "a NUL"],
)
async def test_what_is_too_large_or_wrong_is_refused_and_nothing_is_written(
    opened: Open, database_url: str, fields: dict[str, Any], status: int, said: str
) -> None:
    async with opened(offline()) as door:
        before = counts(database_url)
        body = json.dumps({"prompt": CHEAPEST, **fields}).encode()
        for path in ("/test/chat", "/pipelines"):
            refused = await door.http.post(path, content=body, headers=JSON)
            assert (refused.status_code, refused.headers["content-type"]) == (status, "application/problem+json")
            assert said in refused.json()["detail"]
        assert counts(database_url) == before


async def test_a_sender_cannot_name_somebody_elses_artifact_as_a_table_of_its_own(opened: Open) -> None:
    async with opened(offline()) as door:
        runner = {"laid": ["artifact://sha256/" + "0" * 64]}
        answer = await door.ask(CHEAPEST, lane="pipeline", runner=runner, tables={"f": LARGE[:3]})
        assert "laid" not in answer["jobs"][0]["payload"]["runner"]


@pytest.mark.parametrize("way", ["list", "stream", "fields", "token"])
async def test_a_job_from_redis_brings_megabytes_however_it_comes(
    redis_url: str, database_url: str, tmp_path: Path, way: str
) -> None:
    more: dict[str, Any] = {"redis_stream": "jobs", "redis_tokens": True, "redis_job_bytes": 16_000_000}
    async with producing(redis_url, database_url, tmp_path, OfflineModel(), **more) as producer:
        # An operator, as jobs from Redis are: what it brought along it may read.
        context = {"previous_results": [{"node_id": "flights", "rows": LARGE}]}
        job: dict[Any, Any] = {"job_id": "j", "prompt": CHEAPEST}
        if way == "list":
            await producer.push("j", CHEAPEST, tables={"flights": LARGE})
        elif way == "stream":
            await producer.redis.xadd("jobs", {"job": json.dumps({**job, "context": context})})
        elif way == "fields":
            await producer.redis.xadd("jobs", {**job, "context": json.dumps(context)})
        else:
            token = {"id": "j", "run_id": "r", "to_node": "n", "metadata": {"task": CHEAPEST, "context": context}}
            await producer.redis.xadd("wf.tasks.agent", {"token": json.dumps(token)})
        result = await producer.result("j", 60)
        assert result["status"] == "completed", result
        assert prices(result) == LOWEST
        [stored] = await producer.jobs()
        assert len(json.dumps(stored.payload)) < 2_000


async def test_a_large_job_that_is_none_is_buried_and_its_sender_told(
    redis_url: str, database_url: str, tmp_path: Path
) -> None:
    async with producing(redis_url, database_url, tmp_path, OfflineModel()) as producer:
        before = counts(database_url)["artifacts"]
        bad = {"prompt": CHEAPEST, "tables": {"flights": [*LARGE[:5000], 5]}, "job_id": "bad"}
        await producer.redis.rpush("agent:jobs", json.dumps(bad))
        await producer.push("whose", CHEAPEST, tables={"flights": LARGE[:5000]}, workflow_owner="nobody")
        error = (await producer.result("bad"))["error"]
        assert (error["type"], error["retryable"]) == ("malformed", False)
        assert "Row 5,001 of flights is no object" in error["message"]
        assert (await producer.result("whose"))["error"]["type"] == "unknown-owner"
        # Whoever waits for the result is told of it before it is buried.
        await producer.settled()
        assert {letter["job_id"] for letter in await producer.dead()} == {"bad", "whose"}
        assert counts(database_url)["artifacts"] == before


async def test_all_rows_of_a_large_result_are_told_to_whoever_runs_the_workflow(
    redis_url: str, database_url: str, tmp_path: Path
) -> None:
    async with producing(redis_url, database_url, tmp_path, OfflineModel(), redis_tokens=True) as producer:
        await producer.push(
            "j", "sort by price", tables={"flights": LARGE[:6000]}, run_id="r", node_id="n",
            plan={"steps": [{"do": "sort", "by": [{"column": "price"}]}]},
        )  # fmt: skip
        assert (await producer.result("j", 60))["result_preview"]["row_count"] == 6000
        [raw] = await producer.redis.lrange("completion_signals", 0, -1)
        assert [row["price"] for row in json.loads(raw)["result_data"]] == sorted(r["price"] for r in LARGE[:6000])
