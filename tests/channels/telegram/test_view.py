"""What a chat sees while a job runs: typing, the text as it grows, a Stop button; and nothing after the end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any
from uuid import UUID, uuid4

import pytest
from aiogram import Bot

from laneway.channels.telegram.view import MOST_UNITS, WORKING, Seat, Stage, Timing, View, tail
from tests.channels.telegram.client import bot_of
from tests.servers.telegram_server import Fail, Flood, Slow, TelegramServer

QUICK = Timing(typing=0.05, status_after=0.1, draft=0.02, private_edit=0.05, group_edit=0.1)
GROUP = -1005


@pytest.fixture
def server() -> Iterator[TelegramServer]:
    with TelegramServer() as server:
        server.world.chat(42)
        server.world.chat(GROUP).topics = {7}
        yield server


@pytest.fixture
async def bot(server: TelegramServer) -> AsyncIterator[Bot]:
    async with bot_of(server) as bot:
        yield bot


@dataclass
class Notes:
    numbers: list[int] = field(default_factory=list)

    async def put(self, number: int) -> None:
        self.numbers.append(number)


def view(bot: Bot, chat: int = 42, job: UUID | None = None, timing: Timing = QUICK, **more: Any) -> View:
    topic = more.pop("topic", None)
    return View(Stage(bot, timing=timing, **more), job or uuid4(), Seat(chat, topic), Notes().put)


async def test_typing_is_repeated_while_the_job_runs_and_not_after(server: TelegramServer, bot: Bot) -> None:
    one = view(bot)
    one.begin()
    await server.until(lambda: len(server.world.actions) >= 3)
    await one.end()
    count = len(server.world.actions)
    await asyncio.sleep(0.2)
    assert server.world.actions == [(42, "typing")] * count


async def test_after_a_while_there_is_a_stop_button_and_at_the_end_it_is_gone(server: TelegramServer, bot: Bot) -> None:
    job = uuid4()
    one = view(bot, job=job)
    one.begin()
    await server.until(lambda: server.world.shown(42))
    (shown,) = server.world.shown(42)
    assert (shown.text, shown.buttons, shown.silent) == (WORKING, [[("Stop", f"s:{job}")]], True)
    await one.end()
    assert server.world.shown(42) == []
    assert len(server.called("sendMessage")) == 1


async def test_a_quick_job_shows_no_status(server: TelegramServer, bot: Bot) -> None:
    one = view(bot)
    one.begin()
    await asyncio.sleep(0.03)
    await one.end()
    await asyncio.sleep(0.2)
    assert server.called("sendMessage") == []


async def test_a_quick_answer_shows_no_text_before_it(server: TelegramServer, bot: Bot) -> None:
    one = view(bot, GROUP, timing=Timing(typing=0.05, group_edit=0.3))
    one.begin()
    one.hear("c", "You ")
    await asyncio.sleep(0.1)
    await one.end()
    assert server.called("sendMessage") == []


async def test_in_private_the_text_grows_as_a_draft(server: TelegramServer, bot: Bot) -> None:
    one = view(bot)
    one.begin()
    one.hear("call-1", "The disk ")
    await server.until(lambda: server.world.drafts)
    one.hear("call-1", "is <b>full")
    await server.until(lambda: server.world.drafts[-1][2] == "The disk is <b>full")
    one.hear("call-2", "No: ")
    await server.until(lambda: server.world.drafts[-1][2] == "No:")
    await one.end()
    assert len({draft for _, draft, _ in server.world.drafts}) == 1
    assert all(draft for _, draft, _ in server.world.drafts)
    assert not server.called("editMessageText")


async def test_where_there_are_no_drafts_one_message_is_edited(server: TelegramServer, bot: Bot) -> None:
    server.orders.give("sendMessageDraft", Fail(404, "Not Found: method not found"))
    one = view(bot)
    one.begin()
    one.hear("c", "Hello")
    await server.until(lambda: server.world.shown(42))
    one.hear("c", " there")
    await server.until(lambda: server.world.shown(42)[0].text == "Hello there …")
    assert server.world.shown(42)[0].buttons[0][0][0] == "Stop"
    await one.end()
    assert server.world.shown(42) == []
    assert len(server.called("sendMessageDraft")) == 1


async def test_in_a_topic_of_a_group_it_is_shown_in_that_topic_by_edits(server: TelegramServer, bot: Bot) -> None:
    one = view(bot, GROUP, topic=7)
    one.begin()
    one.hear("c", "Hello")
    await server.until(lambda: server.world.shown(GROUP))
    assert server.world.shown(GROUP)[0].topic == 7
    await one.end()
    assert not server.called("sendMessageDraft")


async def test_the_general_topic_is_not_named(server: TelegramServer, bot: Bot) -> None:
    one = view(bot, GROUP, topic=1)
    one.begin()
    await server.until(lambda: server.world.shown(GROUP) and server.world.actions)
    await one.end()


@pytest.mark.parametrize(("chat", "seconds"), [(42, 1.5), (GROUP, 4.0)])
async def test_edits_keep_their_distance(server: TelegramServer, bot: Bot, chat: int, seconds: float) -> None:
    server.orders.give("sendMessageDraft", Fail(400, "Bad Request: TEXTDRAFT_PEER_INVALID"))
    one = view(bot, chat, timing=Timing())
    one.begin()

    async def write() -> None:
        while True:
            one.hear("c", "word ")
            await asyncio.sleep(0.05)

    writing = asyncio.create_task(write())
    await server.until(lambda: len(server.called("editMessageText", chat)) >= (2 if chat > 0 else 1), seconds=20)
    writing.cancel()
    await one.end()
    calls = sorted(call.at for name in ("sendMessage", "editMessageText") for call in server.called(name, chat))
    assert min(later - earlier for earlier, later in pairwise(calls)) >= seconds


@pytest.mark.parametrize("method", ["sendChatAction", "sendMessageDraft", "sendMessage"])
async def test_at_the_first_flood_that_part_stops_and_is_told(server: TelegramServer, bot: Bot, method: str) -> None:
    floods: list[tuple[int, float]] = []
    server.orders.give(method, Flood(30))
    one = view(bot, flood=lambda chat, seconds: floods.append((chat, seconds)))
    one.begin()
    one.hear("c", "Hello")
    await server.until(lambda: floods)
    # What was on its way when the refusal came may still arrive.
    await one.at_rest()
    before = len(server.calls)
    one.hear("c", " there")
    await asyncio.sleep(0.3)
    await one.end()
    assert floods == [(42, 30.0)]
    assert len(server.called(method)) == 1
    assert [call.method for call in server.calls[before:]] == []


async def test_what_is_written_after_the_flood_of_another_part_is_not_shown(server: TelegramServer, bot: Bot) -> None:
    server.orders.give("sendChatAction", Slow(0.2), Flood(30))
    floods: list[float] = []
    one = view(
        bot, timing=Timing(typing=0.05, status_after=60, draft=0.02), flood=lambda _, seconds: floods.append(seconds)
    )
    one.begin()
    await server.until(lambda: floods)
    one.hear("c", "Hello")
    await asyncio.sleep(0.2)
    await one.end()
    assert server.called("sendMessageDraft") == []


async def test_without_room_nothing_is_shown_so_that_the_answer_has_it(server: TelegramServer, bot: Bot) -> None:
    one = view(bot, GROUP, room=lambda chat: False)
    one.begin()
    one.hear("c", "Hello")
    await asyncio.sleep(0.4)
    await one.end()
    assert server.called("sendMessage") == []


async def test_a_status_that_is_on_its_way_at_the_end_is_taken_away_too(server: TelegramServer, bot: Bot) -> None:
    server.orders.give("sendMessage", Slow(0.3))
    one = view(bot)
    one.begin()
    await server.until(lambda: server.called("sendMessage"))
    await one.end()
    assert server.world.shown(42) == []


async def test_a_status_that_cannot_be_deleted_loses_its_button(server: TelegramServer, bot: Bot) -> None:
    server.orders.give("deleteMessage", Fail(400, "Bad Request: message can't be deleted for everyone"))
    one = view(bot)
    one.begin()
    await server.until(lambda: server.world.shown(42))
    await one.end()
    assert server.world.shown(42)[0].buttons == []


async def test_a_deletion_is_tried_again(server: TelegramServer, bot: Bot) -> None:
    server.orders.give("deleteMessage", Flood(1), Fail(502))
    one = view(bot)
    one.begin()
    await server.until(lambda: server.world.shown(42))
    await one.end()
    assert server.world.shown(42) == []


async def test_outages_and_blocks_hurt_nobody(server: TelegramServer, bot: Bot) -> None:
    server.orders.outage = Fail(502)
    one = view(bot)
    one.begin()
    one.hear("c", "Hello")
    await asyncio.sleep(0.3)
    server.orders.outage = None
    await server.until(lambda: server.world.shown(42))
    await one.end()
    server.world.chat(42).blocked = True
    other = view(bot)
    other.begin()
    await asyncio.sleep(0.3)
    await other.end()


def test_of_a_long_text_the_end_is_shown() -> None:
    assert tail(" Hello ") == "Hello"
    long = "😀" * 5000 + "end"
    assert tail(long).endswith("end")
    assert len(tail(long).encode("utf-16-le")) // 2 <= MOST_UNITS + 2
