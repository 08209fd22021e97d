"""What monitors ask: life, readiness, figures, logs, and the description of the API itself."""

from __future__ import annotations

from uuid import uuid4

import pytest
from prometheus_client.parser import text_string_to_metric_families

from laneway.web.auth import PUBLIC, SIGNED
from tests.web.conftest import Door


async def figures(door: Door) -> dict[tuple[str, ...], float]:
    response = await door.http.get("/metrics")
    assert response.headers["content-type"].startswith("text/plain")
    families = text_string_to_metric_families(response.text)
    return {(s.name, *s.labels.values()): s.value for family in families for s in family.samples}


async def test_metrics_and_the_status_say_how_things_stand(own_door: Door) -> None:
    door = own_door
    await door.ask("how full is the disk?")
    await door.get("/nowhere", 404)
    async with door.watching(since="start") as stream:
        await anext(stream)
        found = await figures(door)
    expected: dict[tuple[str, ...], float] = {
        ("laneway_jobs", "done"): 1, ("laneway_jobs", "failed"): 0, ("laneway_messages", "user"): 1,
        ("laneway_replies", "sent"): 1, ("laneway_workers_alive",): 1, ("laneway_oldest_queued_seconds",): 0,
        ("laneway_ledger_cost_today_usd",): 0, ("laneway_classifications", "rules"): 1,
        ("laneway_classification_confidence", "0.9"): 1, ("laneway_classifications_corrected",): 0,
        ("laneway_http_requests_total", "POST", "/messages", "202"): 1,
        ("laneway_http_requests_total", "GET", "none", "404"): 1, ("laneway_http_seconds_count", "/messages"): 1,
        ("laneway_event_watchers",): 1,
    }  # fmt: skip
    assert {name: found.get(name) for name in expected} == expected
    assert found["laneway_ledger_tokens_today",] > 0
    assert found["laneway_memory_bytes",] > 10_000_000
    status = await door.get("/status")
    assert (status["model"], status["jobs"], status["today"]["cap_usd"]) == ("scripted", {"done": 1}, 5.0)
    assert len(status["workers"]) == 1
    assert status["memory_mb"] > 10


async def test_the_log_is_read_from_its_end_and_followed(door: Door) -> None:
    assert await door.get("/logs") == {"lines": [], "next": 0}
    log, job = door.home / "laneway.log", uuid4()
    log.write_bytes(f"one\ntwo {job}\nthree ü\n".encode())
    assert (await door.get("/logs", lines=2))["lines"] == [f"two {job}", "three ü"]
    assert (await door.get("/logs", job=str(job)))["lines"] == [f"two {job}"]
    end = (await door.get("/logs"))["next"]
    with log.open("a") as file:
        file.write("four\n\nhalf")
    followed = await door.get("/logs", after=end)
    assert followed["lines"] == ["four", ""]
    with log.open("a") as file:
        file.write(" a line\n")
    assert (await door.get("/logs", after=followed["next"]))["lines"] == ["half a line"]
    log.write_text("anew\n")
    assert (await door.get("/logs", after=followed["next"])) == {"lines": ["anew"], "next": 5}


async def test_every_route_is_described(door: Door) -> None:
    schema = await door.get("/openapi.json")
    operations = [(path, method, op) for path, methods in schema["paths"].items() for method, op in methods.items()]
    assert len(operations) >= 22
    for path, method, operation in operations:
        assert operation["summary"], (method, path)
        assert operation["responses"]["default"]["content"]["application/problem+json"]
        bare = path in PUBLIC or path.startswith(SIGNED)
        assert bool(operation["security"]) != bare, "webhooks bring signatures, not keys"
    body = schema["paths"]["/messages"]["post"]["requestBody"]["content"]
    assert set(body) == {"application/json", "multipart/form-data"}


async def test_an_unexpected_error_shows_no_innards_and_is_logged(
    own_door: Door, caplog: pytest.LogCaptureFixture
) -> None:
    own_door.rows("ALTER TABLE outbox RENAME TO elsewhere")
    problem = await own_door.get("/outbox", 500)
    assert (problem["code"], problem["title"]) == ("internal", "Internal Server Error")
    assert [word for word in ("outbox", "psycopg") if word in problem["detail"] + problem["hint"]] == []
    (record,) = [record for record in caplog.records if record.name == "laneway.web"]
    reference = problem["hint"].rpartition(" ")[2].rstrip(".")
    assert reference in record.getMessage()
    assert record.exc_info is not None
