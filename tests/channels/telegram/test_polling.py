"""Long polling: every update is taken once it is committed, through outages, restarts and strangers on our token."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Literal

import pytest
from aiogram import Bot

from laneway.channels.arrival import Arrival, Taken
from laneway.channels.telegram.inbound import NOT_YOURS, Inbound
from laneway.channels.telegram.polling import CONFLICT, POLLING, Pauses, Polling
from laneway.domain.conversation import Role
from laneway.errors import BadInput, Unavailable
from laneway.store import conversations, notes, principals
from laneway.store.database import Database
from tests.channels.telegram.client import bot_of
from tests.servers.telegram_server import Fail, Flood, Garbled, TelegramServer

QUICK = Pauses(wait=1, first=0.05, longest=0.2, conflict=0.1)


@dataclass
class Ledge:
    """A door that writes down what comes, and fails on order."""

    came: list[Arrival] = field(default_factory=list)
    faults: list[Exception] = field(default_factory=list)
    told: list[tuple[str, str]] = field(default_factory=list)
    say: str = ""
    outcome: Literal["taken", "refused", "paired"] = "refused"

    async def take(self, arrival: Arrival) -> Taken:
        if self.faults:
            raise self.faults.pop(0)
        self.came.append(arrival)
        return Taken(self.outcome, self.say)

    async def tell(self, address: str, text: str) -> None:
        self.told.append((address, text))

    @property
    def texts(self) -> list[str]:
        return [arrival.text for arrival in self.came]


@pytest.fixture
def server() -> Iterator[TelegramServer]:
    with TelegramServer() as server:
        yield server


@pytest.fixture
async def bot(server: TelegramServer) -> AsyncIterator[Bot]:
    async with bot_of(server) as bot:
        yield bot


@asynccontextmanager
async def polled(bot: Bot, ledge: Ledge, db: Database) -> AsyncIterator[Polling]:
    inbound = Inbound(bot, ledge.take, ledge.tell, db)
    one = Polling(bot, inbound, db, QUICK)
    task = asyncio.create_task(one.run())
    try:
        yield one
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await inbound.close()


async def test_updates_are_taken_in_order_and_confirmed(server: TelegramServer, bot: Bot, db: Database) -> None:
    ledge = Ledge()
    server.world.updates += [server.updates.message(text) for text in ("one", "two")]
    async with polled(bot, ledge, db):
        await server.until(lambda: len(ledge.came) == 2)
        server.world.updates.append(server.updates.message("three"))
        await server.until(lambda: ledge.texts == ["one", "two", "three"] and not server.world.updates)


async def test_what_is_not_committed_is_not_confirmed(server: TelegramServer, bot: Bot, db: Database) -> None:
    ledge = Ledge(faults=[Unavailable("The database is down.")] * 4)
    server.world.updates += [server.updates.message(text) for text in ("one", "two")]
    async with polled(bot, ledge, db):
        await server.until(lambda: len(ledge.faults) <= 2)
        assert len(server.world.updates) == 2
        await server.until(lambda: ledge.texts == ["one", "two"] and not server.world.updates)


async def test_a_poller_that_died_before_it_confirmed_gets_the_update_again(
    server: TelegramServer, bot: Bot, db: Database
) -> None:
    ledge = Ledge(faults=[ValueError("a defect of ours")])
    server.world.updates.append(server.updates.message("one"))
    async with polled(bot, ledge, db):
        await server.until(lambda: not ledge.faults)
        await asyncio.sleep(0.3)
        assert ledge.texts == []
        assert len(server.world.updates) == 1
    async with polled(bot, ledge, db):
        await server.until(lambda: ledge.texts and not server.world.updates)
    assert ledge.texts == ["one"]


async def test_an_update_that_always_stops_the_taking_is_passed_over_in_the_end(
    server: TelegramServer, bot: Bot, db: Database, caplog: pytest.LogCaptureFixture
) -> None:
    ledge = Ledge(faults=[ValueError("a defect of ours") for _ in range(3)])
    server.world.updates += [server.updates.message(text) for text in ("poison", "two")]
    one = Polling(bot, Inbound(bot, ledge.take, ledge.tell, db), db, QUICK)
    for _ in range(3):
        with pytest.raises(ValueError, match="a defect"):
            await one.run()
    last = asyncio.create_task(one.run())
    await server.until(lambda: ledge.texts == ["two"])
    last.cancel()
    assert "was passed over" in caplog.text


async def test_what_the_door_does_not_take_is_logged_and_goes_on(
    server: TelegramServer, bot: Bot, db: Database, caplog: pytest.LogCaptureFixture
) -> None:
    ledge = Ledge(faults=[BadInput("The thread must be printable.")])
    server.world.updates += [server.updates.message(text) for text in ("one", "two")]
    server.world.updates.append({"update_id": 500_000_900, "a_kind_of_tomorrow": {"x": 1}})
    async with polled(bot, ledge, db):
        await server.until(lambda: ledge.texts == ["two"] and not server.world.updates)
    assert "was not taken: The thread must be printable." in caplog.text


async def test_an_update_with_a_smaller_number_after_a_week_of_silence_comes_through(
    server: TelegramServer, bot: Bot, db: Database
) -> None:
    ledge = Ledge()
    server.world.updates.append(server.updates.message("one"))
    async with polled(bot, ledge, db):
        await server.until(lambda: ledge.came and not server.world.updates)
        await server.until(lambda: "offset" not in server.called("getUpdates")[-1].params)
        server.world.updates.append(server.updates.wrap("message", server.updates.content("two"), update_id=17))
        await server.until(lambda: ledge.texts == ["one", "two"])


async def test_a_webhook_is_given_up_without_dropping_what_waits(
    server: TelegramServer, bot: Bot, db: Database
) -> None:
    await bot.set_webhook("https://example.org/telegram/webhook", secret_token="s")
    server.world.updates.append(server.updates.message("one"))
    ledge = Ledge()
    async with polled(bot, ledge, db):
        await server.until(lambda: ledge.texts == ["one"])
    assert server.world.webhook == {}
    (call,) = server.called("deleteWebhook")
    assert call.params.get("drop_pending_updates") in (None, "false")


async def test_outages_floods_and_broken_answers_are_outlived(server: TelegramServer, bot: Bot, db: Database) -> None:
    server.orders.give("deleteWebhook", Fail(502, page=True))
    server.orders.give("getUpdates", Fail(502), Garbled(), Flood(1), Fail(504, page=True))
    server.world.updates.append(server.updates.message("one"))
    ledge = Ledge()
    async with polled(bot, ledge, db):
        await server.until(lambda: ledge.texts == ["one"])


async def test_somebody_else_on_our_token_is_explained_and_noted_for_the_doctor(
    server: TelegramServer, bot: Bot, db: Database, caplog: pytest.LogCaptureFixture
) -> None:
    words = "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running"
    server.orders.give("getUpdates", Fail(409, words), Fail(409, words))
    ledge = Ledge()
    server.world.updates.append(server.updates.message("one"))
    async with polled(bot, ledge, db):
        await server.until(lambda: ledge.texts == ["one"])
        await asyncio.sleep(0.1)
    assert "somebody else asks for this bot's updates" in caplog.text
    async with db.transaction() as tx:
        assert [event.kind for event in await notes.recent(tx, [CONFLICT, POLLING], hours=1)] == [CONFLICT, POLLING]


async def test_a_token_telegram_does_not_know_is_told_in_the_log_and_not_asked_with_for_a_while(
    server: TelegramServer, db: Database, caplog: pytest.LogCaptureFixture
) -> None:
    async with bot_of(server, "1:wrong") as stranger, polled(stranger, Ledge(), db):
        await server.until(lambda: "does not know this bot token" in caplog.text)
        await asyncio.sleep(0.3)
    assert caplog.text.count("does not know this bot token") == 1
    assert "1:wrong" not in caplog.text


async def test_neither_token_nor_words_of_people_are_logged(
    server: TelegramServer, bot: Bot, db: Database, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    server.orders.give("getUpdates", Fail(502), Garbled())
    server.world.updates.append(server.updates.message("a private word"))
    ledge = Ledge()
    async with polled(bot, ledge, db):
        await server.until(lambda: ledge.texts == ["a private word"])
    ours = "\n".join(record.getMessage() for record in caplog.records if record.name.startswith("laneway"))
    assert server.token not in caplog.text
    assert "private word" not in ours


async def test_a_press_is_answered_with_a_toast_and_a_stranger_in_private(
    server: TelegramServer, bot: Bot, db: Database
) -> None:
    ledge = Ledge(say="x" * 300)
    server.world.chat(42)
    await bot.send_message(42, "Go?")
    press = server.updates.press("a:1", server.world.shown(42)[0])
    server.world.updates += [press, server.updates.message("Hi", sender=42)]
    async with polled(bot, ledge, db):
        await server.until(lambda: server.world.queries[press["callback_query"]["id"]] is not None)
        await server.until(lambda: ledge.told == [("42", "x" * 300)])
    assert server.world.queries[press["callback_query"]["id"]] == {"text": "x" * 200, "show_alert": True}


async def test_who_is_let_in_hears_from_the_outbox_and_not_twice(
    server: TelegramServer, bot: Bot, db: Database
) -> None:
    ledge = Ledge(say="You are paired.", outcome="paired")
    server.world.updates.append(server.updates.message("/start ABCD2345"))
    async with polled(bot, ledge, db):
        await server.until(lambda: ledge.came)
        await asyncio.sleep(0.1)
    assert not ledge.told


async def test_a_stranger_who_calls_us_in_a_group_is_told_alone_and_others_nothing(
    server: TelegramServer, bot: Bot, db: Database
) -> None:
    ledge = Ledge(say="Who are you?")
    server.world.updates.append(server.updates.message("good morning", chat=-5, sender=43))
    server.world.updates.append(server.updates.message("/status", chat=-5, sender=44))
    async with polled(bot, ledge, db):
        await server.until(lambda: ledge.told == [("44", "Who are you?")])


async def test_a_press_that_is_refused_says_so(server: TelegramServer, bot: Bot, db: Database) -> None:
    server.world.chat(42)
    await bot.send_message(42, "Go?")
    press = server.updates.press("a:1", server.world.shown(42)[0])
    server.world.updates.append(press)
    async with polled(bot, Ledge(), db):
        await server.until(lambda: server.world.queries[press["callback_query"]["id"]] is not None)
    assert server.world.queries[press["callback_query"]["id"]] == {"text": NOT_YOURS, "show_alert": True}


async def test_in_a_group_our_name_is_asked_for_once_and_waited_for(
    server: TelegramServer, bot: Bot, db: Database
) -> None:
    server.orders.give("getMe", Fail(502))
    ledge = Ledge()
    server.world.updates += [
        server.updates.message(f"@laneway_test_bot {text}", chat=-5) for text in ("one", "two")
    ]  # fmt: skip
    async with polled(bot, ledge, db):
        await server.until(lambda: ledge.texts == ["one", "two"])
    assert len(server.called("getMe")) == 2


async def test_a_group_that_became_a_supergroup_keeps_its_thread(
    server: TelegramServer, bot: Bot, db: Database
) -> None:
    async with db.transaction() as tx:
        await principals.set_owner_key(tx, "key")
        owner = await principals.owner(tx)
        assert owner is not None
        assert owner.role is Role.OWNER
        before = await conversations.ensure_thread(tx, "telegram", "-5", owner)
    server.world.updates += [
        server.updates.message(chat=-5, migrate_to_chat_id=-1005),
        server.updates.message(chat=-1005, migrate_from_chat_id=-5),
        server.updates.message("/status", chat=-1005),
    ]
    ledge = Ledge()
    async with polled(bot, ledge, db):
        await server.until(lambda: ledge.texts == ["/status"])
    async with db.transaction() as tx:
        after = await conversations.thread_on(tx, "telegram", "-1005")
    assert after is not None
    assert after.id == before.id
