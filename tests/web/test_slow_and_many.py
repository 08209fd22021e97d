"""Who sends slowly, tries keys, posts without end or does not read holds nobody else up."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

import psycopg
import pytest
from fastapi import FastAPI
from starlette.requests import Request

from laneway.cli.up import bound
from laneway.cli.web_server import WebServer
from laneway.engine.stream import AT_ONCE, Hub, Watcher
from laneway.store.database import Database
from laneway.web.auth import BAD_KEYS
from laneway.web.limits import BodyLimit, BodyLimits
from laneway.web.problems import Border
from tests.web.conftest import Door, Open

pytestmark = pytest.mark.fault
PATIENCE = 0.5
DRIP = 0.05


@asynccontextmanager
async def impatient() -> AsyncIterator[int]:
    """The port of a server that waits half a second for a head, and as long for a body."""
    api = FastAPI()
    api.state.gateway = Nothing()

    @api.post("/length")
    async def length(request: Request) -> int:
        return len(await request.body())

    api.add_middleware(BodyLimit, limits=BodyLimits(10**9, 10**9), seconds=PATIENCE)
    api.add_middleware(Border)
    server = WebServer(api, head_seconds=PATIENCE)
    with bound("127.0.0.1", 0) as listener:
        serving = asyncio.create_task(server.serve([listener]))
        await server.has_started(serving)
        try:
            yield listener.getsockname()[1]
        finally:
            server.should_exit = True
            await serving


class Nothing:
    """Takes the place of what a server ends at its end."""

    @property
    def hub(self) -> Nothing:
        return self

    def close(self) -> None: ...


async def drip(port: int, begin: bytes, piece: bytes) -> bytes:
    """What comes back until the connection ends, while one piece after the other is sent."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    answer = asyncio.create_task(reader.read())
    try:
        writer.write(begin)
        async with asyncio.timeout(30):
            while not answer.done():
                writer.write(piece)
                await asyncio.wait({answer}, timeout=DRIP)
        return b"" if answer.exception() else answer.result()
    finally:
        answer.cancel()
        writer.transport.abort()


HEAD = b"POST /length HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\n"


async def test_a_head_that_drips_ends_the_connection_on_a_first_and_on_a_later_request() -> None:
    whole = HEAD + b"Content-Length: 2\r\n\r\nok"
    async with impatient() as port:
        assert await drip(port, HEAD, b"X-More: x\r\n") == b""
        answer = await drip(port, whole + HEAD, b"X-More: x\r\n")
        assert (answer.count(b"HTTP/1.1"), answer.endswith(b"\r\n\r\n2")) == (1, True)
        assert await drip(port, b"", b"") == b""


async def test_a_head_without_end_ends_the_connection_however_fast_it_comes() -> None:
    api = FastAPI()
    api.state.gateway = Nothing()
    server = WebServer(api)
    with bound("127.0.0.1", 0) as listener:
        serving = asyncio.create_task(server.serve([listener]))
        await server.has_started(serving)
        assert await drip(listener.getsockname()[1], HEAD, b"X-More: " + b"x" * 20_000 + b"\r\n") == b""
        server.should_exit = True
        await serving


