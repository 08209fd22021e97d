"""Jobs that our database or our code cannot take: each is put away with a reason, and none stops those behind it."""

from __future__ import annotations

from pathlib import Path

import psycopg
import pytest

from tests.journeys.redis_queue import Producer, producing, until

DEEP = "[" * 70 + "]" * 70
POISON = '{"job_id":"a\\u0000b","prompt":"x","x":' + DEEP + "}"
REFUSING = """
CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION 'not here' USING ERRCODE = '{code}'; END $$;
CREATE TRIGGER refuse BEFORE INSERT ON messages FOR EACH ROW WHEN ({when}) EXECUTE FUNCTION refuse();
"""


async def put(producer: Producer, kind: str, raw: str) -> None:
    if kind == "list":
        await producer.redis.rpush("agent:jobs", raw)
    else:
        await producer.redis.xadd("agent:stream", {"job": raw})


async def nothing_left(producer: Producer, kind: str) -> None:
    """Every entry has been let go of."""

    async def gone() -> bool:
        if kind == "list":
            return await producer.lying_about() == 0
        return bool((await producer.redis.xpending("agent:stream", "agent_workers"))["pending"] == 0)

    await until(gone)


@pytest.mark.parametrize("kind", ["list", "stream"])
async def test_a_job_too_deep_with_a_nul_in_its_id_stops_nobody(
    kind: str, redis_url: str, database_url: str, tmp_path: Path
) -> None:
    async with producing(redis_url, database_url, tmp_path, redis_stream="agent:stream") as producer:
        await put(producer, kind, POISON)
        await put(producer, kind, '{"job_id": "good", "prompt": "two and two?"}')
        assert (await producer.result("good"))["status"] == "completed"
        await nothing_left(producer, kind)
        [letter] = await producer.dead()
        assert (letter["type"], letter["job_id"]) == ("malformed", "a\N{REPLACEMENT CHARACTER}b")
        assert "64 levels" in letter["reason"]
        result = await producer.result("a\N{REPLACEMENT CHARACTER}b")
        assert result["error"]["type"] == "malformed"


@pytest.mark.parametrize("kind", ["list", "stream"])
@pytest.mark.parametrize("code", ["22021", "23514", "54000"])
async def test_what_the_database_cannot_hold_is_put_away_and_stops_nobody(
    code: str, kind: str, redis_url: str, database_url: str, tmp_path: Path
) -> None:
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute(REFUSING.format(code=code, when="NEW.text LIKE '%poison%'").encode())
    async with producing(redis_url, database_url, tmp_path, redis_stream="agent:stream") as producer:
        # The refusal of the first names it as well, and so cannot be written either.
        await put(producer, kind, '{"job_id": "poison", "prompt": "two and two?", "version": "2.0"}')
        await put(producer, kind, '{"job_id": "bitter", "prompt": "is this poison?"}')
        await put(producer, kind, '{"job_id": "good", "prompt": "two and two?"}')
        assert (await producer.result("good"))["status"] == "completed"
        assert code in (await producer.result("bitter"))["error"]["message"]
        await nothing_left(producer, kind)
        assert [(one["job_id"], bool(one["reason"])) for one in await producer.dead()] == [
            ("poison", True), ("bitter", True),
        ]  # fmt: skip
        assert await producer.results("poison") == []
        assert len(await producer.jobs()) == 1
