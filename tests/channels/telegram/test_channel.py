"""Replies by Telegram: the real aiogram client against the loopback Bot API."""

from __future__ import annotations

import logging
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from aiogram.exceptions import AiogramError

from laneway.channels.contract import SENT_AGAIN, Button, Part
from laneway.channels.pacing import Limit, Pacer
from laneway.channels.telegram.api import make_bot
from laneway.channels.telegram.channel import KEPT_FREE, TelegramChannel, limits
from laneway.channels.telegram.layout import parts_of, rows_of
from laneway.clock import FakeClock
from laneway.domain.judgement import OutboxRow, OutboxState
from laneway.errors import PermanentFault, SettingsError, TooLarge, TransientFault, UncertainFault
from tests.servers.telegram_server import Cut, Fail, Flood, Garbled, Slow, TelegramServer

ID = UUID("019a8e5c-7b1d-7c3e-9f00-0123456789ab")


class Time(FakeClock):
    """A clock that sleeping moves."""

    async def sleep(self, seconds: float) -> None:
        """The clock shows so much later."""
        self.advance(seconds)


def reply(text: str = "Hello", thread: str = "42", **more: Any) -> OutboxRow:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    given: dict[str, Any] = {
        "id": 1, "message_id": ID, "thread_id": ID, "channel": "telegram", "thread_external_id": thread, "text": text,
        "state": OutboxState.SENDING, "attempts": 1, "resent": False, "error": None, "created_at": now, "sent_at": None,
    }  # fmt: skip
    return OutboxRow(**{**given, **more})


@pytest.fixture
def server() -> Iterator[TelegramServer]:
    with TelegramServer() as server:
        server.world.chat(42)
        yield server


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


async def test_a_reply_stands_in_its_chat_as_the_model_meant_it(
    server: TelegramServer, channel: TelegramChannel
) -> None:
    receipt = await send(channel, reply("**Disk** is at `93 %`. [More](https://x.org)"))
    (seen,) = server.world.shown(42)
    assert (seen.text, [entity["type"] for entity in seen.entities]) == (
        "Disk is at 93 %. More", ["bold", "code", "text_link"],
    )  # fmt: skip
    assert receipt == {"id": f"42:{seen.message_id}", "chat": 42, "message": seen.message_id}
    assert server.called("sendMessage")[0].params["link_preview_options"] == '{"is_disabled": true}'


async def test_9000_characters_with_code_arrive_in_parts_and_whole(
    server: TelegramServer, channel: TelegramChannel, time: Time
) -> None:
    code = "\n".join(f"    print({n}, '<&>')" for n in range(200))
    text = "Intro. " * 300 + f"\n\n```python\n{code}\n```\n\n" + "Outro. " * 400
    assert len(text) > 9000
    row = reply(text, meta={"undoable": str(ID)})
    assert channel.parts(row) == channel.parts(row)
    began = time.now()
    await send_all(channel, row)
    seen = server.world.shown(42)
    assert len(seen) >= 3
    assert "".join("".join(message.text for message in seen).split()) == "".join(
        text.replace("```python", "").replace("```", "").split()
    )
    assert [message.buttons for message in seen[:-1]] == [[]] * (len(seen) - 1)
    assert seen[-1].buttons == [[("Undo", f"u:{ID}")]]
    assert (time.now() - began).total_seconds() == len(seen) - 1


async def test_a_part_sent_again_says_so_and_still_fits(server: TelegramServer, channel: TelegramChannel) -> None:
    row = reply("<&> 😀 " * 2000)
    for part in channel.parts(row):
        await channel.send(row, part, again=True)
    assert all(message.text.startswith(SENT_AGAIN) for message in server.world.shown(42))


async def test_what_telegram_cannot_read_goes_once_as_plain_text(
    server: TelegramServer, channel: TelegramChannel
) -> None:
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


async def test_buttons_stand_in_rows_that_a_phone_can_show() -> None:
    assert [len(row) for row in rows_of([Button("a", "x")] * 19)] == [8, 8, 3]
    assert rows_of([Button("Yes", "a"), Button("No", "r"), Button("Always", "w")]) == [
        [("Yes", "a"), ("No", "r"), ("Always", "w")]
    ]
    long = rows_of([Button("Restart the web server now", "1"), Button("Leave everything as it is", "2")])
    assert [len(row) for row in long] == [1, 1]
    assert len(rows_of([Button("w" * 300, "1")])[0][0][0]) == 60
    data = ["x" * 64, "x" * 65, "ä" * 33, ""]
    assert [b.data for b in parts_of("?", [Button("a", d) for d in data])[-1].buttons] == ["x" * 64]


