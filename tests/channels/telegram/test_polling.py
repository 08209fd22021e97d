"""Long polling: every update is taken once it is committed, through outages, restarts and strangers on our token."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from typing import Literal

import pytest
from aiogram import Bot

from laneway.channels.arrival import Arrival, Taken
from laneway.channels.telegram.api import make_bot
from laneway.channels.telegram.inbound import NOT_YOURS, Inbound
from laneway.channels.telegram.polling import CONFLICT, POLLING, Pauses, Polling
from laneway.errors import BadInput, Unavailable
from laneway.store import notes
from laneway.store.database import Database
from tests.servers.telegram_server import Fail, Flood, Garbled, TelegramServer

Log = pytest.LogCaptureFixture
QUICK = Pauses(wait=1, first=0.05, longest=0.2, conflict=0.1)


@dataclass
class Ledge:
    """A door that writes down what comes, and fails on order."""

    came: list[Arrival] = field(default_factory=list)
    faults: list[Exception | None] = field(default_factory=list)
    told: list[tuple[str, str]] = field(default_factory=list)
    say: str = ""
    outcome: Literal["taken", "refused", "paired"] = "refused"

    async def take(self, arrival: Arrival) -> Taken:
        if (fault := self.faults.pop(0) if self.faults else None) is not None:
            raise fault
        self.came.append(arrival)
        return Taken(self.outcome, self.say)

    async def tell(self, address: str, text: str) -> None:
        self.told.append((address, text))

    @property
    def texts(self) -> list[str]:
        return [arrival.text for arrival in self.came]


Polled = Callable[..., AbstractAsyncContextManager[None]]


@pytest.fixture
def polled(bot: Bot, db: Database) -> Polled:
    """Somebody takes updates to this door while the block lasts."""

    @asynccontextmanager
    async def poll(ledge: Ledge, one: Polling | None = None, as_bot: Bot = bot) -> AsyncIterator[None]:
        inbound = Inbound(as_bot, ledge.take, ledge.tell, db)
        task = asyncio.create_task((one or Polling(as_bot, inbound, db, QUICK)).run())
        try:
            yield
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            await inbound.close()

    return poll


async def test_updates_are_confirmed_in_order_once_they_are_committed(server: TelegramServer, polled: Polled) -> None:
    ledge = Ledge(faults=[Unavailable("The database is down.")] * 4)
    server.world.updates += [server.updates.message(text) for text in ("one", "two")]
    async with polled(ledge):
        await server.until(lambda: len(ledge.faults) <= 2)
        assert len(server.world.updates) == 2
        await server.until(lambda: ledge.texts == ["one", "two"] and not server.world.updates)
        server.world.updates.append(server.updates.message("three"))
        await server.until(lambda: ledge.texts == ["one", "two", "three"] and not server.world.updates)


async def test_a_poller_that_died_gets_the_update_again_and_passes_over_what_always_kills_it(
    server: TelegramServer, polled: Polled, bot: Bot, db: Database, caplog: Log
) -> None:
    defect = ValueError("a defect of ours")
    ledge = Ledge(faults=[defect, None, defect, defect, defect])
    server.world.updates += [server.updates.message(text) for text in ("one", "poison", "two")]
    one = Polling(bot, Inbound(bot, ledge.take, ledge.tell, db), db, QUICK)
    for taken in ([], ["one"], ["one"], ["one"]):
        with pytest.raises(ValueError, match="a defect"):
            await one.run()
        assert ledge.texts == taken
        assert [update["message"]["text"] for update in server.world.updates][-2:] == ["poison", "two"]
    async with polled(ledge, one):
        await server.until(lambda: ledge.texts == ["one", "two"] and not server.world.updates)
    assert "was passed over" in caplog.text


async def test_what_the_door_refuses_is_logged(server: TelegramServer, polled: Polled, caplog: Log) -> None:
    ledge = Ledge(faults=[BadInput("The thread must be printable.")])
    server.world.updates += [server.updates.message(text) for text in ("one", "two")]
    server.world.updates.append({"update_id": 500_000_900, "a_kind_of_tomorrow": {"x": 1}})
    async with polled(ledge):
        await server.until(lambda: ledge.texts == ["two"] and not server.world.updates)
    assert "was not taken: The thread must be printable." in caplog.text


async def test_a_smaller_number_after_a_week_of_silence_comes_through(server: TelegramServer, polled: Polled) -> None:
    ledge = Ledge()
    server.world.updates.append(server.updates.message("one"))
    async with polled(ledge):
        await server.until(lambda: ledge.came and not server.world.updates)
        await server.until(lambda: "offset" not in server.called("getUpdates")[-1].params)
        server.world.updates.append(server.updates.wrap("message", server.updates.content("two"), update_id=17))
        await server.until(lambda: ledge.texts == ["one", "two"])


async def test_a_webhook_is_given_up_without_dropping_what_waits(
    server: TelegramServer, polled: Polled, bot: Bot
) -> None:
    await bot.set_webhook("https://example.org/telegram/webhook", secret_token="s")
    server.world.updates.append(server.updates.message("one"))
    ledge = Ledge()
    async with polled(ledge):
        await server.until(lambda: ledge.texts == ["one"])
    assert server.world.webhook == {}
    (call,) = server.called("deleteWebhook")
    assert call.params.get("drop_pending_updates") in (None, "false")


async def test_outages_are_outlived_and_no_secret_logged(server: TelegramServer, polled: Polled, caplog: Log) -> None:
    caplog.set_level(logging.DEBUG)
    server.orders.give("deleteWebhook", Fail(502, page=True))
    server.orders.give("getUpdates", Fail(502), Garbled(), Flood(1), Fail(504, page=True))
    server.world.updates.append(server.updates.message("a private word"))
    ledge = Ledge()
    async with polled(ledge):
        await server.until(lambda: ledge.texts == ["a private word"])
    ours = "\n".join(record.getMessage() for record in caplog.records if record.name.startswith("laneway"))
    assert server.token not in caplog.text
    assert "private word" not in ours


async def test_somebody_else_on_our_token_is_noted(
    server: TelegramServer, polled: Polled, bot: Bot, db: Database, caplog: Log
) -> None:
    words = "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running"
    server.orders.give("getUpdates", Fail(409, words), Fail(409, words))
    async with polled(Ledge()), asyncio.timeout(20):
        kinds: list[str] = []
        while POLLING not in kinds:
            async with db.transaction() as tx:
                kinds = [event.kind for event in await notes.recent(tx, [CONFLICT, POLLING], hours=1)]
            await asyncio.sleep(0.02)
    assert kinds == [CONFLICT, POLLING]
    assert "somebody else asks for this bot's updates" in caplog.text


async def test_a_wrong_token_is_told_and_given_a_rest(server: TelegramServer, polled: Polled, caplog: Log) -> None:
    async with make_bot("1:wrong", server.url).context() as stranger, polled(Ledge(), as_bot=stranger):
        await server.until(lambda: "does not know this bot token" in caplog.text)
        await asyncio.sleep(0.15)
    assert caplog.text.count("does not know this bot token") == 1
    assert "1:wrong" not in caplog.text


async def test_a_press_is_answered_with_a_toast(server: TelegramServer, polled: Polled, bot: Bot) -> None:
    await bot.send_message(42, "Go?")
    for say, shown in (("x" * 300, "x" * 200), ("", NOT_YOURS)):
        ledge = Ledge(say=say)
        press = server.updates.press("a:1", server.world.shown(42)[0])
        query = press["callback_query"]["id"]
        server.world.updates += [press, server.updates.message("Hi", sender=42)]

        def answered(ledge: Ledge = ledge, query: str = query) -> bool:
            return (
                server.world.queries[query] is not None and len(ledge.came) == 2 and bool(ledge.told or not ledge.say)
            )

        async with polled(ledge):
            await server.until(answered)
        assert server.world.queries[query] == {"text": shown, "show_alert": True}
        assert ledge.told == ([("42", say)] if say else [])


async def test_a_stranger_who_calls_us_in_a_group_is_told_alone(server: TelegramServer, polled: Polled) -> None:
    ledge = Ledge(say="Who are you?")
    server.world.updates.append(server.updates.message("good morning", chat=-5, sender=43))
    server.world.updates.append(server.updates.message("/status", chat=-5, sender=44))
    async with polled(ledge):
        await server.until(lambda: ledge.told == [("44", "Who are you?")])
