"""The Redis of the test-suite is real: lists move atomically, streams have consumer groups."""

from __future__ import annotations

import redis


def test_a_list_entry_moves_to_a_processing_list_in_one_step(redis_url: str) -> None:
    with redis.Redis.from_url(redis_url, decode_responses=True) as client:
        client.rpush("agent:jobs", "one", "two")
        assert client.blmove("agent:jobs", "agent:processing", timeout=1) == "one"
        assert client.lrange("agent:processing", 0, -1) == ["one"]
        assert client.lrange("agent:jobs", 0, -1) == ["two"]


def test_a_stream_entry_stays_pending_until_it_is_acknowledged(redis_url: str) -> None:
    with redis.Redis.from_url(redis_url, decode_responses=True) as client:
        client.xgroup_create("jobs", "workers", id="0", mkstream=True)
        client.xadd("jobs", {"job_id": "1"})
        client.xreadgroup("workers", "me", {"jobs": ">"})
        assert client.xpending("jobs", "workers")["pending"] == 1