async def test_a_question_has_its_buttons_and_loses_them_when_it_is_answered(
    server: TelegramServer, channel: TelegramChannel
) -> None:
    row = reply("Delete **/srv**?", meta={"approval": str(ID)})
    receipts = await send_all(channel, row)
    assert [data for _, data in server.world.shown(42)[0].buttons[0]] == [f"a:{ID}", f"r:{ID}", f"w:{ID}"]
    await channel.settle(row, receipts, "Approved.")
    (seen,) = server.world.shown(42)
    assert (seen.text, seen.buttons) == ("Delete /srv?\n\nApproved.", [])
    assert [entity["type"] for entity in seen.entities] == ["bold", "italic"]
    # Once more, as after a restart: nothing changes, and nobody complains.
    await channel.settle(row, receipts, "Approved.")
    await channel.settle(row, [], "Approved.")


async def test_a_question_too_odd_to_edit_at_least_loses_its_buttons(
    server: TelegramServer, channel: TelegramChannel
) -> None:
    row = reply("x " * 5000, meta={"approval": str(ID)})
    receipts = await send_all(channel, row)
    await channel.settle(row, receipts, "Expired. " * 90)
    assert server.world.shown(42)[-1].text.endswith("Expired. Ex")
    row = reply("Sure?", meta={"approval": str(ID)})
    receipts = await send_all(channel, row)
    server.orders.give("editMessageText", Fail(400, "Bad Request: message can't be edited"))
    await channel.settle(row, receipts, "Approved.")
    assert (server.world.shown(42)[-1].text, server.world.shown(42)[-1].buttons) == ("Sure?", [])


async def test_topics_are_answered_where_they_were_asked(server: TelegramServer, channel: TelegramChannel) -> None:
    server.world.chat(-1005).topics = {7}
    await send(channel, reply(thread="-1005/7"))
    await send(channel, reply(thread="-1005/1"))
    assert [message.topic for message in server.world.shown(-1005)] == [7, None]
    with pytest.raises(PermanentFault, match="message thread not found"):
        await send(channel, reply(thread="-1005/8"))


async def test_a_thread_without_a_chat_is_answered_at_the_persons_address(
    server: TelegramServer, channel: TelegramChannel
) -> None:
    await send(channel, reply(thread="some-thread", address="42"))
    assert len(server.world.shown(42)) == 1
    with pytest.raises(PermanentFault, match="no chat on Telegram"):
        await send(channel, reply(thread="some-thread"))


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


@pytest.mark.parametrize(
    ("order", "fault", "taken"),
    [
        (Flood(17), TransientFault, 0),
        (Fail(502), TransientFault, 0),
        (Fail(504, page=True), TransientFault, 0),
        (Fail(401, "Unauthorized"), TransientFault, 0),
        (Cut(taken=False), UncertainFault, 0),
        (Cut(taken=True), UncertainFault, 1),
        (Garbled(), UncertainFault, 1),
        (Fail(403, "Forbidden: bot was blocked by the user"), PermanentFault, 0),
        (Fail(400, "Bad Request: chat not found"), PermanentFault, 0),
        (Fail(413, "Request Entity Too Large"), PermanentFault, 0),
    ],
)
async def test_every_failure_says_whether_the_reply_was_taken(
    server: TelegramServer, channel: TelegramChannel, order: Any, fault: type[Exception], taken: int
) -> None:
    server.orders.give("sendMessage", order)
    with pytest.raises(fault) as failed:
        await send(channel, reply())
    assert len(server.world.shown(42)) == taken
    assert len(server.called("sendMessage")) == 1
    if isinstance(order, Flood):
        assert isinstance(failed.value, TransientFault)
        assert failed.value.retry_after == 17


async def test_an_answer_that_does_not_come_leaves_it_uncertain(server: TelegramServer, time: Time) -> None:
    channel = TelegramChannel(make_bot(server.token, server.url, seconds=2), Pacer(time, time.sleep))
    # There is a connection now, so that the patience of the next call is for the answer alone.
    await channel.check()
    server.orders.give("sendMessage", Slow(60))
    with pytest.raises(UncertainFault):
        await send(channel, reply())
    await channel.close()
    await server.until(lambda: len(server.world.shown(42)) == 1)


async def test_no_connection_means_certainly_not_taken(time: Time) -> None:
    with TelegramServer() as server:
        url, token = server.url, server.token
    channel = TelegramChannel(make_bot(token, url), Pacer(time, time.sleep))
    with pytest.raises(TransientFault, match="cannot be reached"):
        await send(channel, reply())
    with pytest.raises(TransientFault):
        await channel.check()
    await channel.close()


async def test_a_check_tells_whether_telegram_answers(server: TelegramServer, channel: TelegramChannel) -> None:
    await channel.check()
    server.orders.outage = Cut(taken=False)
    with pytest.raises(TransientFault):
        await channel.check()
    server.orders.outage = Fail(500, "Internal Server Error")
    with pytest.raises(TransientFault):
        await channel.check()


