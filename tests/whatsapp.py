"""A whole Laneway behind a WhatsApp number: Meta's API on loopback, webhooks pushed as Meta pushes them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
from pydantic import SecretStr

from laneway.lanes.tools import ToolEntry
from laneway.llm.scripted import Script, echo
from laneway.store.database import Database
from tests.journeys.tooling import Door
from tests.servers.whatsapp_server import NUMBER_ID, SECRET, TOKEN, VERIFY, Sent, WhatsAppServer
from tests.servers.whatsapp_webhooks import Json, Webhooks
from tests.serving import scripted, serving

OWNER, KIM = "4917000000001", "4915112345678"


@dataclass
class Desk:
    """A served number, its customers' phones, and the owner's own door."""

    server: WhatsAppServer
    http: httpx.AsyncClient
    """Without a key, as Meta comes."""
    door: Door
    db: Database

    @property
    def meta(self) -> Webhooks:
        return self.server.hooks

    async def push(self, *messages: Json, **value: Any) -> httpx.Response:
        return await self.meta.push(self.http, self.meta.payload(self.meta.value(*messages, **value)))

    async def say(self, sender: str, text: str, **more: Any) -> httpx.Response:
        answer = await self.push(self.meta.text(sender, text, **more))
        assert answer.status_code == 200, answer.text
        return answer

    async def press(self, sender: str, sent: Sent, title: str, **more: Any) -> httpx.Response:
        data = next(data for shown, data in sent.buttons if shown == title)
        return await self.push(self.meta.press(sender, data, title, on=sent.id, **more))

    async def sent(self, count: int, seconds: float = 30) -> list[Sent]:
        """What was sent, once it is so much."""
        await until(lambda: len(self.server.sent) >= count, seconds)
        return list(self.server.sent)

    async def outbox(self, state: str) -> list[Json]:
        answer = await self.door.http.get("/outbox", params={"state": state})
        return [one for one in answer.json()["items"] if one["channel"] == "whatsapp"]

    async def listed(self, state: str, count: int = 1) -> list[Json]:
        """The replies in this state, once there are so many."""
        async with asyncio.timeout(30):
            while len(found := await self.outbox(state)) < count:
                await asyncio.sleep(0.05)
        return found

    async def messages(self) -> list[Json]:
        """Everything people said, oldest first."""
        answer = await self.door.http.get("/messages", params={"limit": 100})
        return [one for one in answer.json()["items"][::-1] if one["author"] == "user"]


async def until(true: Callable[[], bool], seconds: float = 30) -> None:
    async with asyncio.timeout(seconds):
        while not true():
            await asyncio.sleep(0.02)


def settings(server: WhatsAppServer, **more: Any) -> dict[str, Any]:
    return {
        "whatsapp_token": SecretStr(TOKEN), "whatsapp_app_secret": SecretStr(SECRET),
        "whatsapp_verify_token": SecretStr(VERIFY), "whatsapp_number_id": NUMBER_ID, "whatsapp_api_url": server.api,
        "whatsapp_owners": (OWNER,), "whatsapp_customers": True, **more,
    }  # fmt: skip


@asynccontextmanager
async def desk(
    database_url: str, home: Path, script: Script = echo, *tools: ToolEntry, **more: Any
) -> AsyncIterator[Desk]:
    """Laneway answers WhatsApp while the block lasts."""
    with WhatsAppServer() as server:
        async with (
            serving(database_url, home, scripted(script, tools=list(tools)), **settings(server, **more)) as served,
            httpx.AsyncClient(base_url=served.url, timeout=30) as meta,
            httpx.AsyncClient(
                base_url=served.url, headers={"Authorization": f"Bearer {served.key}"}, timeout=30
            ) as owner,
        ):
            db = Database(database_url)
            await db.open()
            try:
                yield Desk(server, meta, Door(served, owner), db)
            finally:
                await db.close()
