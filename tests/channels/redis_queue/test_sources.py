"""Lists and streams on a real Redis: what is taken is kept until it is let go, and the dead leave nothing behind."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest
from redis.asyncio import Redis

from laneway.channels.redis_queue.job_message import Unreadable
from laneway.channels.redis_queue.keys import WrongKind
from laneway.channels.redis_queue.lists import ListSource
from laneway.channels.redis_queue.source import Entry, Source
from laneway.channels.redis_queue.streams import StreamSource


@pytest.fixture
async def redis(redis_url: str) -> AsyncIterator[Redis]:
    async with Redis.from_url(redis_url) as client:
        yield client


def source(redis: Redis, kind: str, worker: str) -> Source:
    if kind == "list":
        return ListSource(redis, kind, worker, 10_000)
    return StreamSource(redis, kind, worker, 10_000)


async def put(redis: Redis, kind: str, *names: str) -> None:
    for name in names:
        if kind == "list":
            await redis.rpush(kind, f'{{"job_id": "{name}", "prompt": "x"}}')
        else:
            await redis.xadd(kind, {"job_id": name, "prompt": "x"})


async def ids(found: Sequence[Entry], here: Source) -> list[str]:
    return [(await here.read(entry)).job_id for entry in found]


@pytest.mark.parametrize("kind", ["list", "stream"])
async def test_what_was_taken_and_not_let_go_is_found_again(redis: Redis, kind: str) -> None:
    here = source(redis, kind, "w1")
    await here.begin()
    await put(redis, kind, "a", "b", "c")
    taken = await here.take(2, 0.1)
    assert await ids(taken, here) == ["a", "b"]
    await here.release(taken[0])
    assert await ids(await here.begin(), here) == ["b"]
    assert await ids(await here.take(5, 0.1), here) == ["c"]


@pytest.mark.parametrize("kind", ["list", "stream"])
async def test_what_the_dead_letters_cannot_take_is_not_let_go(redis: Redis, kind: str) -> None:
    here = source(redis, kind, "w1")
    await here.begin()
    await put(redis, kind, "a")
    [entry] = await here.take(1, 0.1)
    await redis.set("agent:dead", "x")
    with pytest.raises(WrongKind, match="`agent:dead` is a string where a list must be"):
        await here.bury(entry, b"letter")
    assert await ids(await here.begin(), here) == ["a"]
    await redis.delete("agent:dead")
    await here.bury(entry, b"letter")
    assert await redis.lrange("agent:dead", 0, -1) == [b"letter"]
    assert await here.begin() == []


@pytest.mark.parametrize("kind", ["list", "stream"])
async def test_what_is_buried_is_buried_once(redis: Redis, kind: str) -> None:
    here = source(redis, kind, "w1")
    await here.begin()
    await put(redis, kind, "a")
    [entry] = await here.take(1, 0.1)
    await here.bury(entry, b"letter")
    await here.bury(entry, b"letter")
    assert await redis.lrange("agent:dead", 0, -1) == [b"letter"]
    assert await here.begin() == []


async def test_a_silent_workers_list_is_taken_over_and_a_living_ones_is_not(redis: Redis) -> None:
    silent, living, here = (source(redis, "list", name) for name in ("silent", "living", "here"))
    for other in (silent, living):
        await other.begin()
    await put(redis, "list", "a", "b", "c")
    await silent.take(2, 0.1)
    await living.take(1, 0.1)
    await redis.delete("list:alive:silent")
    assert await ids(await here.begin(), here) == ["a", "b"]
    assert await redis.llen("list:processing:living") == 1


async def test_a_worker_that_leaves_puts_back_what_it_had_in_its_order(redis: Redis) -> None:
    here = source(redis, "list", "w1")
    await here.begin()
    await put(redis, "list", "a", "b", "c")
    await here.take(2, 0.1)
    await here.leave()
    other = source(redis, "list", "w2")
    assert await other.begin() == []
    assert await ids(await other.take(3, 0.1), other) == ["a", "b", "c"]
    await redis.delete("list:alive:w1")
    assert await other.beat(()) == []
    assert await redis.smembers("list:workers") == {b"w2"}


async def test_a_silent_consumers_entries_are_claimed_and_those_at_hand_are_not_lost(redis: Redis) -> None:
    silent, here = source(redis, "stream", "silent"), source(redis, "stream", "here")
    await silent.begin()
    await put(redis, "stream", "a", "b")
    left, [mine] = await silent.take(1, 0.1), await here.take(1, 0.1)
    assert await here.beat([mine.key]) == []
    for name, entry in (("silent", left[0]), ("here", mine)):
        await redis.xclaim("stream", "agent_workers", name, 0, [entry.key], idle=120_000, justid=True)
    assert await ids(await here.beat([mine.key]), here) == ["a"]
    assert (await redis.xpending("stream", "agent_workers"))["pending"] == 2


async def test_a_stream_that_was_deleted_is_made_again(redis: Redis) -> None:
    here = source(redis, "stream", "w1")
    await here.begin()
    await redis.delete("stream")
    assert await here.take(1, 0.05) == []
    await put(redis, "stream", "a")
    assert await ids(await here.take(1, 0.1), here) == ["a"]


@pytest.mark.parametrize("kind", ["stream", "tokens"])
async def test_the_id_of_a_bad_entry_is_told_only_if_it_is_one(redis: Redis, kind: str) -> None:
    here = StreamSource(redis, kind, "w1", 100_000, tokens=kind == "tokens")
    await here.begin()
    for name in ("n" * 50_000, "a\nb", "good"):
        if kind == "stream":
            await redis.xadd(kind, {"job_id": name, "prompt": "x", "context": "{"})
        else:
            await redis.xadd(kind, {"token": json.dumps({"id": name, "metadata": 1})})
    told = []
    for entry in await here.take(3, 0.1):
        with pytest.raises(Unreadable) as bad:
            await here.read(entry)
        told.append(bad.value.job_id)
    assert told == [None, "a\nb", "good"]


async def test_fields_of_an_entry_that_are_json_are_read_as_such_and_others_stay_texts(redis: Redis) -> None:
    here = source(redis, "stream", "w1")
    await here.begin()
    given: dict[Any, Any] = {
        "job_id": "[1]", "task": '{"what": "is this"}', "tables": '{"crates": [{"kg": 2}]}', "timeout_sec": "30",
        "current_workflow": '{"nodes": []}', "context": '{"previous_results": [[{"a": 1}]], "note": "a\\u0000b"}',
        "plan": ' {"steps": []}', "labels": '["x"]', "hint": "[see above", "size": "7", "workflow_owner": "[ann]",
    }  # fmt: skip
    await redis.xadd("stream", given)
    [entry] = await here.take(1, 0.1)
    job = await here.read(entry)
    assert (job.job_id, job.prompt, job.named) == ("[1]", '{"what": "is this"}', {"workflow_owner": "[ann]"})
    assert (job.current_workflow, job.previous_results, job.timeout_sec) == ({"nodes": []}, [[{"a": 1}]], 30)
    assert job.context == {"note": "a\N{REPLACEMENT CHARACTER}b"}
    assert job.more == {
        "tables": {"crates": [{"kg": 2}]}, "plan": {"steps": []}, "labels": ["x"], "hint": "[see above", "size": "7",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"tables": "{"}, "`tables` is no valid JSON"),
        ({"plan": "sort"}, "`plan` is no valid JSON"),
        ({"labels": "[" * 70 + "]" * 70}, "nested more than 64 levels"),
    ],
)
async def test_fields_of_an_entry_that_should_be_json_are_named(
    redis: Redis, fields: dict[Any, Any], says: str
) -> None:
    here = source(redis, "stream", "w1")
    await here.begin()
    await redis.xadd("stream", {"job_id": "j", "prompt": "x", **fields})
    [entry] = await here.take(1, 0.1)
    with pytest.raises(Unreadable) as bad:
        await here.read(entry)
    assert says in bad.value.reason
    assert bad.value.job_id == "j"


async def test_a_large_table_in_a_field_of_its_own_is_taken_out(redis: Redis) -> None:
    here = StreamSource(redis, "stream", "w1", 1_000_000)
    await here.begin()
    rows = [{"crate": number, "note": "x" * 100} for number in range(2000)]
    await redis.xadd("stream", {"job_id": "j", "prompt": "x", "tables": json.dumps({"crates": rows})})
    [entry] = await here.take(1, 0.1)
    job = await here.read(entry)
    assert [job.more["tables"]["crates"]] == [table.ref for table in job.tables]


async def test_a_worker_that_lives_again_is_not_forgotten_by_one_that_just_took_it_for_dead(redis: Redis) -> None:
    back, here = (ListSource(redis, "list", name, 10_000) for name in ("back", "here"))
    await back.begin()
    await redis.delete("list:alive:back")
    known = await here.beat(())
    await back.beat(())
    # Whoever had seen the silence goes on only now.
    assert (known, await here.take_over("back")) == ([], [])
    await put(redis, "list", "a")
    await back.take(1, 0.1)
    await redis.delete("list:alive:back")
    assert await ids(await here.beat(()), here) == ["a"]


async def test_a_job_that_comes_as_a_worker_leaves_is_found_however_late_redis_hears_of_its_leaving(
    redis: Redis,
) -> None:
    here, other = source(redis, "list", "w1"), source(redis, "list", "w2")
    await here.begin()
    # Whoever leaves has given this up; until Redis has noticed, the question stands there.
    asked = asyncio.create_task(here.take(1, 1.0))
    async with asyncio.timeout(20):
        while not any(client["cmd"] == "blmove" for client in await redis.client_list()):
            await asyncio.sleep(0.01)
    await here.leave()
    await put(redis, "list", "a")
    await asked
    await other.begin()
    async with asyncio.timeout(20):
        while not (found := [*await other.beat(()), *await other.take(1, 0.1)]):
            await asyncio.sleep(0.1)
    assert await ids(found, other) == ["a"]
