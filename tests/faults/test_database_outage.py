"""PostgreSQL dies under load, hangs, or does not start, and comes back: nothing is lost, made twice or left unsure."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import tempfile
from contextlib import ExitStack
from pathlib import Path

import httpx
import psutil
import pytest

from laneway.domain.job import JobStatus
from laneway.domain.judgement import EffectState
from laneway.errors import Unavailable
from laneway.lanes.tools import ToolEntry
from laneway.llm.scripted import Asked, Call, Delay, Say, ScriptedModel, Turn
from laneway.store import effects, jobs
from laneway.store.embedded import EmbeddedPostgres
from laneway.store.migrate import migrate
from tests.running import Laneway, laneway
from tests.serving import serving
from tests.web.test_database_down import away


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


def suspended(folder: Path) -> list[psutil.Process]:
    """Every process of this PostgreSQL; none of them moves any more."""
    postmaster = psutil.Process(int((folder / "postgres" / "postmaster.pid").read_text().split()[0]))
    found = [postmaster, *postmaster.children(recursive=True)]
    for process in found:
        process.suspend()
    return found


@pytest.mark.slow
@pytest.mark.timeout(240)
async def test_postgresql_is_revived_as_often_as_it_takes_and_health_tells_the_truth_meanwhile() -> None:
    with tempfile.TemporaryDirectory(prefix="laneway-outage-") as folder:
        home = Path(folder)
        async with (
            serving(None, home) as served,
            httpx.AsyncClient(
                base_url=served.url, headers={"Authorization": f"Bearer {served.key}"}, timeout=60
            ) as door,
        ):
            assert (await door.get("/health")).json()["status"] == "ok"
            frozen = suspended(home)
            try:
                await until_told(door)
                assert (await door.get("/health")).json()["trouble"] == {"database": "It does not answer."}
            finally:
                for process in frozen:
                    process.resume()
            await until_ready(door)
            # As when its disk is full: it dies, and does not start.
            (home / "postgres" / "global").rename(home / "postgres" / "elsewhere")
            pid = int((home / "postgres" / "postmaster.pid").read_text().split()[0])
            os.kill(pid, signal.SIGQUIT)
            await until_told(door)
            # One start has failed, and another: each leaves its line in PostgreSQL's log.
            async with asyncio.timeout(60):
                while (home / "postgres" / "log").read_text().count("could not find the database system") < 2:
                    await asyncio.sleep(0.1)
            (home / "postgres" / "elsewhere").rename(home / "postgres" / "global")
            await until_ready(door)
            assert (await door.get("/health")).json()["status"] == "ok"
            assert (await door.post("/messages", json={"text": "and now?"})).status_code == 202


async def until_told(door: httpx.AsyncClient) -> None:
    """Both say it within the five seconds that are promised."""
    async with asyncio.timeout(5):
        while (await door.get("/ready")).status_code != 503:
            await asyncio.sleep(0.1)
        assert (await door.get("/health")).json()["status"] == "degraded"


async def until_ready(door: httpx.AsyncClient) -> None:
    async with asyncio.timeout(90):
        while (await door.get("/ready")).status_code != 200:
            await asyncio.sleep(0.1)


@pytest.mark.timeout(120)
async def test_an_effect_that_ends_while_the_database_is_away_is_on_record_and_made_once(
    postgres: str, database_url: str, tmp_path: Path
) -> None:
    made, outage = list[str](), ExitStack()

    async def order(what: str) -> dict[str, str]:
        """Orders something; twice would be wrong."""
        made.append(what)
        outage.enter_context(away(postgres, database_url))
        asyncio.get_running_loop().call_later(2, outage.close)
        return {"status": "success"}

    def script(asked: Asked) -> Turn:
        return Call("order", {"what": "tea"}) if asked.turn == 0 else Say(f"Ordered: {asked.tool_results[-1]}")

    tools = [ToolEntry(order, changes=True, idempotent=False)]
    payload = {"classification": {"intent": "command", "summary": "", "plan": ""}}
    async with laneway(database_url, tmp_path, ScriptedModel(script), tools=tools) as here:
        receipt = await here.send("order tea", mode="EXECUTE", payload=payload)
        await some_done(here, 1)
        async with here.app.db.transaction() as tx:
            (effect,) = await effects.of_job(tx, receipt.job_id)
        (reply,) = await here.replies(receipt.message_id)
        kinds = await here.kinds(receipt.job_id)
    assert (made, effect.state, kinds.count("tool.finished")) == (["tea"], EffectState.DONE, 1)
    assert "success" in reply.text
    assert "uncertain" not in reply.text
