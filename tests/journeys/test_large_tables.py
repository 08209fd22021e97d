"""Tables of megabytes in a request: taken at every door, stored once, and nobody carries their rows any further."""

from __future__ import annotations

import json
from typing import Any

from laneway.llm.offline import OfflineModel
from tests.journeys.redis_queue import Producer, until
from tests.journeys.tables_asked import CHEAPEST, PLAN
from tests.journeys.tooling import Start
from tests.web.conftest import Door, counts


def flights(count: int = 90_000) -> list[dict[str, Any]]:
    """All of them are about 9 MB of JSON; made where they are needed, so that no worker keeps them."""
    return [{"flight": f"F{number}", "price": (number * 7919) % 100_003, "note": "x" * 60} for number in range(count)]


LOWEST = sorted((number * 7919) % 100_003 for number in range(90_000))[:2]
JSON = {"content-type": "application/json"}
DEEP = "[" * 80 + "1" + "]" * 80


def refused() -> list[tuple[int, str, str]]:
    """The status, what is said, and the body."""
    return [
        (413, "The table t is larger than 10 MB", json.dumps({"tables": {"t": [{"x": "y" * 1000}] * 10_500}})),
        (413, "longer than", json.dumps({"tables": {"t": [{"x": "y" * 1000}] * 14_000}})),
        (413, "Beside its tables the request has", json.dumps({"context": {"notes": ["y" * 1000] * 3_000}})),
        (400, "nested too deeply", f'{{"tables": {{"t": [{{"x": {DEEP}}}]}}}}'),
        (400, "no object", '{"tables": {"t": [1, {"a": 1}]}}'),
        (400, "no object", json.dumps({"tables": {"t": flights(5000), "u": [1, {"a": 1}]}})),
        (400, "`job_id`", json.dumps({"tables": {"t": flights(5000)}, "job_id": ""})),
        (400, "neither", json.dumps({"tables": {"t": flights(5000)}, "prompt": ""})),
        (400, "`tables` holds a NUL", json.dumps({"tables": {"t": [{"x": "\x00"}] * 20_000}})),
        (400, "`tables.t.1.a` holds a ", '{"tables": {"t": [{"a": 1}, {"a": "\\u0000"}]}}'),
        (400, "`tables.t.0.a` holds a ", '{"tables": {"t": [{"a": 1e999}]}}'),
        (400, "`prompt` holds a ", '{"prompt": "sort\\u0000by a"}'),
    ]


def prices(shape: dict[str, Any]) -> list[int]:
    return [row["price"] for row in shape["result_preview"]["sample"]]


async def sent(door: Door, path: str, **fields: Any) -> Any:
    response = await door.http.post(path, content=json.dumps(fields).encode(), headers=JSON, timeout=120)
    assert response.status_code in (200, 202), response.text
    return response.json()


async def test_nine_megabytes_are_taken_at_every_door_and_the_job_only_points_at_them(door: Door) -> None:
    found = await sent(door, "/pipelines", plan=PLAN, tables={"flights": flights()})
    assert [row["price"] for row in found["rows"]] == LOWEST
    assert found["counts"][0] == {"step": "flights", "rows": 90_000}
    assert found["sources_of_rows"] == ["the table `flights` of the request"]
    for more in ({"tables": {"flights": flights()}}, {"context": {"previous_results": [{"rows": flights()}]}}):
        assert prices(await sent(door, "/test/chat", prompt=CHEAPEST, **more)) == LOWEST
    receipt = await sent(door, "/messages", text=CHEAPEST, lane="pipeline", tables={"flights": flights()})
    assert prices((await door.until(receipt["job_id"]))["result"]) == LOWEST
    form = {"text": CHEAPEST, "lane": "pipeline", "tables": json.dumps({"flights": flights(5000)})}
    receipt = await door.post("/messages", 202, data=form, files={"files": ("a.txt", b"hello")})
    found = (await door.until(receipt["job_id"]))["result"]
    assert prices(found) == sorted(row["price"] for row in flights(5000))[:2]
    for job in (await door.get("/jobs"))["items"]:
        assert len(json.dumps(job)) < 5_000, "no rows in it"


async def test_of_a_large_result_the_first_rows_and_cells_are_shown_and_all_are_kept(door: Door) -> None:
    plan = {"steps": [{"do": "sort", "by": [{"column": "price"}]}]}
    found = await sent(door, "/pipelines", plan=plan, tables={"flights": flights(6000)})
    assert len(found["rows"]) == 1000
    assert found["result_preview"]["row_count"] == 6000
    whole = await door.http.get(f"/artifacts/{found['result_ref'].rpartition('/')[2]}")
    assert [json.loads(line) for line in whole.content.splitlines()[:1000]] == found["rows"]
    wide = [{f"c{column}": column * row for column in range(1000)} for row in range(300)]
    first = {"steps": [{"do": "limit", "count": 2}]}
    found = await sent(door, "/pipelines", plan=first, tables={"wide": wide})
    assert found["result_preview"]["sample"] == [{f"c{n}": n * row for n in range(100)} for row in (0, 1)]
    whole = await door.http.get(f"/artifacts/{found['result_ref'].rpartition('/')[2]}")
    assert whole.json() == found["rows"] == wide[:2]


