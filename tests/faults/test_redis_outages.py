"""Redis that is not there, goes away, wants a password or speaks TLS: the rest works, and nobody reads a secret."""

from __future__ import annotations

import asyncio
import json
import logging
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, LiteralString

import httpx
import pytest
from pydantic import SecretStr
from redis.asyncio import Redis

from laneway.channels.redis_queue.watch import ALARM_SECONDS, Watch
from laneway.clock import FakeClock
from laneway.domain.conversation import Incoming
from laneway.errors import TransientFault
from laneway.llm.scripted import ScriptedModel
from laneway.store import conversations, intake, principals
from laneway.store.database import Database
from tests.journeys.redis_queue import producing, until
from tests.sandbox.test_exchange import certificate
from tests.servers.redis_server import RedisServer, restartable_redis
from tests.serving import serving


async def test_without_a_redis_everything_else_works_and_with_one_its_jobs_do(
    database_url: str, tmp_path: Path
) -> None:
    server = RedisServer(tmp_path)
    async with (
        serving(database_url, tmp_path, redis_url=SecretStr(server.url)) as served,
        httpx.AsyncClient(base_url=served.url, headers={"Authorization": f"Bearer {served.key}"}, timeout=30) as http,
    ):
        health = (await http.get("/health")).json()
        assert health["status"] == "ok"
        assert f"127.0.0.1:{server.port} does not answer" in health["trouble"]["redis"]
        assert (await http.get("/ready")).status_code == 200
        sent = (await http.post("/messages", json={"text": "two and two?"})).json()

        async def replied() -> Any:
            return (await http.get(f"/messages/{sent['message_id']}")).json()["replies"]

        assert (await until(replied))[0]["text"] == "You said: two and two?"
        await asyncio.to_thread(server.start)
        try:
            async with Redis.from_url(server.url) as client:
                await client.rpush("agent:jobs", json.dumps({"job_id": "j", "prompt": "what is one?"}))
                await until(lambda: client.llen("agent:results:j"), 60)

                async def well() -> bool:
                    return bool((await http.get("/health")).json()["trouble"] == {})

                await until(well)
        finally:
            server.stop()


async def test_results_that_waited_for_redis_come_as_soon_as_it_is_back(
    database_url: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    gate = asyncio.Event()

    async def held(call: dict[str, Any]) -> None:
        await gate.wait()

    with restartable_redis(tmp_path, keeps=True) as server:
        async with producing(server.url, database_url, tmp_path / "home", ScriptedModel(on_call=held)) as producer:
            db = producer.home.app.db
            await producer.push("j", "what is between?")
            await until(lambda: _count(db, "SELECT count(*) FROM jobs WHERE status = 'running'"))
            await asyncio.to_thread(server.kill)
            gate.set()
            await until(lambda: _count(db, "SELECT count(*) FROM outbox WHERE state = 'pending' AND attempts > 0"))
            await until(lambda: _logged(caplog, "Everything else goes on"))
            async with db.transaction() as tx:
                # As if it had been tried in vain for long: nobody would look at it for an hour.
                await tx.execute("UPDATE outbox SET not_before = now() + interval '1 hour'")
            await asyncio.to_thread(server.start)
            assert (await producer.result("j", 60))["status"] == "completed"


async def test_the_owner_is_told_once_that_redis_is_gone_and_once_that_it_is_back(db: Database, tmp_path: Path) -> None:
    async with db.transaction() as tx:
        owner = await principals.set_owner_key(tx, "lw_test")
        await intake.write(tx, Incoming("http", "main", "m", "hello", owner))
    gone, clock = True, FakeClock()

    async def ping() -> None:
        if gone:
            raise TransientFault("Redis at here:1 does not answer: refused.")

    watch = Watch(db, ping, "here:1", clock)
    await watch.look()
    assert await _told(db) == []
    clock.advance(ALARM_SECONDS)
    for _ in range(3):
        await watch.look()
    [alarm] = await _told(db)
    assert alarm.startswith("Redis at here:1 does not answer")
    assert await watch.trouble() is not None
    gone = False
    for _ in range(2):
        await watch.look()
    assert await watch.trouble() is None
    assert (await _told(db))[1:] == ["Redis at here:1 works again. What waited goes on now."]


async def test_a_password_opens_redis_and_is_never_logged(
    database_url: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    with restartable_redis(tmp_path, password="sesame-27") as server:
        right = server.url.replace("127", ":sesame-27@127", 1)
        async with producing(right, database_url, tmp_path / "home") as producer:
            await producer.push("j")
            await producer.result("j")
        wrong = server.url.replace("127", ":opensesame-28@127", 1)
        async with serving(database_url, tmp_path / "home", redis_url=SecretStr(wrong)) as served:
            async with httpx.AsyncClient(base_url=served.url, timeout=30) as http:
                trouble = (await http.get("/health")).json()["trouble"]["redis"]
            assert "does not answer" in trouble
            assert "sesame" not in trouble
            await until(lambda: _logged(caplog, "Nothing can be taken"))
    assert "sesame" not in caplog.text


async def test_redis_is_reached_through_tls_and_only_with_the_right_certificate(
    database_url: str, tmp_path: Path
) -> None:
    ours, _ = certificate(tmp_path, "localhost")
    with restartable_redis(tmp_path) as server:
        async with _tls_before(server.port, ours) as port:
            trusted = f"rediss://localhost:{port}/0?ssl_ca_certs={tmp_path / 'both.pem'}"
            async with producing(server.url, database_url, tmp_path / "home", redis_url=SecretStr(trusted)) as producer:
                await producer.push("j")
                assert (await producer.result("j"))["status"] == "completed"
            stranger = SecretStr(f"rediss://localhost:{port}/0")
            async with (
                serving(database_url, tmp_path / "home", redis_url=stranger) as served,
                httpx.AsyncClient(base_url=served.url, timeout=30) as http,
            ):
                assert "certificate" in (await http.get("/health")).json()["trouble"]["redis"].lower()


@asynccontextmanager
async def _tls_before(port: int, context: ssl.SSLContext) -> AsyncIterator[int]:
    """What comes encrypted is handed on to the port as it is: the Redis of the tests is built without TLS."""

    async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while some := await reader.read(65536):
            writer.write(some)
            await writer.drain()
        writer.close()

    async def hand_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        inner_reader, inner_writer = await asyncio.open_connection("127.0.0.1", port)
        await asyncio.gather(pump(reader, inner_writer), pump(inner_reader, writer), return_exceptions=True)

    server = await asyncio.start_server(hand_on, "127.0.0.1", 0, ssl=context)
    async with server:
        yield int(server.sockets[0].getsockname()[1])
        server.close()


async def _count(db: Database, statement: LiteralString) -> int:
    async with db.transaction() as tx:
        row = await (await tx.execute(statement)).fetchone()
    return int(row[0]) if row else 0


async def _told(db: Database) -> list[str]:
    async with db.transaction() as tx:
        owners = await conversations.thread_on(tx, "http", "main")
        assert owners is not None
        said = await conversations.messages(tx, thread_id=owners.id, limit=50)
    return [one.text for one in said[::-1] if one.meta.get("notice")]


async def _logged(caplog: pytest.LogCaptureFixture, words: str) -> bool:
    return words in caplog.text
