"""How jobs from Redis end: failed, refused, decided by a person, cancelled or too late; each has one result."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from starlette.responses import JSONResponse

from laneway.domain.job import JobStatus
from laneway.domain.judgement import ApprovalState
from laneway.llm.scripted import Delay, Say, ScriptedModel
from laneway.store import jobs, outbox
from tests.journeys.redis_queue import Producer, producing, until
from tests.journeys.test_approval import answer, asked
from tests.journeys.tooling import Start, too_late
from tests.servers.pages import Pages


@pytest.fixture
def shop() -> Iterator[Pages]:
    """A server that sells one thing, and only to those who post."""
    with Pages(pages={"/offer": JSONResponse([{"price": 80}])}) as pages:
        yield pages


@asynccontextmanager
async def selling(
    redis_url: str, database_url: str, home: Path, shop: Pages, **more: Any
) -> AsyncIterator[tuple[Producer, dict[str, Any]]]:
    """Laneway, and a plan that needs somebody's yes."""
    plan = {"steps": [{"do": "http_request", "url": f"{shop.url}/offer", "method": "POST", "body": {"q": 1}}]}
    hosts = [f"127.0.0.1:{shop.port}"]
    async with producing(redis_url, database_url, home, allowed_hosts=hosts, **more) as producer:
        yield producer, plan


async def test_a_job_that_asks_says_that_it_waits_until_it_is_decided(
    redis_url: str, database_url: str, tmp_path: Path, shop: Pages
) -> None:
    async with selling(redis_url, database_url, tmp_path, shop) as (producer, plan):
        here = producer.home
        await here.send("hello", "mine")
        for number, (name, error) in enumerate([("yes", None), ("no", "rejected"), ("late", "expired")], 1):
            await producer.push(name, "ask the shop", plan=plan)
            job = await until(partial(producer.job, name))
            question = await asked(here, job.id)
            told = await until(partial(_notices, producer, number))
            assert f":{name}) asks; here a button or a command answers it." in told[-1]
            assert str(question.id) in told[-1]
            [waiting] = await until(partial(producer.results, name))
            assert (waiting["version"], waiting["job_id"], waiting["status"]) == ("1.0", name, "waiting")
            assert waiting["approval"]["id"] == str(question.id)
            assert set(waiting["approval"]) == {"id", "why", "text", "choices", "deadline"}
            if error == "expired":
                await too_late(database_url)
            else:
                await answer(here, question, ApprovalState.REJECTED if error else ApprovalState.APPROVED)
            result = await producer.result(name)
            assert result["status"] == ("failed" if error else "completed")
            assert (result.get("error", {}).get("type"), result.get("error", {}).get("retryable", False)) == (
                error,
                False,
            )
            assert len(shop.visits) == 1


async def _notices(producer: Producer, count: int) -> list[str]:
    found = await producer.notices()
    return found if len(found) == count else []


async def test_a_cancelled_job_is_a_failed_result_whenever_it_was_cancelled(
    redis_url: str, database_url: str, tmp_path: Path, shop: Pages
) -> None:
    model = ScriptedModel(lambda asked: Delay(Say("late"), 60))
    async with selling(redis_url, database_url, tmp_path, shop, model=model) as (producer, plan):
        session = {"session_id": "s"}
        await producer.push("running", "what is slow?", context=session)
        await producer.push("queued", "what is next?", context=session)
        await producer.push("waiting", "ask the shop", plan=plan)
        for when in (JobStatus.WAITING, JobStatus.QUEUED, JobStatus.RUNNING):
            job = await until(partial(producer.job, when, when))
            async with producer.home.app.db.transaction() as tx:
                await jobs.request_cancel(tx, job.id)
            result = await producer.result(when)
            assert (result["status"], result["error"]["type"]) == ("failed", "cancelled"), when


async def test_a_job_that_takes_longer_than_its_time_fails_and_ends(queue: Start[Producer]) -> None:
    model = ScriptedModel(lambda asked: Delay(Say("late"), 60))
    async with queue(model) as producer:
        await producer.push("slow", "how long does this take?", timeout_sec=0.7)
        result = await producer.result("slow")
        assert result["error"]["type"] == "timeout"
        assert result["error"]["retryable"] is True
        [job] = await producer.jobs()
        assert job.status is JobStatus.FAILED


