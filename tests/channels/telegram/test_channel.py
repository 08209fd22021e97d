"""Replies by Telegram: the real aiogram client against the loopback Bot API."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from aiogram.exceptions import AiogramError

from laneway.channels.contract import SENT_AGAIN, Button
from laneway.channels.pacing import Pacer
from laneway.channels.telegram.api import make_bot
from laneway.channels.telegram.channel import TelegramChannel
from laneway.channels.telegram.layout import parts_of, rows_of
from laneway.domain.judgement import OutboxRow, OutboxState
from laneway.errors import LanewayError, PermanentFault, SettingsError, TooLarge, TransientFault, UncertainFault
from tests.channels.clocks import Time
from tests.servers.telegram_orders import Order
from tests.servers.telegram_server import Cut, Fail, Flood, Garbled, Slow, TelegramServer

ID = UUID("019a8e5c-7b1d-7c3e-9f00-0123456789ab")


def reply(text: str = "Hello", thread: str = "42", **more: Any) -> OutboxRow:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    given: dict[str, Any] = {
        "id": 1, "message_id": ID, "thread_id": ID, "channel": "telegram", "thread_external_id": thread, "text": text,
        "state": OutboxState.SENDING, "attempts": 1, "resent": False, "error": None, "created_at": now, "sent_at": None,
    }  # fmt: skip
    return OutboxRow(**{**given, **more})


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture
async def channel(server: TelegramServer, time: Time) -> AsyncIterator[TelegramChannel]:
    channel = TelegramChannel(make_bot(server.token, server.url), Pacer(time, time.sleep))
    yield channel
    await channel.close()


async def send_all(channel: TelegramChannel, row: OutboxRow) -> list[dict[str, Any]]:
    return [await channel.send(row, part, again=False) for part in channel.parts(row)]


async def send(channel: TelegramChannel, row: OutboxRow, *, again: bool = False) -> dict[str, Any]:
    return await channel.send(row, channel.parts(row)[0], again)


async def test_9000_characters_arrive_in_parts_and_whole(
    server: TelegramServer, channel: TelegramChannel, time: Time
) -> None:
    code = "\n".join(f"    print({n}, '<&>')" for n in range(200))
    text = "Intro. " * 300 + f"\n\n```python\n{code}\n```\n\n" + "Outro. " * 400
    row = reply(text, meta={"undoable": str(ID)})
    assert channel.parts(row) == channel.parts(row)
    await send_all(channel, row)
    seen = server.world.shown(42)
    assert len(seen) >= 3
    assert "".join("".join(message.text for message in seen).split()) == "".join(
        text.replace("```python", "").replace("```", "").split()
    )
    assert [message.buttons for message in seen] == [*[[]] * (len(seen) - 1), [[("Undo", f"u:{ID}")]]]
    assert time.seconds == len(seen) - 1
    for part in channel.parts(row):
        await channel.send(row, part, again=True)
    assert all(message.text.startswith(SENT_AGAIN) for message in server.world.shown(42)[len(seen) :])


async def test_what_telegram_cannot_read_goes_as_plain_text(server: TelegramServer, channel: TelegramChannel) -> None:
    broken = Fail(400, 'Bad Request: can\'t parse entities: Unsupported start tag "x" at byte offset 0')
    server.orders.give("sendMessage", broken)
    receipt = await send(channel, reply("**See** [this](https://x.org) & that"), again=True)
    (seen,) = server.world.shown(42)
    assert (seen.text, seen.entities) == (f"{SENT_AGAIN}See this (https://x.org) & that", [])
    assert receipt["plain"] is True
    server.orders.give("sendMessage", broken, broken)
    with pytest.raises(PermanentFault, match="can't parse entities"):
        await send(channel, reply())
    assert len(server.called("sendMessage")) == 4


def test_buttons_stand_in_rows_that_a_phone_can_show() -> None:
    assert [len(row) for row in rows_of([Button("a", "x")] * 19)] == [8, 8, 3]
    long = rows_of([Button("Restart the web server now", "1"), Button("w" * 300, "2")])
    assert [len(row) for row in long] == [1, 1]
    assert len(long[1][0][0]) == 60
    data = ["x" * 64, "x" * 65, "ä" * 33, ""]
    assert [b.data for b in parts_of("?", [Button("a", d) for d in data])[-1].buttons] == ["x" * 64]


async def test_a_question_has_its_buttons_and_loses_them_when_it_is_answered(
    server: TelegramServer, channel: TelegramChannel
) -> None:
    row = reply("Delete **/srv**?", meta={"approval": str(ID)})
    receipts = await send_all(channel, row)
    assert [data for _, data in server.world.shown(42)[0].buttons[0]] == [f"a:{ID}", f"r:{ID}", f"w:{ID}"]
    # Once more, as after a restart: nothing changes, and nobody complains.
    for known in (receipts, receipts, []):
        await channel.settle(row, known, "Approved.")
    (seen,) = server.world.shown(42)
    assert (seen.text, seen.buttons) == ("Delete /srv?\n\nApproved.", [])
    assert [entity["type"] for entity in seen.entities] == ["bold", "italic"]
    receipts = await send_all(channel, row)
    server.orders.give("editMessageText", Fail(400, "Bad Request: message can't be edited"))
    await channel.settle(row, receipts, "Approved.")
    assert (server.world.shown(42)[-1].text, server.world.shown(42)[-1].buttons) == ("Delete /srv?", [])


async def test_a_reply_goes_to_its_topic_or_its_person(server: TelegramServer, channel: TelegramChannel) -> None:
    server.world.chat(-1005).topics = {7}
    await send(channel, reply(thread="-1005/7"))
    await send(channel, reply(thread="-1005/1"))
    assert [message.topic for message in server.world.shown(-1005)] == [7, None]
    await send(channel, reply(thread="some-thread", address="42"))
    assert len(server.world.shown(42)) == 1
    for thread, why in (("-1005/8", "message thread not found"), ("some-thread", "no chat on Telegram")):
        with pytest.raises(PermanentFault, match=why):
            await send(channel, reply(thread=thread))


async def test_a_group_that_became_a_supergroup_is_followed_once(server: TelegramServer, time: Time) -> None:
    told: list[tuple[str, str]] = []

    async def moved(before: str, after: str) -> None:
        told.append((before, after))

    server.world.chat(-6).migrated_to = -1006
    server.world.chat(-1006)
    channel = TelegramChannel(make_bot(server.token, server.url), Pacer(time, time.sleep), moved=moved)
    receipt = await send(channel, reply(thread="-6"))
    await send(channel, reply(thread="-6"))
    await channel.close()
    assert told == [("-6", "-1006")]
    assert receipt["chat"] == -1006
    assert [call.chat for call in server.called("sendMessage")] == [-6, -1006, -1006]


async def test_every_failure_says_whether_the_reply_was_taken(server: TelegramServer, channel: TelegramChannel) -> None:
    cases: list[tuple[Order, type[Exception], int]] = [
        (Fail(502), TransientFault, 0),
        (Fail(504, page=True), TransientFault, 0),
        (Fail(401, "Unauthorized"), TransientFault, 0),
        (Cut(taken=False), UncertainFault, 0),
        (Cut(taken=True), UncertainFault, 1),
        (Garbled(), UncertainFault, 1),
        (Fail(403, "Forbidden: bot was blocked by the user"), PermanentFault, 0),
        (Fail(400, "Bad Request: chat not found"), PermanentFault, 0),
        (Fail(413, "Request Entity Too Large"), PermanentFault, 0),
        (Flood(17), TransientFault, 0),
    ]
    wrong = []
    for order, fault, taken in cases:
        shown, calls = len(server.world.shown(42)), len(server.called("sendMessage"))
        server.orders.give("sendMessage", order)
        with pytest.raises(LanewayError) as failed:
            await send(channel, reply())
        met = len(server.world.shown(42)) - shown, len(server.called("sendMessage")) - calls
        if type(failed.value) is not fault or met != (taken, 1):
            wrong.append(f"{order}: {failed.value!r} {met}")
    assert not wrong, "\n".join(wrong)


async def test_no_answer_leaves_it_uncertain_and_no_connection_does_not(server: TelegramServer, time: Time) -> None:
    channel = TelegramChannel(make_bot(server.token, server.url, seconds=0.7), Pacer(time, time.sleep))
    # There is a connection now, so that the patience of the next call is for the answer alone.
    await channel.check()
    server.orders.give("sendMessage", Slow(60))
    with pytest.raises(UncertainFault):
        await send(channel, reply())
    await channel.close()
    await server.until(lambda: len(server.world.shown(42)) == 1)
    with TelegramServer() as gone:
        nowhere = TelegramChannel(make_bot(gone.token, gone.url), Pacer(time, time.sleep))
    with pytest.raises(TransientFault, match="cannot be reached"):
        await send(nowhere, reply())
    with pytest.raises(TransientFault):
        await nowhere.check()
    await nowhere.close()
    with pytest.raises(SettingsError, match="TELEGRAM_BOT_TOKEN") as refused:
        make_bot("s3cret-without-colon")
    assert "s3cret" not in str(refused.value)


async def test_429_holds_its_chat_and_others_go_on(
    server: TelegramServer, channel: TelegramChannel, time: Time
) -> None:
    server.world.chat(43)
    server.orders.give("sendMessage", Flood(30), chat=42)
    with pytest.raises(TransientFault):
        await send(channel, reply())
    with pytest.raises(TransientFault) as waiting:
        await send(channel, reply())
    assert waiting.value.retry_after == 30
    assert len(server.called("sendMessage", 42)) == 1
    assert not channel.room(42)
    await send(channel, reply(thread="43"))
    time.advance(30)
    await send(channel, reply())
    assert len(server.world.shown(42)) == len(server.world.shown(43)) == 1


async def test_a_file_is_fetched_and_a_large_one_refused(server: TelegramServer, channel: TelegramChannel) -> None:
    voice, huge = server.world.file(b"OggS" * 1000), server.world.file(bytes((20 << 20) + 1))
    assert await channel.fetch({"file_id": voice}, 1 << 20) == b"OggS" * 1000
    for method, order in (("file", Fail(502)), ("getFile", Cut(taken=True))):
        server.orders.give(method, order)
        with pytest.raises(TransientFault):
            await channel.fetch({"file_id": voice}, 1 << 20)
    for file, most, words in ((voice, 100, "more than 100 bytes"), (huge, 1 << 30, "20 MB")):
        with pytest.raises(TooLarge, match=words):
            await channel.fetch({"file_id": file}, most)
    with pytest.raises(PermanentFault, match="wrong file_id"):
        await channel.fetch({"file_id": "invented"}, 1 << 20)


async def test_strangers_are_told_little_and_nothing_breaks(server: TelegramServer, channel: TelegramChannel) -> None:
    await channel.tell("42", "<b>You are not known here.")
    assert server.world.shown(42)[0].text == "<b>You are not known here."
    await channel.tell("43", "No such chat.")
    await channel.tell("nobody", "No address.")
    for chat in range(200, 230):
        server.world.chat(chat)
        await channel.tell(str(chat), "Who are you?")
    assert len(server.world.messages) <= 10


async def test_the_token_is_in_no_error_and_no_log(
    server: TelegramServer, channel: TelegramChannel, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    voice = server.world.file(b"x")
    orders = (Cut(taken=True), Cut(taken=False), Garbled(), Fail(502, page=True), Fail(403, f"See {server.token}"))
    for order in orders:
        server.orders.give("sendMessage", order)
        server.orders.give("getFile", order)
    for order in (Fail(404), Fail(502)):
        server.orders.give("file", order)
    errors: list[BaseException] = []
    for _ in range(len(orders) + 2):
        for call in (send(channel, reply()), channel.fetch({"file_id": voice}, 100), channel.bot.get_file("x")):
            try:
                await call
            except (AiogramError, LanewayError) as error:
                errors.append(error)
                logging.getLogger("test").error("Failed: %r", error, exc_info=error)
    secret = server.token.partition(":")[2]
    # The loopback server itself writes down what it is asked; the real one is Telegram's.
    ours = [record for record in caplog.records if not record.name.startswith("uvicorn")]
    shown = logging.Formatter("%(name)s %(message)s")
    assert min(len(errors), len(ours)) > 12
    assert not [line for line in map(shown.format, ours) if secret in line]
    assert not any(secret in f"{error} {error!r}" for error in errors)