async def test_429_is_obeyed_in_its_chat_and_others_go_on(
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


async def test_live_edits_leave_a_group_room_for_its_answer(
    server: TelegramServer, channel: TelegramChannel, time: Time
) -> None:
    server.world.chat(-5)
    edits = 0
    for _ in range(30):
        edits += channel.room(-5)
        time.advance(1.5)
    assert edits == 20 - KEPT_FREE
    for _ in range(KEPT_FREE):
        await send(channel, reply(thread="-5"))
    with pytest.raises(TransientFault) as full:
        await send(channel, reply(thread="-5"))
    assert full.value.retry_after is not None
    assert 3 < full.value.retry_after <= 60
    channel.flood(-5, 100)
    assert full.value.retry_after < Pacer.delay(channel._pacer, limits(-5))


async def test_chats_share_thirty_messages_a_second(server: TelegramServer) -> None:
    for chat in range(100, 140):
        server.world.chat(chat)
    time = Time()
    began, moments = time.now(), []
    channel = TelegramChannel(make_bot(server.token, server.url), Pacer(time, time.sleep))
    for chat in range(100, 140):
        await send(channel, reply(thread=str(chat)))
        moments.append((time.now() - began).total_seconds())
    await channel.close()
    assert len(server.called("sendMessage")) == 40
    assert (moments[0], moments[-1] >= 1.0) == (0.0, True)
    assert all(later - first >= 1.0 for first, later in zip(moments, moments[30:], strict=False))


async def test_a_file_is_fetched_and_a_large_one_refused(server: TelegramServer, channel: TelegramChannel) -> None:
    voice = server.world.file(b"OggS" * 1000)
    assert await channel.fetch({"file_id": voice}, 1 << 20) == b"OggS" * 1000
    with pytest.raises(TooLarge, match="more than 100 bytes"):
        await channel.fetch({"file_id": voice}, 100)
    with pytest.raises(TooLarge, match="20 MB"):
        await channel.fetch({"file_id": server.world.file(bytes((20 << 20) + 1))}, 1 << 30)
    with pytest.raises(PermanentFault, match="wrong file_id"):
        await channel.fetch({"file_id": "invented"}, 1 << 20)
    server.orders.give("file", Fail(502))
    with pytest.raises(TransientFault):
        await channel.fetch({"file_id": voice}, 1 << 20)
    server.orders.give("getFile", Cut(taken=True))
    with pytest.raises(TransientFault):
        await channel.fetch({"file_id": voice}, 1 << 20)


async def test_strangers_are_told_little_and_nothing_breaks(server: TelegramServer, channel: TelegramChannel) -> None:
    await channel.tell("42", "<b>You are not known here.")
    assert server.world.shown(42)[0].text == "<b>You are not known here."
    await channel.tell("43", "No such chat.")
    await channel.tell("nobody", "No address.")
    for chat in range(200, 230):
        server.world.chat(chat)
        await channel.tell(str(chat), "Who are you?")
    assert len(server.world.messages) <= 10


async def test_the_token_is_in_no_error_and_in_no_log(
    server: TelegramServer, time: Time, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    channel = TelegramChannel(make_bot(server.token, server.url), Pacer(time, time.sleep))
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
            except (AiogramError, TransientFault, UncertainFault, PermanentFault, TooLarge) as error:
                errors.append(error)
                logging.getLogger("test").error("Failed: %r", error, exc_info=error)
    await channel.close()
    assert len(errors) > 12
    secret = server.token.partition(":")[2]
    # The loopback server itself writes down what it is asked; the real one is Telegram's.
    ours = [record for record in caplog.records if not record.name.startswith("uvicorn")]
    shown = logging.Formatter("%(name)s %(message)s")
    assert len(ours) > 12
    assert not [line for line in map(shown.format, ours) if secret in line]
    assert not any(secret in f"{error} {error!r}" for error in errors)


def test_a_token_that_is_none_is_said_so_without_telling_it() -> None:
    with pytest.raises(SettingsError, match="TELEGRAM_BOT_TOKEN") as refused:
        make_bot("s3cret-without-colon")
    assert "s3cret" not in str(refused.value)


def test_a_part_is_the_same_after_a_restart() -> None:
    assert parts_of("a **b**") == [Part("a b", {"html": "a <b>b</b>"})]
    assert limits(42) == [Limit("chat 42", 1, 1.0), Limit("all", 30, 1.0)]


@pytest.mark.timeout(300)
def test_the_heavy_client_is_not_loaded_without_a_token() -> None:
    program = "import sys, laneway.app, laneway.channels.telegram.layout; print('aiogram' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
