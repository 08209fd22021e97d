"""While the database is away nothing is half-done and everybody is told; when it is back, so are we."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import psycopg

from tests.web.conftest import Door, counts


@contextmanager
def away(postgres: str, database_url: str) -> Iterator[None]:
    """The test's database takes no connections and has dropped those it had, while the block lasts."""
    name = database_url.partition("?")[0].rpartition("/")[2]
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS false".encode())
        connection.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", (name,))
        try:
            yield
        finally:
            connection.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS true".encode())


async def recovered(http: httpx.AsyncClient) -> None:
    """The server has its database again."""
    async with asyncio.timeout(30):
        while (await http.get("/ready")).status_code != 200:
            await asyncio.sleep(0.05)


async def test_a_message_is_refused_and_the_process_says_what_is_missing(
    own_door: Door, postgres: str, database_url: str
) -> None:
    door = own_door
    await door.ask("before?")
    before = counts(database_url)
    with away(postgres, database_url):
        refused, ready, *others = await asyncio.gather(
            door.http.post("/messages", json={"text": "lost?", "id": "retry-me"}),
            door.http.get("/ready"),
            door.http.get("/jobs"),
            door.http.get("/events"),
        )
        health = await door.get("/health")
        assert (health["status"], list(health["trouble"])) == ("degraded", ["database"])
    for response in (refused, ready, *others):
        assert response.status_code == 503
        assert response.headers["content-type"] == "application/problem+json"
        assert response.json()["code"] == "unavailable"
    assert ready.json()["missing"] == ["database"]
    await recovered(door.http)
    rows = counts(database_url)
    assert (rows["messages"], rows["jobs"]) == (before["messages"], before["jobs"])
    message = await door.ask("lost?", id="retry-me")
    assert message["replies"][0]["text"] == "You said: lost?"


async def test_an_open_stream_outlives_a_restart_of_the_database(
    own_door: Door, postgres: str, database_url: str
) -> None:
    door = own_door
    first = await door.ask("before?")
    async with door.watching(since="start") as stream, asyncio.timeout(60):
        async for event in stream:
            if event.event == "job.done":
                break
        with away(postgres, database_url):
            assert (await door.http.get("/ready")).status_code == 503
        await recovered(door.http)
        second = await door.send("after?")
        seen = []
        async for event in stream:
            if event.id is not None:
                seen.append((event.event, event.data["job_id"]))
            if event.event == "job.done":
                break
    assert first["jobs"][0]["id"] not in {job for _, job in seen}
    assert seen[0] == ("message.received", second["job_id"])
    assert seen[-1] == ("job.done", second["job_id"])
