"""What monitors ask: life, readiness, figures, logs, and the description of the API itself."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from prometheus_client.parser import text_string_to_metric_families

from laneway.app import Parts
from laneway.web.auth import PUBLIC, SIGNED
from tests.web.conftest import Door, Open


async def figures(door: Door) -> dict[tuple[str, ...], float]:
    response = await door.http.get("/metrics")
    assert response.headers["content-type"].startswith("text/plain")
    families = text_string_to_metric_families(response.text)
    return {(s.name, *s.labels.values()): s.value for family in families for s in family.samples}


async def test_metrics_parse_and_count(door: Door) -> None:
    await door.ask("how full is the disk?")
    await door.get("/nowhere", 404)
    found = await figures(door)
    assert found["laneway_jobs", "done"] == 1
    assert found["laneway_jobs", "failed"] == 0
    assert found["laneway_messages", "user"] == 1
    assert found["laneway_replies", "sent"] == 1
    assert found["laneway_workers_alive",] == 1
    assert found["laneway_oldest_queued_seconds",] == 0
    assert found["laneway_ledger_tokens_today",] > 0
    assert found["laneway_ledger_cost_today_usd",] == 0
    assert found["laneway_memory_bytes",] > 10_000_000
    assert found["laneway_classifications", "rules"] == 1
    assert found["laneway_classification_confidence", "0.9"] == 1
    assert found["laneway_classifications_corrected",] == 0
    assert found["laneway_http_requests_total", "POST", "/messages", "202"] == 1
    assert found["laneway_http_requests_total", "GET", "none", "404"] == 1
    assert found["laneway_http_seconds_count", "/messages"] == 1


async def test_watchers_are_counted(door: Door) -> None:
    async with door.watching() as stream:
        await door.ask("hello?")
        await anext(stream)
        assert (await figures(door))["laneway_event_watchers",] == 1


async def test_status_says_how_things_stand(door: Door) -> None:
    await door.ask("how full is the disk?")
    status = await door.get("/status")
    assert status["model"] == "scripted"
    assert status["jobs"] == {"done": 1}
    assert status["today"]["cap_usd"] == 5.0
    assert len(status["workers"]) == 1
    assert status["memory_mb"] > 10


async def test_the_log_is_read_from_its_end_and_followed(door: Door, tmp_path: Path) -> None:
    assert await door.get("/logs") == {"lines": [], "next": 0}
    log, job = tmp_path / "laneway.log", uuid4()
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


async def test_only_the_end_of_a_long_log_is_read(door: Door, tmp_path: Path) -> None:
    (tmp_path / "laneway.log").write_text("".join(f"line {number}\n" for number in range(200_000)))
    found = await door.get("/logs", lines=3)
    assert found["lines"] == ["line 199997", "line 199998", "line 199999"]


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
    assert _references(schema) <= {f"#/components/schemas/{name}" for name in schema["components"]["schemas"]}


def _references(value: Any) -> set[str]:
    if isinstance(value, dict):
        own = {value["$ref"]} if isinstance(value.get("$ref"), str) else set()
        return own.union(*(_references(inner) for inner in value.values()))
    return set().union(*(_references(inner) for inner in value)) if isinstance(value, list) else set()


@pytest.mark.alone
async def test_an_answer_does_not_wait_for_the_network_to_acknowledge(door: Door) -> None:
    took = []
    for _ in range(30):
        began = time.perf_counter()
        await door.get("/health")
        took.append(time.perf_counter() - began)
    # A server that writes small packets without TCP_NODELAY needs 40 ms for each.
    assert sorted(took)[15] < 0.03


async def test_without_a_model_key_the_offline_model_answers(opened: Open) -> None:
    async with opened(Parts()) as door:
        assert (await door.get("/status"))["model"].startswith("offline")
        message = await door.ask("how much disk space is left?")
        why = await door.get(f"/messages/{message['id']}/why")
    assert message["replies"][0]["text"]
    assert {call["provider"] for call in why["jobs"][0]["model_calls"]} == {"offline"}
