"""A server with a model that follows a script and tools that count, seen through the HTTP door."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import httpx
import psycopg

from laneway.lanes.tools import ToolEntry
from laneway.lanes.tools.entry import success
from laneway.llm.scripted import Asked, Call, Say, Turn
from laneway.store import approvals
from tests.serving import Served, scripted, serving

ENDED = ("done", "failed", "cancelled")
T = TypeVar("T")
Start = Callable[..., AbstractAsyncContextManager[T]]
"""Called with what the test chooses; the block it opens is how long Laneway runs."""


@dataclass
class Door:
    """What a user does over HTTP."""

    served: Served
    http: httpx.AsyncClient

    async def send(self, text: str, thread: str = "main", **more: Any) -> dict[str, Any]:
        answer = await self.http.post("/messages", json={"text": text, "thread": thread, **more})
        assert answer.status_code in (200, 202), answer.text
        return dict(answer.json())

    async def job(self, job_id: str) -> dict[str, Any]:
        return dict((await self.http.get(f"/jobs/{job_id}")).json())

    async def until(self, job_id: str, *statuses: str, seconds: float = 30) -> dict[str, Any]:
        """The job once it has one of these statuses; by default, once it has ended."""
        async with asyncio.timeout(seconds):
            while (job := await self.job(job_id))["status"] not in (statuses or ENDED):
                await asyncio.sleep(0.03)
        return job

    async def ask(self, text: str, thread: str = "main", **more: Any) -> str:
        """What is answered in the end."""
        receipt = await self.send(text, thread, **more)
        await self.until(receipt["job_id"])
        return (await self.replies(receipt["message_id"]))[-1]

    async def replies(self, message_id: str) -> list[str]:
        found = (await self.http.get(f"/messages/{message_id}")).json()["replies"]
        return [reply["text"] for reply in found]

    async def approval(self, job_id: str) -> dict[str, Any]:
        """What the job waits for."""
        await self.until(job_id, "waiting", *ENDED)
        pending = (await self.http.get("/approvals", params={"state": "pending"})).json()["items"]
        return dict(next(one for one in pending if one["job_id"] == job_id))

    async def answer(self, approval: str, answer: str = "approve", **more: Any) -> httpx.Response:
        return await self.http.post(f"/approvals/{approval}", json={"answer": answer, **more})


@dataclass
class Counter:
    """A tool that changes something, and counts how often it did."""

    done: list[str] = field(default_factory=list)

    def entry(self, **more: Any) -> ToolEntry:
        async def press(button: str) -> dict[str, Any]:
            """Presses a button."""
            self.done.append(button)
            return success(f"{button} pressed")

        return ToolEntry(press, **{"changes": True, "idempotent": False, **more})


def reader(text: str = "Nothing special.") -> ToolEntry:
    """A tool that only reads, and brings a stranger's words."""

    async def look(page: str) -> dict[str, Any]:
        """Looks at a page."""
        return success(text)

    return ToolEntry(look, source=lambda arguments, outcome: f"the page {arguments['page']}")


def calls(*turns: Call | Sequence[Call], then: str = "All done.") -> Callable[[Asked], Turn]:
    """A script: these calls, turn by turn, then the text."""

    def script(asked: Asked) -> Turn:
        return turns[asked.turn] if asked.turn < len(turns) else Say(then)

    return script


@asynccontextmanager
async def door(
    database_url: str, home: Path, script: Callable[[Asked], Turn], *tools: ToolEntry, **settings: Any
) -> AsyncIterator[Door]:
    """Laneway answers HTTP with this script and these tools while the block lasts."""
    async with (
        serving(database_url, home, scripted(script, tools=list(tools)), **settings) as served,
        httpx.AsyncClient(base_url=served.url, headers={"Authorization": f"Bearer {served.key}"}, timeout=30) as http,
    ):
        yield Door(served, http)


async def too_late(database_url: str) -> None:
    """The time in which open questions could be answered is over, and this is noticed, as at a beat of the engine."""
    async with await psycopg.AsyncConnection.connect(database_url) as connection:
        await connection.execute("UPDATE approvals SET deadline = now() - interval '1 second' WHERE state = 'pending'")
        await approvals.expire(connection)


async def asked_ago(database_url: str, seconds: float) -> None:
    """Open questions were asked so long ago."""
    async with await psycopg.AsyncConnection.connect(database_url) as connection:
        await connection.execute(
            "UPDATE approvals SET created_at = clock_timestamp() - make_interval(secs => %s) WHERE state = 'pending'",
            (seconds,),
        )
