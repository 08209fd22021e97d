"""The client is loaded only where a Redis is named, and says where it is without saying how to get in."""

from __future__ import annotations

import subprocess
import sys

import pytest

from laneway.channels.redis_queue.connection import connected, place
from laneway.errors import SettingsError

COMPOSE = """
import asyncio, sys
from pathlib import Path
from pydantic import SecretStr
import laneway.app, laneway.channels.telegram.layout, laneway.cli.commands, laneway.web.server
from laneway.channels.opened import opened
from laneway.engine.stream import Hub
from laneway.settings import Settings
from laneway.store.artifacts import Artifacts
from laneway.store.database import Database

async def main():
    db = Database("postgresql://nobody")
    for url in (None, SecretStr("redis://127.0.0.1:1")):
        channels = opened(Settings(home=Path("/tmp"), redis_url=url), db, Hub(db), Artifacts(db, []))
        print(sorted(channels), "redis" in sys.modules, "aiogram" in sys.modules)

asyncio.run(main())
"""


@pytest.mark.timeout(300)
def test_without_a_url_the_channel_is_off_and_the_client_is_never_loaded() -> None:
    # Nor is Telegram's, without a token.
    ended = subprocess.run([sys.executable, "-c", COMPOSE], capture_output=True, text=True, check=True, timeout=140)
    assert ended.stdout.splitlines() == ["[] False False", "['redis'] True False"]


def test_a_place_is_told_without_its_password_and_a_wrong_address_is_not_repeated() -> None:
    places = {
        "redis://ann:secret@host:1234/2": "host:1234",
        "rediss://:secret@host": "host:6379",
        "redis://": "localhost:6379",
        "unix:///run/redis.sock?password=secret": "/run/redis.sock",
        "redis://:secret@host:nonsense/0": "host:6379",
    }
    assert {url: place(url) for url in places} == places
    for url in ("http://:secret@host", "secret", "redis://:secret@host:nonsense/0"):
        with pytest.raises(SettingsError) as refused:
            connected(url)
        assert "secret" not in str(refused.value)
