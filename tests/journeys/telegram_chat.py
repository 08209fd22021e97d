"""A Laneway whose bot lives on a loopback Telegram, seen by the people who write to it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import SecretStr

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
        return await self.press_data(data, on, sender=sender)

    async def press_data(self, data: str, on: Message, *, sender: int = OWNER) -> str:
        update = self.telegram.updates.press(data, on, sender=sender)
        query = update["callback_query"]["id"]
        await self.bring(update)
        await self.telegram.until(lambda: self.telegram.world.queries[query] is not None)
        return str((self.telegram.world.queries[query] or {})["text"])

    async def sees(self, count: int, chat: int = OWNER, seconds: float = 30) -> list[Message]:
        """What stands in the chat once it is so many messages."""
        await self.telegram.until(lambda: len(self.telegram.world.shown(chat)) >= count, seconds)
        return self.telegram.world.shown(chat)

    def texts(self, chat: int = OWNER) -> list[str]:
        return [message.text for message in self.telegram.world.shown(chat)]

    async def jobs(self) -> list[dict[str, Any]]:
        return list((await self.door.http.get("/jobs")).json()["items"])


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
