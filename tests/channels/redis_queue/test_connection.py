"""The client is loaded only where a Redis is named, and says where it is without saying how to get in."""

from __future__ import annotations

import subprocess
import sys

import pytest

from laneway.channels.redis_queue.connection import connected, place
from laneway.errors import SettingsError

COMPOSE = """
import sys
from pathlib import Path
from pydantic import SecretStr
from laneway.channels.opened import opened
from laneway.engine.stream import Hub
from laneway.settings import Settings
from laneway.store.artifacts import Artifacts
from laneway.store.database import Database

async def main():
    db = Database("postgresql://nobody")
    url = SecretStr(sys.argv[1]) if sys.argv[1:] else None
    settings = Settings(home=Path("/tmp"), redis_url=url)
    return opened(settings, db, Hub(db), Artifacts(db, []))

import asyncio
channels = asyncio.run(main())
import laneway.app, laneway.cli.commands, laneway.web.server
print(sorted(channels), "redis" in sys.modules)
"""


@pytest.mark.timeout(300)
def test_without_a_url_the_channel_is_off_and_the_client_is_never_loaded() -> None:
    assert _composed() == "[] False"
    assert _composed("redis://127.0.0.1:1") == "['redis'] True"


def _composed(*arguments: str) -> str:
    ended = subprocess.run(
        [sys.executable, "-c", COMPOSE, *arguments], capture_output=True, text=True, check=True, timeout=140
    )
    return ended.stdout.strip()


@pytest.mark.parametrize(
    ("url", "where"),
    [
        ("redis://ann:secret@host:1234/2", "host:1234"),
        ("rediss://:secret@host", "host:6379"),
        ("redis://", "localhost:6379"),
        ("unix:///run/redis.sock?password=secret", "/run/redis.sock"),
        ("redis://:secret@host:nonsense/0", "host:6379"),
    ],
)
def test_a_place_is_told_without_its_password(url: str, where: str) -> None:
    assert place(url) == where


@pytest.mark.parametrize("url", ["http://:secret@host", "secret", "redis://:secret@host:nonsense/0"])
def test_an_address_that_is_none_is_refused_without_being_repeated(url: str) -> None:
    with pytest.raises(SettingsError) as refused:
        connected(url)
    assert "secret" not in str(refused.value)
