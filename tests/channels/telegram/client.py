"""The real aiogram client of a loopback Bot API."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiogram import Bot

from laneway.channels.telegram.api import make_bot
from tests.servers.telegram_server import TelegramServer


@asynccontextmanager
async def bot_of(server: TelegramServer, token: str = "") -> AsyncIterator[Bot]:
    """A bot that talks to the server while the block lasts."""
    async with make_bot(token or server.token, server.url).context() as bot:
        yield bot
