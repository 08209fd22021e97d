"""PostgreSQL dies under load and comes back: every message is answered once."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import tempfile
from pathlib import Path

import psutil
import pytest

from laneway.domain.job import JobStatus
from laneway.errors import Unavailable
from laneway.llm.scripted import Asked, Delay, Say, ScriptedModel, Turn
from laneway.store import jobs
from laneway.store.embedded import EmbeddedPostgres
from laneway.store.migrate import migrate
from tests.running import Laneway, laneway


def slowly(asked: Asked) -> Turn:
    return Delay(Say(f"You said: {asked.text}"), seconds=0.05)


async def ended(pid: int) -> None:
    """Returns once this process is no more."""
    with contextlib.suppress(psutil.NoSuchProcess):
        while psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:
            await asyncio.sleep(0.05)


async def some_done(here: Laneway, count: int) -> None:
    async with asyncio.timeout(90):
        while True:
            try:
                async with here.app.db.transaction() as tx:
                    if (await jobs.counts(tx)).get("done", 0) >= count:
                        return
            except Unavailable:
                pass
            await asyncio.sleep(0.1)


@pytest.mark.slow
@pytest.mark.timeout(240)
async def test_a_database_that_dies_and_comes_back_costs_nothing_but_time() -> None:
    with tempfile.TemporaryDirectory(prefix="laneway-outage-") as folder:
        postgres = EmbeddedPostgres(Path(folder))
        url = postgres.start()
        migrate(url)
        try:
            async with laneway(url, Path(folder), ScriptedModel(slowly)) as here:
                receipts = [await here.send(f"what about {number}?", f"t{number % 10}") for number in range(60)]
                await some_done(here, 3)
                pid = int((Path(folder) / "postgres" / "postmaster.pid").read_text().split()[0])
                # SIGQUIT is PostgreSQL's immediate shutdown: no goodbye, recovery at the next start.
                os.kill(pid, signal.SIGQUIT)
                await asyncio.wait_for(ended(pid), 30)
                with pytest.raises(Unavailable, match="cannot be reached"):
                    await here.send("are you there?")
                assert await asyncio.to_thread(postgres.revive)
                await some_done(here, len(receipts))
                for receipt in receipts:
                    assert (await here.job(receipt.job_id)).status is JobStatus.DONE
                    assert len(await here.replies(receipt.message_id)) == 1
                assert (await here.ask("and now?")).startswith("You said:")
        finally:
            postgres.stop()
