"""The loopback Bot API, asked by the real aiogram client."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from aiogram import Bot
from aiogram.client.session.aiohttp import AiohttpSession
from aiogram.client.telegram import TelegramAPIServer
from aiogram.exceptions import (
    TelegramAPIError,
    TelegramBadRequest,
    TelegramConflictError,
    TelegramForbiddenError,
    TelegramMigrateToChat,
    TelegramNetworkError,
    TelegramRetryAfter,
    TelegramServerError,
    TelegramUnauthorizedError,
)
from aiogram.types import BotCommand, InlineKeyboardButton, InlineKeyboardMarkup

from .telegram_html import CannotParse, parse_html
from .telegram_server import Cut, Fail, Fine, Flood, TelegramServer


@pytest.fixture
def server() -> Iterator[TelegramServer]:
    with TelegramServer() as server:
        server.world.chat(42)
        yield server


@pytest.fixture
async def bot(server: TelegramServer) -> AsyncIterator[Bot]:
    async with client(server, server.token) as bot:
        yield bot


def client(server: TelegramServer, token: str) -> Any:
    return Bot(token, session=AiohttpSession(api=TelegramAPIServer.from_base(server.url))).context()


def keyboard(*data: str) -> InlineKeyboardMarkup:
    return InlineKeyboardMarkup(inline_keyboard=[[InlineKeyboardButton(text="Go", callback_data=d) for d in data]])


async def test_a_message_is_kept_as_the_person_sees_it(server: TelegramServer, bot: Bot) -> None:
    sent = await bot.send_message(42, " <b>Hi</b> &amp; 😀 <code>a&lt;b</code>\n", parse_mode="HTML")
    (seen,) = server.world.shown(42)
    assert seen.text == "Hi & 😀 a<b" == sent.text
    assert seen.entities == [{"type": "bold", "offset": 0, "length": 2}, {"type": "code", "offset": 8, "length": 3}]
    await bot.send_message(42, "😀" * 2048)
    await bot.send_message(42, "&amp;" * 4096, parse_mode="HTML")
    await bot.send_message(42, "Go?", reply_markup=keyboard("x" * 64, "ä" * 32))
    assert server.world.shown(42)[3].buttons == [[("Go", "x" * 64), ("Go", "ä" * 32)]]


async def test_what_telegram_refuses_is_refused_in_its_words(server: TelegramServer, bot: Bot) -> None:
    for chat in (44, -5):
        server.world.chat(chat).blocked = True
    server.world.chat(-6).migrated_to = -1001234567890
    server.world.chat(-1005).topics = {7}
    await bot.send_message(-1005, "Hi", message_thread_id=7)
    same = await bot.send_message(42, "Go?", reply_markup=keyboard("a"))
    place: dict[str, Any] = {"chat_id": 42, "message_id": same.message_id}
    large = server.world.file(bytes((20 << 20) + 1))
    tags = "can't parse entities: Can't find end tag corresponding to start tag \"b\""
    wrong = []
    for call, kind, words in (
        (bot.send_message(42, "x" * 4097), TelegramBadRequest, "message is too long"),
        (bot.send_message(42, "😀" * 2049), TelegramBadRequest, "message is too long"),
        (bot.send_message(42, "<b></b>", parse_mode="HTML"), TelegramBadRequest, "message text is empty"),
        (bot.send_message(42, "<b>", parse_mode="HTML"), TelegramBadRequest, tags),
        (bot.send_message(42, "Go?", reply_markup=keyboard("ä" * 33)), TelegramBadRequest, "BUTTON_DATA_INVALID"),
        (bot.send_message(43, "Hi"), TelegramBadRequest, "chat not found"),
        (bot.send_message(44, "Hi"), TelegramForbiddenError, "bot was blocked by the user"),
        (bot.send_message(-5, "Hi"), TelegramForbiddenError, "bot was kicked from the group chat"),
        (bot.send_message(-6, "Hi"), TelegramMigrateToChat, "upgraded to a supergroup"),
        (bot.send_message(-1005, "Hi", message_thread_id=1), TelegramBadRequest, "message thread not found"),
        (bot.send_message_draft(-5, 9, text="Thin"), TelegramForbiddenError, "kicked"),
        (bot.send_message_draft(-1005, 9, text="Thin"), TelegramBadRequest, "TEXTDRAFT_PEER_INVALID"),
        (bot.edit_message_text("Go?", **place, reply_markup=keyboard("a")), TelegramBadRequest, "is not modified"),
        (bot.edit_message_text("x", chat_id=42, message_id=1), TelegramBadRequest, "message to edit not found"),
        (bot.answer_callback_query("123"), TelegramBadRequest, "query is too old and response timeout expired"),
        (bot.get_file(large), TelegramBadRequest, "file is too big"),
        (bot.set_webhook("http://example.org/t"), TelegramBadRequest, "HTTPS URL must be"),
        (bot.set_webhook("https://example.org:8080/t"), TelegramBadRequest, "only on ports"),
        (bot.set_webhook("https://example.org/t", secret_token="not so"), TelegramBadRequest, "unallowed characters"),
        (bot.set_my_commands([BotCommand(command="a b", description="c")]), TelegramBadRequest, "BOT_COMMAND_INVALID"),
    ):
        with pytest.raises(TelegramAPIError) as refused:
            await call
        if type(refused.value) is not kind or words not in str(refused.value):
            wrong.append(f"{words}: {refused.value!r}")
    assert not wrong, "\n".join(wrong)
    async with client(server, "1:wrong") as stranger:
        with pytest.raises(TelegramUnauthorizedError):
            await stranger.get_me()


async def test_messages_are_edited_and_deleted_presses_answered_once_and_files_fetched(
    server: TelegramServer, bot: Bot
) -> None:
    sent = await bot.send_message(42, "Go?", reply_markup=keyboard("a:1"))
    press = server.updates.press("a:1", server.world.shown(42)[0])["callback_query"]
    await bot.answer_callback_query(press["id"], "Done")
    assert server.world.queries[press["id"]] == {"text": "Done", "show_alert": False}
    with pytest.raises(TelegramBadRequest, match="query is too old"):
        await bot.answer_callback_query(press["id"])
    await bot.edit_message_reply_markup(chat_id=42, message_id=sent.message_id)
    assert server.world.shown(42)[0].buttons == []
    await bot.edit_message_text("Gone.", chat_id=42, message_id=sent.message_id)
    assert server.world.shown(42)[0].text == "Gone."
    await bot.delete_message(42, sent.message_id)
    assert server.world.shown() == []
    file = await bot.get_file(server.world.file(b"OggS123"))
    content = await bot.download_file(str(file.file_path))
    assert content is not None
    assert content.read() == b"OggS123"


async def test_a_webhook_and_a_second_poller_end_a_poll_and_an_offset_confirms_what_is_below_it(
    server: TelegramServer, bot: Bot
) -> None:
    await bot.set_webhook("https://example.org/t", secret_token="s3cret", allowed_updates=["message"])
    info = await bot.get_webhook_info()
    assert (info.url, info.allowed_updates) == ("https://example.org/t", ["message"])
    with pytest.raises(TelegramConflictError, match="while webhook is active"):
        await bot.get_updates()
    await bot.delete_webhook()
    first = asyncio.create_task(bot.get_updates(timeout=20))
    await server.until(lambda: len(server.called("getUpdates")) == 2)
    second = asyncio.create_task(bot.get_updates(timeout=20))
    with pytest.raises(TelegramConflictError, match="terminated by other getUpdates request"):
        await first
    server.world.updates.append(server.updates.message("one"))
    (one,) = await second
    assert one.message is not None
    assert one.message.text == "one"
    server.world.updates.append(server.updates.message("two"))
    (two,) = await bot.get_updates(offset=one.update_id + 1)
    assert await bot.get_updates(offset=two.update_id + 1) == []


async def test_it_goes_wrong_on_order_and_per_chat(server: TelegramServer, bot: Bot) -> None:
    server.world.chat(43)
    orders = (Flood(3), Fine(), Fail(502), Cut(taken=False), Cut(taken=True))
    server.orders.give("sendMessage", *orders, chat=42)
    with pytest.raises(TelegramRetryAfter) as flood:
        await bot.send_message(42, "a")
    assert flood.value.retry_after == 3
    await bot.send_message(43, "b")
    await bot.send_message(42, "c")
    for text, kind in zip("def", (TelegramServerError, TelegramNetworkError, TelegramNetworkError), strict=True):
        with pytest.raises(kind):
            await bot.send_message(42, text)
    assert [message.text for message in server.world.shown()] == ["b", "c", "f"]


def test_html_is_read_or_refused_as_telegram_does() -> None:
    text, entities = parse_html(
        '&nbsp;&#65;&#x42<pre><code class="language-py">x = 1</code></pre> <a href="https://a.b/?c=1&amp;d">link</a>'
        '<a href="javascript:x">not</a><blockquote><i>q<b>🙂</b></i></blockquote>'
    )
    assert text == "&nbsp;ABx = 1 linknotq🙂"
    assert [tuple(entity.values()) for entity in entities] == [
        ("pre", 8, 5, "py"),
        ("text_link", 14, 4, "https://a.b/?c=1&d"),
        ("italic", 21, 3),
        ("blockquote", 21, 3),
        ("bold", 22, 2),
    ]
    for bad in ("<b", "a < b", "<script>", "<a href=a,b>x</a>", "<a href='a>x</a>", "x</b>", "<b>x</i>", "&#xDFDF;"):
        with pytest.raises(CannotParse):
            parse_html(bad)
