"""A whole Laneway in this process, with the model and tools a test chooses, and a door to it."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from uuid import UUID

from pydantic import SecretStr
from pydantic_ai.models import Model

from laneway.app import App, Parts, running
from laneway.domain.conversation import Author, Incoming, IncomingFile, Message, Principal, Receipt
from laneway.domain.job import FINAL, Job, JobStatus
from laneway.lanes.tools import ToolEntry
from laneway.llm.scripted import ScriptedModel
from laneway.llm.single import only
from laneway.reactors.own_jobs import Make
from laneway.settings import Settings
from laneway.store import conversations, events, jobs, principals


@dataclass
class Laneway:
    """A running app and what a test does with it."""

    app: App
    owner: Principal
    numbers: itertools.count[int] = field(default_factory=itertools.count)

    async def send(self, text: str, thread: str = "main", *, id: str | None = None, **more: Any) -> Receipt:
        incoming = Incoming("http", thread, id or f"m{next(self.numbers)}", text, self.owner)
        return await self.app.intake.receive(replace(incoming, **more))

    async def job(self, job_id: UUID) -> Job:
        async with self.app.db.transaction() as tx:
            return await jobs.get(tx, job_id)

    async def until(self, job_id: UUID, *statuses: JobStatus, seconds: float = 30) -> Job:
        """The job once it has one of these statuses; by default, once it has ended."""
        wanted = set(statuses) or FINAL
        async with asyncio.timeout(seconds):
            while (job := await self.job(job_id)).status not in wanted:
                await asyncio.sleep(0.02)
        return job

    async def ask(self, text: str, thread: str = "main", **more: Any) -> str:
        """What is answered to a message."""
        receipt = await self.send(text, thread, **more)
        await self.until(receipt.job_id)
        return (await self.replies(receipt.message_id))[-1].text

    async def replies(self, message_id: UUID) -> list[Message]:
        async with self.app.db.transaction() as tx:
            asked = await conversations.message(tx, message_id)
            assert asked is not None
            said = await conversations.messages(tx, thread_id=asked.thread_id, limit=200)
        mine = [m for m in said if m.author is Author.ASSISTANT and m.meta.get("answers") == str(message_id)]
        return mine[::-1]

    async def kinds(self, job_id: UUID) -> list[str]:
        """The kinds of events of a job, in order."""
        async with self.app.db.transaction() as tx:
            return [event.kind for event in await events.of_job(tx, job_id)]


@asynccontextmanager
async def laneway(
    database_url: str,
    home: Path,
    model: Model | None = None,
    *,
    classify: Model | None = None,
    tools: Sequence[ToolEntry] = (),
    shape: str = "1",
    reactors: Make | None = None,
    tick_seconds: float = 5.0,
    **settings: Any,
) -> AsyncIterator[Laneway]:
    """Laneway runs on this database while the block lasts."""
    chosen = Settings(
        home=home,
        database_url=SecretStr(database_url),
        **{"retry_seconds": 0.05, "local_classifier": False, "messages_per_minute": 100_000, **settings},
    )
    parts = Parts(
        models=lambda db: only(model or ScriptedModel(), db, classify=classify), tools=tools, shape=shape,
        reactors=reactors, tick_seconds=tick_seconds,
    )  # fmt: skip
    async with running(chosen, parts) as app:
        async with app.db.transaction() as tx:
            owner = await principals.owner(tx)
        assert owner is not None
        yield Laneway(app, owner)


def text_file(name: str, text: str) -> IncomingFile:
    return IncomingFile(name, "text/plain", text.encode())