async def test_a_body_that_drips_is_answered_with_408_and_ends_the_connection() -> None:
    async with impatient() as port:
        for begin, piece in (
            (b"Content-Length: 1000000\r\n\r\n", b"x"),
            (b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n"),
        ):
            head, _, body = (await drip(port, HEAD + begin, piece)).partition(b"\r\n\r\n")
            assert head.startswith(b"HTTP/1.1 408"), head
            assert json.loads(body)["code"] == "too-slow"


async def test_a_large_body_that_keeps_coming_is_taken_however_long_it_takes() -> None:
    async with impatient() as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(HEAD + b"Connection: close\r\nContent-Length: 200000\r\n\r\n")
        for _ in range(20):
            writer.write(b"x" * 10_000)
            await writer.drain()
            await asyncio.sleep(DRIP)
        assert (await reader.read()).endswith(b"\r\n\r\n200000")
        writer.close()


async def test_bad_keys_are_refused_unread_after_some_and_good_ones_go_on(opened: Open) -> None:
    async with opened() as door:
        await door.get("/status")
        async with door.somebody_else(None) as stranger:
            answers = [await stranger.http.get("/status") for _ in range(60)]
            assert [answer.status_code for answer in answers] == [401] * BAD_KEYS + [429] * (60 - BAD_KEYS)
            assert 1 <= int(answers[-1].headers["retry-after"]) <= 60
            assert answers[-1].json()["code"] == "too-many"
            assert (await stranger.http.get("/health")).status_code == 200
            hook = [(await stranger.http.post("/hooks/codex", json={})).status_code for _ in range(2)]
            assert hook == [429, 429]
            # Behind a proxy everybody has one address: a key that was never used before is known all the same.
            async with door.somebody_else("operator") as late:
                await late.get("/jobs", 403)
            forged = [{"Authorization": "Bearer x", "X-Forwarded-For": f"10.0.0.{number}"} for number in range(5)]
            assert {(await stranger.http.get("/status", headers=one)).status_code for one in forged} == {429}
        await door.get("/status")
        # The right key is let in, to be told what is wrong with what it brings.
        assert (await door.http.post("/hooks/codex", json={})).status_code == 400


async def test_who_starts_work_without_end_has_to_wait_and_may_still_look(opened: Open) -> None:
    async with opened(messages_per_minute=5) as door:
        body = {"taxonomy": "message", "text": "hello"}
        answers = [await door.http.post("/classify", json=body) for _ in range(8)]
        assert [answer.status_code for answer in answers] == [200] * 5 + [429] * 3
        assert 1 <= int(answers[-1].headers["retry-after"]) <= 60
        await door.get("/status")
        # Messages are counted for themselves, for each sender.
        await door.send("hello")


async def test_streams_that_read_the_store_leave_the_jobs_their_connections(database_url: str) -> None:
    # One more is for the hub itself, and one is left for all else.
    db = Database(database_url, size=AT_ONCE + 2)
    await db.open()
    hub, first = Hub(db), Watcher()
    stream = hub.watch(await hub.place("now"), first)
    try:
        hearing = asyncio.create_task(anext(stream))
        async with asyncio.timeout(20):
            while first.behind:
                await asyncio.sleep(0.02)
        with psycopg.connect(database_url) as other, psycopg.connect(database_url, autocommit=True) as looking:
            # Whoever reads events now stands still, with its connection.
            other.execute("LOCK TABLE events IN ACCESS EXCLUSIVE MODE")
            waiting = [asyncio.create_task(anext(hub.watch("0-0", Watcher()))) for _ in range(50)]
            async with asyncio.timeout(20):
                while standing(looking) < AT_ONCE:
                    await asyncio.sleep(0.02)
            for _ in range(20):
                async with db.transaction() as tx:
                    await tx.execute("SELECT 1")
            other.rollback()
            for task in (hearing, *waiting):
                task.cancel()
            await asyncio.gather(hearing, *waiting, return_exceptions=True)
    finally:
        hub.close()
        await db.close()


def standing(looking: psycopg.Connection) -> int:
    row = looking.execute(
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    ).fetchone()
    assert row is not None
    return int(row[0])


async def test_a_message_is_answered_beside_many_streams_that_nobody_reads(own_door: Door) -> None:
    address = urlsplit(own_door.url)
    own_door.rows(
        "INSERT INTO events (kind, body) SELECT 'flood', jsonb_build_object('filler', repeat('x', 500)) "
        "FROM generate_series(1, 3000)"
    )
    request = f"GET /events?since=start HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {own_door.key}\r\n\r\n"
    opening = [asyncio.open_connection(address.hostname, address.port) for _ in range(100)]
    writers = [writer for _, writer in await asyncio.gather(*opening)]
    for writer in writers:
        writer.write(request.encode())
    reply = await own_door.ask("hello")
    assert reply["replies"]
    for writer in writers:
        writer.transport.abort()
