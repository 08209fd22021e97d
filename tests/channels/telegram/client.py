"""The real aiogram client of a loopback Bot API."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiogram import Bot
from aiogram.client.session.aiohttp import AiohttpSession
from aiogram.client.telegram import TelegramAPIServer

from tests.servers.telegram_server import TelegramServer


@asynccontextmanager
async def bot_of(server: TelegramServer, token: str = "") -> AsyncIterator[Bot]:
    """A bot that talks to the server while the block lasts."""
    session = AiohttpSession(api=TelegramAPIServer.from_base(server.url))
    async with Bot(token or server.token, session=session).context() as bot:
        yield bot