async def test_what_is_too_large_too_deep_or_no_table_is_refused_and_nothing_is_written(door: Door) -> None:
    before, wrong = counts(door.database_url), []
    for status, said, body in refused():
        asked = body if '"prompt"' in body else body.replace("{", f'{{"prompt": "{CHEAPEST}", ', 1)
        for path in ("/test/chat", "/pipelines"):
            answer = await door.http.post(path, content=asked.encode(), headers=JSON)
            problem = answer.headers["content-type"] == "application/problem+json"
            if not problem or answer.status_code != status or said not in answer.text:
                wrong.append(f"{said} at {path}: {answer.status_code} {answer.text[:200]}")
    assert not wrong, "\n".join(wrong)
    assert counts(door.database_url) == before


async def test_a_sender_cannot_name_somebody_elses_artifact_as_a_table_of_its_own(door: Door) -> None:
    runner = {"laid": ["artifact://sha256/" + "0" * 64]}
    answer = await door.ask(CHEAPEST, lane="pipeline", runner=runner, tables={"f": flights(3)})
    assert "laid" not in answer["jobs"][0]["payload"]["runner"]


async def test_a_job_from_redis_brings_megabytes_however_it_comes(queue: Start[Producer]) -> None:
    settings = {"redis_stream": "jobs", "redis_tokens": True, "redis_job_bytes": 16_000_000}
    async with queue(OfflineModel(), **settings) as producer:
        # An operator, as jobs from Redis are: what it brought along it may read.
        context = {"previous_results": [{"node_id": "flights", "rows": flights()}]}
        await producer.push("list", CHEAPEST, tables={"flights": flights()})
        whole = {"job_id": "stream", "prompt": CHEAPEST, "context": context}
        await producer.redis.xadd("jobs", {"job": json.dumps(whole)})
        fields: dict[Any, Any] = {"job_id": "fields", "prompt": CHEAPEST, "context": json.dumps(context)}
        await producer.redis.xadd("jobs", fields)
        task = {"task": CHEAPEST, "context": context}
        token = {"id": "token", "run_id": "r", "to_node": "n", "metadata": task}
        await producer.redis.xadd("wf.tasks.agent", {"token": json.dumps(token)})
        for name in ("list", "stream", "fields", "token"):
            result = await producer.result(name, 60)
            assert result["status"] == "completed", (name, result)
            assert prices(result) == LOWEST
        assert max(len(json.dumps(job.payload)) for job in await producer.jobs()) < 2_000

        async def all_acknowledged() -> bool:
            return bool((await producer.redis.xpending("jobs", "agent_workers"))["pending"] == 0)

        await until(all_acknowledged)


async def test_a_large_job_that_is_none_is_buried_and_its_sender_told(queue: Start[Producer]) -> None:
    async with queue(OfflineModel(), redis_owners={"somebody": "else"}) as producer:
        await producer.push("bad", CHEAPEST, tables={"flights": [*flights(5000), 5]})
        await producer.push("whose", CHEAPEST, tables={"flights": flights(5000)}, workflow_owner="nobody")
        error = (await producer.result("bad"))["error"]
        assert (error["type"], error["retryable"]) == ("malformed", False)
        assert "Row 5,001 of flights is no object" in error["message"]
        assert (await producer.result("whose"))["error"]["type"] == "unknown-owner"
        # Whoever waits for the result is told of it before it is buried.
        await producer.settled()
        assert {letter["job_id"] for letter in await producer.dead()} == {"bad", "whose"}
        async with producer.home.app.db.transaction() as tx:
            assert await (await tx.execute("SELECT 1 FROM artifacts")).fetchall() == []


async def test_all_rows_of_a_large_result_are_told_to_whoever_runs_the_workflow(queue: Start[Producer]) -> None:
    async with queue(OfflineModel(), redis_tokens=True) as producer:
        plan = {"steps": [{"do": "sort", "by": [{"column": "price"}]}]}
        tables = {"flights": flights(6000)}
        await producer.push("j", "sort by price", tables=tables, run_id="r", node_id="n", plan=plan)
        assert (await producer.result("j", 60))["result_preview"]["row_count"] == 6000
        [raw] = await producer.redis.lrange("completion_signals", 0, -1)
        assert [row["price"] for row in json.loads(raw)["result_data"]] == sorted(r["price"] for r in flights(6000))
