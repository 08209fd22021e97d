"""A whole Laneway behind a real HTTP server on a free port of this machine."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import SecretStr

from laneway.app import KEY_FILE, Parts, running
from laneway.cli.up import address_of, bound
from laneway.cli.web_server import WebServer
from laneway.llm.scripted import Script, ScriptedModel, echo
from laneway.llm.single import only
from laneway.settings import Settings
from laneway.web.server import create_app, end_streams


class Served(NamedTuple):
    """Where it answers, and the owner's key."""

    url: str
    key: str


def scripted(script: Script = echo, **more: Any) -> Parts:
    """The usual parts with a model that follows a script, in the ledger like any other."""
    return Parts(models=lambda db: only(ScriptedModel(script), db), **more)


@asynccontextmanager
async def serving(
    database_url: str | None, home: Path, parts: Parts | None = None, **settings: Any
) -> AsyncIterator[Served]:
    """Laneway runs and answers HTTP while the block lasts; without an address it starts its own PostgreSQL."""
    address = None if database_url is None else SecretStr(database_url)
    chosen = Settings(
        home=home,
        database_url=address,
        **{
            "retry_seconds": 0.05,
            "host": "127.0.0.1",
            "local_classifier": False,
            "messages_per_minute": 100_000,
            **settings,
        },
    )
    async with running(chosen, parts or scripted()) as app:
        api = create_app(app)
        server = WebServer(api)
        with bound(chosen.host, 0) as listener:
            task = asyncio.create_task(server.serve([listener]))
            await server.has_started(task)
            try:
                yield Served(address_of(listener), (home / KEY_FILE).read_text().strip())
            finally:
                end_streams(api)
                server.should_exit = True
                await task
