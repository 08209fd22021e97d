"""An HTTP client with the owner's key, connected to a Laneway of the test's own."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, ExitStack, asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import psycopg
import pytest

from laneway.app import Parts
from laneway.client import ServerEvent, parsed
from laneway.store.principals import hashed
from tests.conftest import cloned
from tests.servers import AnthropicServer
from tests.serving import Served, serving, serving_beside

ENDED = ("done", "failed", "cancelled")


class Door:
    """The API as a test uses it: JSON out, JSON in, and the status it must have."""

    def __init__(self, url: str, key: str, database_url: str = "", thread: str = "main", home: Path = Path()) -> None:
        self.url, self.key, self.database_url, self.thread, self.home = url, key, database_url, thread, home
        self.http = httpx.AsyncClient(base_url=url, headers={"Authorization": f"Bearer {key}"}, timeout=30)

    async def call(self, method: str, path: str, expected: int = 200, **more: Any) -> Any:
        response = await self.http.request(method, path, **more)
        assert response.status_code == expected, response.text
        return response.json()

    async def get(self, path: str, expected: int = 200, **query: Any) -> Any:
        return await self.call("GET", path, expected, params=query)

    async def post(self, path: str, expected: int = 200, **more: Any) -> Any:
        return await self.call("POST", path, expected, **more)

    async def put(self, path: str, expected: int = 200, **more: Any) -> Any:
        return await self.call("PUT", path, expected, **more)

    async def patch(self, path: str, expected: int = 200, **more: Any) -> Any:
        return await self.call("PATCH", path, expected, **more)

    async def delete(self, path: str, expected: int = 200, **query: Any) -> Any:
        return await self.call("DELETE", path, expected, params=query)

    def rows(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        """What the store holds."""
        with psycopg.connect(self.database_url) as connection:
            found = connection.execute(sql.encode(), values)
            return found.fetchall() if found.description else []

    def add_principal(self, role: str, name: str = "op", key: str | None = None) -> str:
        """The id of somebody new, who may have a key."""
        sql = "INSERT INTO principals (id, role, name, key_hash) VALUES (gen_random_uuid(), %s, %s, %s) RETURNING id"
        return str(self.rows(sql, role, name, hashed(key) if key else None)[0][0])

    @asynccontextmanager
    async def somebody_else(self, role: str | None) -> AsyncIterator[Door]:
        """The same door for somebody of this role, or for a stranger."""
        key = f"lw_{uuid4().hex}"
        if role is not None:
            self.add_principal(role, key=key)
        other = Door(self.url, key, self.database_url, self.thread, self.home)
        async with other.http:
            yield other

    async def send(self, text: str, **more: Any) -> Any:
        """A message in the door's thread; somebody else's goes into a thread of their own, unless one is named."""
        thread = {} if "sender" in more else {"thread": self.thread}
        return await self.post("/messages", 202, json={"text": text, **thread, **more})

    async def until(self, job_id: str, *statuses: str, seconds: float = 40) -> Any:
        """The job once it has one of these statuses; by default, once it has ended."""
        async with asyncio.timeout(seconds):
            while (job := await self.get(f"/jobs/{job_id}"))["status"] not in (statuses or ENDED):
                await asyncio.sleep(0.02)
        return job

    async def ask(self, text: str, **more: Any) -> Any:
        """A message, sent and answered, as /messages/{id} shows it."""
        receipt = await self.send(text, **more)
        await self.until(receipt["job_id"])
        return await self.get(f"/messages/{receipt['message_id']}")

    @asynccontextmanager
    async def watching(self, last: str | None = None, **query: Any) -> AsyncIterator[AsyncIterator[ServerEvent]]:
        """The events of a stream as they come; leaving the block cuts it off."""
        headers = {"Last-Event-ID": last} if last else {}
        async with self.http.stream("GET", "/events", params=query, headers=headers) as response:
            assert response.status_code == 200
            assert response.headers["content-type"].startswith("text/event-stream")
            yield _events(response)


async def _events(response: httpx.Response) -> AsyncIterator[ServerEvent]:
    block: list[str] = []
    async for line in response.aiter_lines():
        block.append(line)
        if not line:
            for event in parsed(block):
                yield event
            block = []


Open = Callable[..., AbstractAsyncContextManager[Door]]


@pytest.fixture
def opened(request: pytest.FixtureRequest, database_url: str, tmp_path: Path) -> Open:
    """Opens the door of a Laneway with the parts and settings given."""

    @asynccontextmanager
    async def open_door(parts: Parts | None = None, **settings: Any) -> AsyncIterator[Door]:
        # Only one Laneway can run in a process.
        if (shared := request.config.stash.get(SHARED, None)) is not None:
            shared.stop()
        async with serving(database_url, tmp_path, parts, **settings) as (url, key):
            door = Door(url, key, database_url, home=tmp_path)
            async with door.http:
                yield door

    return open_door


@pytest.fixture
async def own_door(opened: Open) -> AsyncIterator[Door]:
    """The door of a Laneway of the test's own, whose store nobody has touched."""
    async with opened() as door:
        yield door


@pytest.fixture
def anthropic() -> Iterator[AnthropicServer]:
    """Anthropic, as the settings of `keyed` find it."""
    with AnthropicServer() as server:
        yield server


def keyed(server: AnthropicServer, **more: Any) -> dict[str, Any]:
    return {"anthropic_api_key": "sk-test-123456", "anthropic_base_url": server.url, **more}


class SharedServer:
    """A Laneway whose model repeats what it is told, for all tests of a module; it stops while a test has its own."""

    def __init__(self, database_url: str, home: Path) -> None:
        self.database_url, self.home = database_url, home
        self._running: tuple[ExitStack, Served] | None = None

    def start(self) -> Served:
        """Where it runs."""
        if self._running is None:
            stack = ExitStack()
            self._running = stack, stack.enter_context(serving_beside(self.database_url, self.home))
        return self._running[1]

    def stop(self) -> None:
        """Nothing runs any more."""
        if self._running is not None:
            self._running[0].close()
            self._running = None


SHARED = pytest.StashKey[SharedServer]()


@pytest.fixture(scope="module")
def shared_server(
    request: pytest.FixtureRequest, postgres: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[SharedServer]:
    with cloned(postgres) as url:
        request.config.stash[SHARED] = server = SharedServer(url, tmp_path_factory.mktemp("home"))
        yield server
        server.stop()
        del request.config.stash[SHARED]


@pytest.fixture
async def door(shared_server: SharedServer) -> AsyncIterator[Door]:
    """The door of the Laneway that the module shares; what is sent goes into a thread of the test's own."""
    served = shared_server.start()
    thread = f"thread-{uuid4().hex[:8]}"
    door = Door(served.url, served.key, shared_server.database_url, thread, shared_server.home)
    async with door.http:
        yield door


TABLES = ("principals", "threads", "messages", "attachments", "artifacts", "jobs", "events", "approvals", "outbox")


def counts(database_url: str) -> dict[str, int]:
    """How many rows each table holds."""
    sums = ", ".join(f"(SELECT count(*) FROM {table})" for table in TABLES)
    with psycopg.connect(database_url) as connection:
        row = connection.execute(f"SELECT {sums}".encode()).fetchone()
    assert row is not None
    return dict(zip(TABLES, row, strict=True))
