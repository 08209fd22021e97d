"""An HTTP client with the owner's key, connected to a Laneway of the test's own."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import psycopg
import pytest

from laneway.app import Parts
from laneway.client import ServerEvent, parsed
from tests.conftest import cloned
from tests.serving import serving, serving_beside

ENDED = ("done", "failed", "cancelled")


class Door:
    """The API as a test uses it: JSON out, JSON in, and the status it must have."""

    def __init__(self, url: str, key: str, database_url: str = "", thread: str = "main") -> None:
        self.url, self.key, self.database_url, self.thread = url, key, database_url, thread
        self.http = httpx.AsyncClient(base_url=url, headers={"Authorization": f"Bearer {key}"}, timeout=30)

    async def get(self, path: str, expected: int = 200, **query: Any) -> Any:
        response = await self.http.get(path, params=query)
        assert response.status_code == expected, response.text
        return response.json()

    async def post(self, path: str, expected: int = 200, **more: Any) -> Any:
        response = await self.http.post(path, **more)
        assert response.status_code == expected, response.text
        return response.json()

    async def send(self, text: str, **more: Any) -> Any:
        return await self.post("/messages", 202, json={"text": text, "thread": self.thread, **more})

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
def opened(database_url: str, tmp_path: Path) -> Open:
    """Opens the door of a Laneway with the parts and settings given."""

    @asynccontextmanager
    async def open_door(parts: Parts | None = None, **settings: Any) -> AsyncIterator[Door]:
        async with serving(database_url, tmp_path, parts, **settings) as (url, key):
            door = Door(url, key, database_url)
            async with door.http:
                yield door

    return open_door


@pytest.fixture
async def own_door(opened: Open) -> AsyncIterator[Door]:
    """The door of a Laneway of the test's own, whose store nobody has touched."""
    async with opened() as door:
        yield door


@pytest.fixture(scope="module")
def shared_server(postgres: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Door]:
    """A Laneway whose model repeats what it is told, for all tests of a module."""
    with cloned(postgres) as url, serving_beside(url, tmp_path_factory.mktemp("home")) as (address, key):
        yield Door(address, key, url)


@pytest.fixture
async def door(shared_server: Door) -> AsyncIterator[Door]:
    """The door of the Laneway that the module shares; what is sent goes into a thread of the test's own."""
    door = Door(shared_server.url, shared_server.key, shared_server.database_url, f"thread-{uuid4().hex[:8]}")
    async with door.http:
        yield door


TABLES = ("principals", "threads", "messages", "attachments", "artifacts", "jobs", "events", "approvals", "outbox")


def counts(database_url: str) -> dict[str, int]:
    """How many rows each table holds."""
    found = {}
    with psycopg.connect(database_url) as connection:
        for table in TABLES:
            row = connection.execute(f"SELECT count(*) FROM {table}".encode()).fetchone()
            assert row is not None
            found[table] = int(row[0])
    return found
