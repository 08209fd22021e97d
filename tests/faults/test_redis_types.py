"""Keys of ours that hold something of another type: nothing is lost, nothing is asked all the time, and it is told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx
import pytest
from pydantic import SecretStr
from redis.asyncio import Redis

from laneway.channels.redis_queue.publishing import Publisher
from laneway.errors import TransientFault
from laneway.store import outbox
from tests.journeys.redis_queue import Producer, producing, until
from tests.serving import serving

RESULT = {"job_id": "j", "status": "completed"}


@pytest.mark.parametrize("key", ["agent:results:j", "completion_signals", "agent:published:j"])
async def test_a_result_is_written_whole_or_not_at_all(
    key: str, redis_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with Redis.from_url(redis_url) as client:
        publisher = Publisher(client, 60)
        await client.hset(key, "x", "y")
        for _ in range(2):
            with pytest.raises(TransientFault, match=f"`{key}` is a hash where"):
                await publisher.publish(RESULT, {"run_id": "r"}, "1")
        assert await client.keys("*") == [key.encode()]
        assert f"`{key}` is a hash where" in caplog.text
        await client.delete(key)
        assert await publisher.publish(RESULT, {"run_id": "r"}, "1") is True
        assert await publisher.publish(RESULT, {"run_id": "r"}, "1") is False
        assert await client.llen("agent:results:j") == await client.llen("completion_signals") == 1
        assert 0 < await client.ttl("agent:results:j") <= 60 < await client.ttl("agent:published:j")


async def test_a_result_whose_key_is_of_another_type_waits_and_comes_when_the_key_is_free(
    redis_url: str, database_url: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with producing(redis_url, database_url, tmp_path) as producer:
        for name in ("wt1", "wt2"):
            await producer.redis.set(f"agent:results:{name}", "x")
        await producer.push("wt1")
        # One that is refused waits as well, and keeps no other that is refused waiting.
        await producer.push("wt2", version="2.0")
        await producer.push("wt3", version="2.0")
        assert (await producer.result("wt3"))["error"]["type"] == "unsupported-version"
        errors = await until(lambda: _waiting(producer, 2))
        assert sorted(error.split("`")[1] for error in errors) == ["agent:results:wt1", "agent:results:wt2"]
        assert "`agent:results:wt1` is a string where a list must be" in caplog.text
        assert not await producer.redis.exists("agent:published:wt1", "agent:published:wt2")
        await producer.redis.delete("agent:results:wt1", "agent:results:wt2")
        assert (await producer.result("wt1"))["status"] == "completed"
        assert (await producer.result("wt2"))["status"] == "failed"


@pytest.mark.parametrize("kind", ["list", "stream"])
async def test_a_dead_letter_waits_for_its_list_and_keeps_no_good_job_waiting(
    kind: str, redis_url: str, database_url: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with producing(redis_url, database_url, tmp_path, redis_stream="agent:stream") as producer:
        client = producer.redis

        async def put(raw: str) -> None:
            await (client.rpush("agent:jobs", raw) if kind == "list" else client.xadd("agent:stream", {"job": raw}))

        async def held() -> int:
            if kind == "list":
                return await producer.lying_about()
            return int((await client.xpending("agent:stream", "agent_workers"))["pending"])

        await client.set("agent:dead", "x")
        await put('{"job_id": "bad", "prompt": 5}')
        await put('{"prompt": "whose?"}')
        await put('{"job_id": "good", "prompt": "two and two?"}')
        assert (await producer.result("good"))["status"] == "completed"
        assert (await producer.result("bad"))["error"]["type"] == "malformed"
        await until(lambda: _is(held, 2))
        assert "`agent:dead` is a string where a list must be" in caplog.text
        assert "agent:dead" in await until(producer.home.app.channels["redis"].trouble)
        await client.delete("agent:dead")
        await until(lambda: _is(held, 0))
        assert [(one["job_id"], one["type"]) for one in await producer.dead()] == [
            ("bad", "malformed"), (None, "malformed"),
        ]  # fmt: skip


async def test_dead_letters_that_wait_outlive_the_process(redis_url: str, database_url: str, tmp_path: Path) -> None:
    async with producing(redis_url, database_url, tmp_path) as producer:
        await producer.redis.set("agent:dead", "x")
        await producer.push("bad", version="2.0")
        await producer.result("bad")
    async with producing(redis_url, database_url, tmp_path) as producer:
        await producer.redis.delete("agent:dead")
        await until(producer.dead)
        await producer.settled()
        assert [one["job_id"] for one in await producer.dead()] == ["bad"]
        assert len(await producer.results("bad")) == 1


@pytest.mark.parametrize("key", ["agent:jobs", "agent:jobs:workers", "agent:stream"])
async def test_a_source_of_another_type_is_told_as_trouble_until_it_is_right_again(
    key: str, redis_url: str, database_url: str, tmp_path: Path
) -> None:
    async with Redis.from_url(redis_url) as client:
        await client.hset(key, "x", "y")
        settings: dict[str, Any] = {"redis_url": SecretStr(redis_url), "redis_stream": "agent:stream"}
        async with (
            serving(database_url, tmp_path, **settings) as served,
            httpx.AsyncClient(base_url=served.url, timeout=30) as http,
        ):

            async def trouble() -> str:
                return str((await http.get("/health")).json()["trouble"].get("redis", ""))

            assert f"`{key}` is a hash where a" in await until(trouble)
            await client.delete(key)
            await client.rpush("agent:jobs", json.dumps({"job_id": "j", "prompt": "two and two?"}))
            await until(lambda: client.llen("agent:results:j"), 60)

            async def well() -> bool:
                return await trouble() == ""

            await until(well)


async def test_whatever_else_redis_refuses_is_told_as_trouble(
    redis_url: str, database_url: str, tmp_path: Path
) -> None:
    async with producing(redis_url, database_url, tmp_path) as producer:
        told = producer.home.app.channels["redis"].trouble
        await producer.redis.acl_setuser("default", enabled=True, commands=["-blmove"])
        try:
            assert "Nothing can be taken from agent:jobs" in await until(told)
        finally:
            await producer.redis.acl_setuser("default", enabled=True, categories=["+@all"])

        async def well() -> bool:
            return await told() is None

        await until(well)
        await producer.push("j")
        await producer.result("j")


async def _waiting(producer: Producer, count: int) -> list[str]:
    """Why results wait in the outbox, once so many do."""
    async with producer.home.app.db.transaction() as tx:
        errors = [row.error for row in await outbox.page(tx) if row.state == "pending" and row.error]
    return errors if len(errors) == count else []


async def _is(found: Any, count: int) -> bool:
    return bool(await found() == count)
