"""Lists and streams on a real Redis: what is taken is kept until it is let go, and the dead leave nothing behind."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence

import pytest
from redis.asyncio import Redis

from laneway.channels.redis_queue.job_message import Unreadable
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
    assert told == [None, None, "good"]