BAD: list[tuple[str, bytes, str | None, str]] = [
    ("not JSON", b'{"job_id": "a", oops', "a", "malformed"),
    ("no object", b'["job_id", "b"]', None, "malformed"),
    ("no id", b'{"prompt": "hello?"}', None, "malformed"),
    ("no prompt", b'{"job_id": "c"}', "c", "malformed"),
    ("a number as prompt", b'{"job_id": "d", "prompt": 4}', "d", "malformed"),
    ("a list as context", b'{"job_id": "e", "prompt": "x", "context": []}', "e", "malformed"),
    ("no UTF-8", b'{"job_id": "f", "prompt": "\xff\xfe"}', "f", "malformed"),
    ("nested too deep", b'{"job_id": "g", "prompt": "x", "m": ' + b"[" * 500 + b"]" * 500 + b"}", "g", "malformed"),
    ("nested beyond all", b'{"job_id": "h", "m": ' + b"[" * 90_000 + b"]" * 90_000 + b"}", "h", "malformed"),
    ("version 2", b'{"version": "2.0", "job_id": "i", "prompt": "x"}', "i", "unsupported-version"),
    ("ten megabytes", b'{"job_id": "j", "prompt": "' + b"x" * 10_000_000 + b'"}', "j", "too-large"),
    ("a long prompt", b'{"job_id": "k", "prompt": "' + b"x" * 300_000 + b'"}', "k", "too-large"),
    ("a long id", b'{"job_id": "' + b"m" * 130 + b'", "prompt": "x"}', "m" * 130, "malformed"),
    ("a newline in the id", b'{"job_id": "n\\nn", "prompt": "x"}', "n\nn", "malformed"),
    ("an id beyond all", b'{"job_id": "' + b"o" * 513 + b'", "prompt": "x"}', None, "malformed"),
    ("a copy of a good job", b'{"job_id": "good", "prompt": 5}', "good", "malformed"),
    ("an endless time", b'{"job_id": "l", "prompt": "x", "timeout_sec": 1e99}', "l", "malformed"),
]


async def test_what_is_no_job_lies_with_the_dead_and_has_a_failed_result_where_that_is_possible(
    queue: Start[Producer],
) -> None:
    async with queue() as producer:
        await producer.push("good")
        for _, raw, _, _ in BAD:
            await producer.redis.rpush("agent:jobs", raw)
        await producer.push("better")
        assert (await producer.result("better"))["status"] == "completed"
        await producer.settled()
        dead = await producer.dead()
        assert [one["type"] for one in dead] == [kind for _, _, _, kind in BAD]
        assert [one["job_id"] for one in dead] == [job_id for _, _, job_id, _ in BAD]
        assert all(one["reason"] for one in dead)
        assert [one["bytes"] for one in dead] == [len(raw) for _, raw, _, _ in BAD]
        for name, _, job_id, kind in BAD:
            if job_id not in (None, "good"):
                result = await producer.result(job_id)
                assert (result["status"], result["error"]["type"]) == ("failed", kind), name
        assert (await producer.result("good"))["status"] == "completed", "a broken copy takes nothing from it"
        assert len(await producer.jobs()) == 2


async def test_only_the_final_answer_is_a_result(queue: Start[Producer]) -> None:
    async with queue() as producer:
        await producer.push("j", context={"session_id": "s"})
        await producer.result("j")
        [job] = await producer.jobs()
        async with producer.home.app.db.transaction() as tx:
            for meta in ({"notice": "late-edit"}, {"schedule": "x"}, {}):
                await outbox.write(tx, job.thread_id, "Remember!", external_id=f"n{meta}", pulled=(), meta=meta)

        async def all_sent() -> bool:
            async with producer.home.app.db.transaction() as tx:
                return all(row.state == "sent" for row in await outbox.page(tx))

        await until(all_sent)
        assert len(await producer.results("j")) == 1
        assert [key async for key in producer.redis.scan_iter("agent:results:*")] == [b"agent:results:j"]
