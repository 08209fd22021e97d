"""What comes before Laneway runs: its settings, PostgreSQL and the tables, with a line for whoever waits."""

from __future__ import annotations

import asyncio
import importlib
import os
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeVar

import typer

from laneway.cli.lifetime import SIGNALS, Ending
from laneway.errors import Unavailable
from laneway.settings import Settings
from laneway.store.embedded import EmbeddedPostgres
from laneway.store.migrate import migrate

Say = Callable[[str], None]
T = TypeVar("T")
PATIENCE = 0.5
"""Seconds after which somebody who waits is told what for."""


def settings_with(*, home: Path | None = None, host: str | None = None, port: int | None = None) -> Settings:
    """The settings in force, where flags are stronger than the environment."""
    flags = {"LANEWAY_HOME": home, "LANEWAY_HOST": host, "LANEWAY_PORT": port}
    return Settings.load({**os.environ, **{name: str(value) for name, value in flags.items() if value is not None}})


@asynccontextmanager
async def prepared(settings: Settings, say: Say, module: str) -> AsyncIterator[Ending]:
    """PostgreSQL runs, the tables are there, `module` is loaded, and signals are heard while the block lasts."""
    settings.home.mkdir(parents=True, exist_ok=True, mode=0o700)

    async def load() -> None:
        await patiently(lambda: importlib.import_module(module), "Loading…", say)

    async def make_tables(url: str) -> None:
        await patiently(lambda: migrate(url), "Preparing tables…", say)

    if settings.database_url is not None:
        with Ending(_nothing).heard() as ending:
            # Tables first: a database that cannot be reached should be told at once.
            await make_tables(settings.database_url.get_secret_value())
            await load()
            yield ending
        return
    embedded = EmbeddedPostgres(settings.home)
    with Ending(embedded.let_go).heard() as ending:
        # Loading takes seconds of our own time, starting PostgreSQL seconds of others': both at once.
        loading = asyncio.create_task(load())
        try:
            url = await patiently(lambda: _undisturbed(embedded.start), "Starting PostgreSQL…", say)
            # Not at once with the tables: two threads that import SQLAlchemy find it half made.
            await loading
            await make_tables(url)
            yield ending
        except Unavailable:
            # A terminal or a supervisor signals children, too: what they broke off was not to go on anyway.
            if not ending.asked:
                raise
            raise typer.Exit(ending.exit_code) from None
        finally:
            await asyncio.gather(loading, return_exceptions=True)
            await asyncio.to_thread(embedded.stop)


async def patiently(work: Callable[[], T], line: str, say: Say) -> T:
    """What `work` returns; if that takes a while, `line` has been said."""
    task = asyncio.create_task(asyncio.to_thread(work))
    done, _ = await asyncio.wait([task], timeout=PATIENCE)
    if not done:
        say(line)
    return await task


def _undisturbed(work: Callable[[], T]) -> T:
    """What `work` returns; the processes it starts are told of signals only when they ask for them."""
    # A terminal sends Ctrl-C to all of them, and a PostgreSQL torn out of its start would be left behind.
    earlier = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    try:
        return work()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, earlier)


def _nothing() -> None:
    return None
