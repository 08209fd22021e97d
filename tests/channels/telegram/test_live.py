"""The live view follows jobs through the stream of events, and tidies up what an earlier process left standing."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

from laneway.channels.telegram.live import GONE, NEXT_SECONDS, SOON_SECONDS, Live, seat_of
from laneway.channels.telegram.view import WORKING, Seat, Stage, Timing, View
from laneway.domain.job import JobStatus
from laneway.domain.judgement import Event
from laneway.engine.stream import Hub
from laneway.lanes.tools import ToolEntry
from laneway.llm.scripted import Call, Say, ScriptedModel
from laneway.store import jobs, notes
from laneway.store.database import Database
from tests.channels.telegram.client import bot_of
from tests.journeys.tooling import calls
from tests.running import Laneway, laneway
from tests.servers.telegram_server import TelegramServer

QUICK = Timing(typing=0.05, status_after=0.1, draft=0.02, private_edit=0.05, group_edit=0.1)


def sleeper() -> ToolEntry:
    async def sleep_long() -> dict[str, str]:
        """Takes its time."""
        await asyncio.sleep(60)
        return {"status": "success"}

    return ToolEntry(sleep_long)


@asynccontextmanager
async def showing(server: TelegramServer, here: Laneway) -> AsyncIterator[Live]:
    """A process that shows what runs while the block lasts."""
    async with bot_of(server) as bot:
        live = Live(Stage(bot, timing=QUICK), here.app.hub, here.app.db)
        task = asyncio.create_task(live.run())
        try:
            yield live
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)


async def stop(here: Laneway, job_id: UUID) -> None:
    async with here.app.db.transaction() as tx:
        await jobs.request_cancel(tx, job_id)
    await here.until(job_id, JobStatus.CANCELLED)


async def noted(here: Laneway, kind: str, count: int) -> None:
    """So many events of this kind are on record; they are written after what they tell of."""
    async with asyncio.timeout(20):
        while True:
            async with here.app.db.transaction() as tx:
                if len(await notes.recent(tx, [kind], hours=1)) >= count:
                    return
            await asyncio.sleep(0.02)


async def test_only_jobs_that_somebody_on_telegram_waits_for_are_shown(database_url: str, tmp_path: Path) -> None:
    with TelegramServer() as server:
        server.world.chat(42)
        seen = asyncio.Event()

        async def slowly(call: dict[str, Any]) -> None:
            """Long enough to be shown; where it is shown, until somebody has seen it."""
            await (seen.wait() if "on Telegram" in call["text"] else asyncio.sleep(0.5))

        model = ScriptedModel([Say("So.")], on_call=slowly)
        async with laneway(database_url, tmp_path, model) as here, showing(server, here):
            await asyncio.sleep(0.3)
            await here.ask("what is new?")
            await here.ask("/status", "42", channel="telegram")
            assert server.calls == []
            receipt = await here.send("what is new on Telegram?", "42", channel="telegram")
            await server.until(lambda: server.world.shown(42))
            seen.set()
            await here.until(receipt.job_id)
            await server.until(lambda: server.called("deleteMessage"))
        assert (42, "typing") in server.world.actions
        assert server.world.shown(42) == []


async def test_what_a_dead_process_left_standing_is_taken_over_or_taken_away(database_url: str, tmp_path: Path) -> None:
    model = ScriptedModel(calls(Call("sleep_long")))
    with TelegramServer() as server:
        server.world.chat(42)
        server.world.chat(43)
        async with laneway(database_url, tmp_path, model, tools=[sleeper()]) as here:
            async with showing(server, here):
                await asyncio.sleep(0.3)
                goes_on = await here.send("what does it say?", "42", channel="telegram")
                ends = await here.send("what does it say?", "43", channel="telegram")
                await server.until(lambda: server.world.shown(42) and server.world.shown(43))
            await stop(here, ends.job_id)
            async with showing(server, here):
                await server.until(lambda: not server.world.shown(43))
                assert [message.text for message in server.world.shown(42)] == [WORKING]
                actions = len(server.world.actions)
                await server.until(lambda: len(server.world.actions) > actions)
                await stop(here, goes_on.job_id)
                await server.until(lambda: not server.world.shown(42))
                await noted(here, GONE, 2)
            assert len(server.called("sendMessage")) == 2
            count = len(server.called("deleteMessage"))
            async with showing(server, here):
                await asyncio.sleep(0.5)
            assert len(server.called("deleteMessage")) == count == 2


async def test_of_several_jobs_of_a_chat_one_is_shown_at_a_time(database_url: str, tmp_path: Path) -> None:
    model = ScriptedModel(calls(Call("sleep_long")))
    with TelegramServer() as server:
        server.world.chat(42)
        async with laneway(database_url, tmp_path, model, tools=[sleeper()]) as here, showing(server, here):
            await asyncio.sleep(0.3)
            first = await here.send("what does it say?", "42", channel="telegram")
            second = await here.send("and what now?", "42", channel="telegram")
            await server.until(lambda: server.world.shown(42))
            await asyncio.sleep(2 * NEXT_SECONDS)
            assert [message.text for message in server.world.shown(42)] == [WORKING], "the second waits for its turn"
            await stop(here, first.job_id)
            await server.until(lambda: len(server.called("sendMessage")) == 2)
            await server.until(lambda: len(server.world.shown(42)) == 1)
            await stop(here, second.job_id)
            await server.until(lambda: not server.world.shown(42))


async def test_before_the_answer_what_was_shown_is_gone(database_url: str, tmp_path: Path) -> None:
    model = ScriptedModel(calls(Call("sleep_long")))
    with TelegramServer() as server:
        server.world.chat(42)
        async with laneway(database_url, tmp_path, model, tools=[sleeper()]) as here, showing(server, here) as live:
            await asyncio.sleep(0.3)
            receipt = await here.send("what does it say?", "42", channel="telegram")
            await server.until(lambda: server.world.shown(42))
            await live.quiet(str(receipt.message_id))
            assert server.world.shown(42), "it still runs, and what is said in between does not end the view"
            await stop(here, receipt.job_id)
            await live.quiet(str(receipt.message_id))
            await server.until(lambda: not server.world.shown(42))


async def test_a_job_that_waits_and_goes_on_at_once_keeps_its_place_in_line(db: Database) -> None:
    job, thread = uuid4(), uuid4()

    async def unnoted(number: int) -> None:
        return

    def told(kind: str) -> Event:
        return Event(1, "1", thread, job, kind, {}, datetime.now(UTC))

    with TelegramServer() as server:
        async with bot_of(server) as bot:
            live = Live(Stage(bot, timing=QUICK), Hub(db), db)
            before = View(Stage(bot), uuid4(), Seat(42), unnoted)
            before.thread = thread
            live._views[uuid4()] = before
            await live._heed(told("job.queued"), job)
            # It stands behind the other now, and both of these are heard before it has a turn.
            await asyncio.sleep(2 * SOON_SECONDS)
            await live._heed(told("job.waiting"), job)
            await live._heed(told("job.queued"), job)
            for _ in range(5):
                await asyncio.sleep(0)
            assert list(live._soon) == [job]
            await live._leave()


def test_seats_are_chats_and_topics_and_nothing_else() -> None:
    assert seat_of("42") == Seat(42)
    assert seat_of("-1005/7") == Seat(-1005, 7)
    assert seat_of("business/c1/42") is None
    assert seat_of("main") is None
    assert (Seat(-1005, 1).thread_id, Seat(-1005, 7).thread_id) == (None, 7)
