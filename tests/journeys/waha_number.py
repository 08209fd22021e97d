"""A Laneway behind a WhatsApp bridge on loopback, for journeys."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from laneway.channels.waha import Waha
from laneway.channels.waha.client import Bridge
from laneway.channels.waha.pace import Manner
from laneway.channels.waha.watch import Rhythm
from laneway.llm.scripted import Asked, Say, Turn, echo
from laneway.store.database import Database
from tests.servers.waha_server import WahaServer
from tests.serving import scripted, serving

ANN, OWNER, ANNS_LID = "4915112345678@c.us", "491700000001@c.us", "123123123123@lid"
GROUP = "120363001122334455@g.us"
AT_ONCE = Manner(0, 0, 0, 0, 0)
OFTEN = Rhythm(look=0.1, alarm=0.3, history=900)
"""Tests do not type like people, and look more often."""


@dataclass
class Number:
    """A Laneway behind a bridge, and the owner's way in by HTTP."""

    bridge: WahaServer
    http: httpx.AsyncClient

    async def says(self, sender: str, text: str, **more: Any) -> int:
        """The status the bridge got for telling that somebody wrote."""
        return await self.bridge.push(self.bridge.account.event(self.bridge.account.message(sender, text, **more)))

    async def messages(self) -> list[dict[str, Any]]:
        """All that was said, newest first."""
        return list((await self.http.get("/messages", params={"limit": 200})).json()["items"])

    async def stored(self, text: str) -> list[dict[str, Any]]:
        return [one for one in await self.messages() if one["author"] == "user" and one["text"] == text]

    async def notices(self) -> list[str]:
        """What the owner was told of the bridge."""
        told = [one for one in await self.messages() if one["meta"].get("notice", "").startswith("bridge.")]
        return [one["text"] for one in told[::-1]]

    async def state(self) -> dict[str, Any]:
        return dict((await self.http.get("/waha")).json())

    async def figures(self) -> dict[str, Any]:
        return dict((await self.http.get("/status")).json())

    async def until(self, met: Callable[[], Awaitable[object]], seconds: float = 30) -> None:
        async with asyncio.timeout(seconds):
            while not await met():
                await asyncio.sleep(0.05)

    async def quiet(self) -> None:
        """Nothing of what was taken is being worked on any more."""

        async def done() -> bool:
            now = await self.figures()
            busy = [now["jobs"].get(one, 0) for one in ("queued", "running")]
            return not any(busy + [now["outbox"].get(one, 0) for one in ("pending", "sending", "uncertain")])

        await self.until(done)


@asynccontextmanager
async def number(
    bridge: WahaServer,
    database_url: str,
    home: Path,
    script: Callable[[Asked], Turn] = echo,
    *tools: Any,
    rhythm: Rhythm = OFTEN,
    **settings: Any,
) -> AsyncIterator[Number]:
    """The number is answered while the block lasts."""
    db = Database(database_url)
    await db.open()
    channel = Waha(db, Bridge(bridge.url, bridge.api_key, bridge.session), bridge.hmac_key, AT_ONCE, rhythm)
    parts = scripted(script, tools=list(tools), channels=[channel])
    looks = _looks_back(bridge)
    try:
        async with serving(
            database_url, home, parts, **{"waha_owners": (OWNER,), "waha_customers": True, **settings}
        ) as served:
            bridge.hook = f"{served.url}/waha/webhook"
            key = {"Authorization": f"Bearer {served.key}"}
            async with httpx.AsyncClient(base_url=served.url, headers=key, timeout=30) as http:
                here = Number(bridge, http)
                # What is said from now on comes by webhook alone, and not from the history as well.
                await here.until(lambda: _looked_back(bridge, looks))
                yield here
    finally:
        await db.close()


def _looks_back(bridge: WahaServer) -> int:
    return sum(one.path.endswith("/chats/overview") for one in bridge.asked)


async def _looked_back(bridge: WahaServer, before: int) -> bool:
    """Whether the history was asked for since; a bridge that does not work has none."""
    return bridge.status != "WORKING" or _looks_back(bridge) > before


def answers(text: str = "From 9 to 5.") -> Callable[[Asked], Turn]:
    """A model that always says the same."""
    return lambda asked: Say(text)
