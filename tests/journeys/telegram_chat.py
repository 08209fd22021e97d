"""A Laneway whose bot lives on a loopback Telegram, seen by the people who write to it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from laneway.channels.telegram.view import STOP
from laneway.lanes.tools import ToolEntry
from laneway.llm.scripted import Asked, Turn, echo
from tests.journeys.tooling import Door, door
from tests.servers.telegram_chats import Message
from tests.servers.telegram_server import TelegramServer, push

OWNER, OPERATOR, STRANGER, GROUP = 42, 43, 44, -1005
SECRET = "a-secret_of-Telegram"
Update = dict[str, Any]


@dataclass
class Chat:
    """What people do on Telegram, and what they see."""

    telegram: TelegramServer
    door: Door
    by_webhook: bool

    @property
    def hook(self) -> str:
        return f"{self.door.served.url}/telegram/webhook"

    async def bring(self, *updates: Update, **more: Any) -> list[int]:
        """The updates have been handed over; by webhook, the statuses they were answered with."""
        if not self.by_webhook:
            self.telegram.world.updates.extend(updates)
            return []
        return await push(self.hook, updates, secret=SECRET, **more)

    async def say(self, text: str = "", *, sender: int = OWNER, chat: int | None = None, **more: Any) -> Update:
        update = self.telegram.updates.message(text, sender=sender, chat=chat, **more)
        await self.bring(update)
        return update

    async def press(self, label: str, on: Message, *, sender: int = OWNER) -> str:
        """Somebody presses the button; what they are told."""
        data = next(data for row in on.buttons for text, data in row if text == label)
        await self.on_record()
        return await self.press_data(data, on, sender=sender)

    async def press_data(self, data: str, on: Message, *, sender: int = OWNER) -> str:
        update = self.telegram.updates.press(data, on, sender=sender)
        query = update["callback_query"]["id"]
        await self.bring(update)
        await self.until(lambda: self.telegram.world.queries[query] is not None)
        return str((self.telegram.world.queries[query] or {})["text"])

    async def sees(self, count: int, chat: int = OWNER) -> list[Message]:
        """What was said in the chat once it is so many messages."""
        await self.until(lambda: len(self.said(chat)) >= count)
        return self.said(chat)

    def said(self, chat: int = OWNER) -> list[Message]:
        """What stands in the chat, without what only says that we work: on a slow machine that comes anywhere."""
        return [message for message in self.telegram.world.shown(chat) if not _stops(message)]

    def texts(self, chat: int = OWNER) -> list[str]:
        return [message.text for message in self.said(chat)]

    async def until(self, true: Callable[[], object]) -> None:
        await self.telegram.until(true, 30)

    async def on_record(self) -> None:
        """What was sent is known here to have been; nobody presses a button faster than that."""
        async with asyncio.timeout(30):
            while True:
                counts = (await self.door.http.get("/status")).json()["outbox"]
                if not any(counts.get(state) for state in ("pending", "sending", "uncertain")):
                    return
                await asyncio.sleep(0.02)

    async def jobs(self) -> list[dict[str, Any]]:
        return list((await self.door.http.get("/jobs")).json()["items"])


def _stops(message: Message) -> bool:
    return any(text == STOP for row in message.buttons for text, _ in row)


@asynccontextmanager
async def on_telegram(
    database_url: str,
    home: Path,
    script: Callable[[Asked], Turn] = echo,
    tools: Sequence[ToolEntry] = (),
    mode: str = "webhook",
    **settings: Any,
) -> AsyncIterator[Chat]:
    """The bot answers on its Telegram while the block lasts."""
    with TelegramServer() as telegram:
        telegram.world.chat(OWNER)
        telegram.world.chat(GROUP)
        chosen = {
            "telegram_token": SecretStr(telegram.token), "telegram_api_url": telegram.url, "telegram_mode": mode,
            "telegram_secret": SecretStr(SECRET), "telegram_owners": (str(OWNER),),
            "telegram_operators": (str(OPERATOR),), **settings,
        }  # fmt: skip
        async with door(database_url, home, script, *tools, **chosen) as here:
            yield Chat(telegram, here, mode == "webhook")
