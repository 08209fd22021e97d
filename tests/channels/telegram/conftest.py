"""The loopback Bot API with a private chat and a group, and the real aiogram client of it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest
from aiogram import Bot

from laneway.channels.telegram.api import make_bot
from tests.servers.telegram_server import TelegramServer


@pytest.fixture
def server() -> Iterator[TelegramServer]:
    """Telegram, where somebody has the number 42, and a group has a topic."""
    with TelegramServer() as server:
        server.world.chat(42)
        server.world.chat(-1005).topics = {7}
        yield server
        # Who still waits for updates is answered now, and nobody waits for that.
        server.world.updates.append(server.updates.message())


@pytest.fixture
async def bot(server: TelegramServer) -> AsyncIterator[Bot]:
    """A bot that talks to it."""
    async with make_bot(server.token, server.url).context() as bot:
        yield bot
