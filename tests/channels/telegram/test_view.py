"""What a chat sees while a job runs: typing, the text as it grows, a Stop button; and nothing after the end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
from aiogram import Bot

from laneway.channels.telegram.api import make_bot
from laneway.channels.telegram.live import GONE, Live, seat_of
from laneway.channels.telegram.view import MOST_UNITS, WORKING, Seat, Stage, Timing, View, tail
from laneway.domain.job import JobStatus
from laneway.lanes.tools import ToolEntry
from laneway.llm.scripted import Call, ScriptedModel
from laneway.store import jobs, notes
from tests.journeys.tooling import calls
from tests.running import Laneway, laneway
from tests.servers.telegram_orders import Order
from tests.servers.telegram_server import Fail, Flood, Slow, TelegramServer

QUICK = Timing(typing=0.05, status_after=0.1, draft=0.02, private_edit=0.05, group_edit=0.1)
GROUP = -1005


def begun(bot: Bot, chat: int = 42, topic: int | None = None, job: UUID | None = None, **more: Any) -> View:
    """A job is shown in the chat from now on."""

    async def unnoted(number: int) -> None:
        return

    one = View(Stage(bot, **{"timing": QUICK, **more}), job or uuid4(), Seat(chat, topic), unnoted)
    one.begin()
    return one


async def test_typing_is_repeated_while_the_job_runs_and_not_after(server: TelegramServer, bot: Bot) -> None:
    one = begun(bot)
    await server.until(lambda: len(server.world.actions) >= 3)
    await one.end()
    count = len(server.world.actions)
    await asyncio.sleep(0.12)
    assert server.world.actions == [(42, "typing")] * count


async def test_after_a_while_there_is_a_stop_button_and_at_the_end_it_is_gone(server: TelegramServer, bot: Bot) -> None:
    job = uuid4()
    server.orders.give("sendMessage", Slow(0.1))
    one = begun(bot, job=job)
    await server.until(lambda: server.world.shown(42))
    (shown,) = server.world.shown(42)
    assert (shown.text, shown.buttons, shown.silent) == (WORKING, [[("Stop", f"s:{job}")]], True)
    await one.end()
    assert server.world.shown(42) == []
    server.orders.give("sendMessage", Slow(0.1))
    late = begun(bot)
    await server.until(lambda: len(server.called("sendMessage")) == 2)
    await late.end()
    assert server.world.shown(42) == [], "nor does one stay that was on its way at the end"


async def test_where_there_are_no_drafts_one_message_is_edited(server: TelegramServer, bot: Bot) -> None:
    server.orders.give("sendMessageDraft", Fail(404, "Not Found: method not found"))
    one = begun(bot)
    one.hear("c", "Hello")
    await server.until(lambda: server.world.shown(42))
    one.hear("c", " there")
    await server.until(lambda: server.world.shown(42)[0].text == "Hello there …")
    assert server.world.shown(42)[0].buttons[0][0][0] == "Stop"
    await one.end()
    assert server.world.shown(42) == []
    assert len(server.called("sendMessageDraft")) == 1


@pytest.mark.parametrize("method", ["sendChatAction", "sendMessageDraft", "sendMessage"])
async def test_at_the_first_flood_that_part_stops_and_is_told(server: TelegramServer, bot: Bot, method: str) -> None:
    floods: list[tuple[int, float]] = []
    server.orders.give(method, Flood(30))
    one = begun(bot, flood=lambda chat, seconds: floods.append((chat, seconds)))
    one.hear("c", "Hello")
    await server.until(lambda: floods)
    # What was on its way when the refusal came may still arrive.
    await one.at_rest()
    before = len(server.calls)
    one.hear("c", " there")
    await asyncio.sleep(0.15)
    await one.end()
    assert floods == [(42, 30.0)]
    assert len(server.called(method)) == 1
    assert [call.method for call in server.calls[before:]] == []


async def test_without_room_nothing_is_shown_so_that_the_answer_has_it(server: TelegramServer, bot: Bot) -> None:
    asked: list[int] = []

    def full(chat: int) -> bool:
        asked.append(chat)
        return False

    one = begun(bot, GROUP, room=full)
    one.hear("c", "Hello")
    await server.until(lambda: len(asked) >= 2)
    await one.end()
    assert server.called("sendMessage") == []


async def test_a_status_is_deleted_in_the_end_or_loses_at_least_its_button(server: TelegramServer, bot: Bot) -> None:
    never = Fail(400, "Bad Request: message can't be deleted for everyone")
    orders: dict[int, Order] = {101: Flood(1), 102: Fail(502), 103: never}
    for chat, order in orders.items():
        server.world.chat(chat)
        server.orders.give("deleteMessage", order, chat=chat)
    views = [begun(bot, chat) for chat in orders]
    await server.until(lambda: all(map(server.world.shown, orders)))
    await asyncio.gather(*(view.end() for view in views))
    assert [[message.buttons for message in server.world.shown(chat)] for chat in orders] == [[], [], [[]]]


async def test_outages_and_blocks_hurt_nobody(server: TelegramServer, bot: Bot) -> None:
    server.orders.outage = Fail(502)
    one = begun(bot)
    one.hear("c", "Hello")
    await server.until(lambda: server.called("sendMessage") and len(server.called("sendChatAction")) >= 2)
    server.orders.outage = None
    await server.until(lambda: server.world.shown(42))
    await one.end()
    server.world.chat(42).blocked = True
    before = len(server.called("sendChatAction"))
    other = begun(bot)
    await server.until(lambda: len(server.called("sendChatAction")) > before)
    await other.end()


def test_of_a_long_text_the_end_is_shown() -> None:
    assert tail(" Hello ") == "Hello"
    long = "😀" * 5000 + "end"
    assert tail(long).endswith("end")
    assert len(tail(long).encode("utf-16-le")) // 2 <= MOST_UNITS + 2


def sleeper(woken: asyncio.Event) -> ToolEntry:
    async def sleep_long() -> dict[str, str]:
        """Takes its time."""
        await woken.wait()
        return {"status": "success"}

    return ToolEntry(sleep_long)


@asynccontextmanager
async def showing(server: TelegramServer, here: Laneway) -> AsyncIterator[Live]:
    """A process that shows what runs while the block lasts."""
    async with make_bot(server.token, server.url).context() as bot:
        live = Live(Stage(bot, timing=QUICK), here.app.hub, here.app.db)
        task = asyncio.create_task(live.run())
        try:
            yield live
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)


@pytest.fixture
async def here(server: TelegramServer, database_url: str, tmp_path: Path) -> AsyncIterator[Laneway]:
    """A Laneway whose jobs take their time, and two more people on Telegram."""
    model, woken = ScriptedModel(calls(Call("sleep_long"))), asyncio.Event()
    for chat in (43, 44):
        server.world.chat(chat)
    async with laneway(database_url, tmp_path, model, tools=[sleeper(woken)]) as running:
        yield running
        woken.set()


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


async def test_only_jobs_that_somebody_on_telegram_waits_for_are_shown(server: TelegramServer, here: Laneway) -> None:
    async with showing(server, here):
        await here.send("what is new?", "43")
        await here.ask("/status", "44", channel="telegram")
        receipt = await here.send("what is new on Telegram?", "42", channel="telegram")
        await server.until(lambda: server.world.shown(42))
        await stop(here, receipt.job_id)
        await server.until(lambda: server.called("deleteMessage"))
        assert set(server.world.actions) == {(42, "typing")}
        assert len(server.called("sendMessage")) == 1


async def test_what_a_dead_process_left_is_taken_over_or_taken_away(server: TelegramServer, here: Laneway) -> None:
    async with showing(server, here):
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
    async with showing(server, here):
        await here.send("what does it say?", "44", channel="telegram")
        await server.until(lambda: server.world.shown(44))
    assert len(server.called("sendMessage")) == 3
    assert len(server.called("deleteMessage")) == 2, "nothing is taken away twice"


def test_seats_are_chats_and_topics_and_nothing_else() -> None:
    assert [seat_of(thread) for thread in ("42", "-1005/7")] == [Seat(42), Seat(-1005, 7)]
    assert [seat_of(thread) for thread in ("business/c1/42", "main")] == [None, None]
    assert (Seat(-1005, 1).thread_id, Seat(-1005, 7).thread_id) == (None, 7), "the general topic is not named"
