"""A whole Laneway behind a real HTTP server on a free port of this machine."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
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


@contextmanager
def serving_beside(
    database_url: str | None, home: Path, parts: Parts | None = None, **settings: Any
) -> Iterator[Served]:
    """The same in a thread of its own, for tests that share a server though each has an event loop of its own."""
    served: list[Served] = []
    failed: list[BaseException] = []
    known, enough = threading.Event(), asyncio.Event()
    loop = asyncio.new_event_loop()

    async def serve() -> None:
        async with serving(database_url, home, parts, **settings) as found:
            served.append(found)
            known.set()
            await enough.wait()

    def run() -> None:
        try:
            with asyncio.Runner(loop_factory=lambda: loop) as runner:
                runner.run(serve())
        except BaseException as error:
            failed.append(error)
        finally:
            known.set()

    thread = threading.Thread(target=run, name="laneway")
    thread.start()
    known.wait()
    try:
        if served:
            yield served[0]
    finally:
        if thread.is_alive():
            loop.call_soon_threadsafe(enough.set)
        thread.join()
        if failed:
            raise failed[0]
