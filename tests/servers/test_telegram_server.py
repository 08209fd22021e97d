"""The loopback Bot API, asked by the real aiogram client."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx
import pytest
from aiogram import Bot
from aiogram.client.session.aiohttp import AiohttpSession
from aiogram.client.telegram import TelegramAPIServer
from aiogram.exceptions import (
    TelegramBadRequest,
    TelegramConflictError,
    TelegramForbiddenError,
    TelegramMigrateToChat,
    TelegramNetworkError,
    TelegramRetryAfter,
    TelegramServerError,
    TelegramUnauthorizedError,
)
from aiogram.types import BotCommand, BufferedInputFile, InlineKeyboardButton, InlineKeyboardMarkup
from starlette.requests import Request
from starlette.responses import Response

from .pages import Pages
from .telegram_html import CannotParse, parse_html
from .telegram_server import Cut, Fail, Fine, Flood, Slow, TelegramServer, push


@pytest.fixture
def server() -> Iterator[TelegramServer]:
    with TelegramServer() as server:
        server.world.chat(42)
        yield server


@pytest.fixture
async def bot(server: TelegramServer) -> AsyncIterator[Bot]:
    async with client(server) as bot:
        yield bot


def client(server: TelegramServer, token: str = "") -> Any:
    session = AiohttpSession(api=TelegramAPIServer.from_base(server.url))
    return Bot(token or server.token, session=session).context()


def keyboard(*data: str) -> InlineKeyboardMarkup:
    return InlineKeyboardMarkup(inline_keyboard=[[InlineKeyboardButton(text="Go", callback_data=d) for d in data]])


async def test_a_message_is_kept_as_the_person_sees_it(server: TelegramServer, bot: Bot) -> None:
    sent = await bot.send_message(42, " <b>Hi</b> &amp; 😀 <code>a&lt;b</code>\n", parse_mode="HTML")
    (seen,) = server.world.shown(42)
    assert seen.text == "Hi & 😀 a<b" == sent.text
    assert seen.entities == [
        {"type": "bold", "offset": 0, "length": 2},
        {"type": "code", "offset": 8, "length": 3},
    ]
    assert sent.message_id == seen.message_id


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x" * 4097, "message is too long"),
        ("😀" * 2049, "message is too long"),
        (" \n ", "message text is empty"),
        ("<b></b>", "message text is empty"),
        ("<b>", "can't parse entities: Can't find end tag corresponding to start tag \"b\""),
        ("a < b", 'can\'t parse entities: Unsupported start tag "" at byte offset 2'),
        ("<script>", 'can\'t parse entities: Unsupported start tag "script" at byte offset 0'),
    ],
)
async def test_what_telegram_refuses_is_refused_in_its_words(bot: Bot, text: str, words: str) -> None:
    with pytest.raises(TelegramBadRequest) as refused:
        await bot.send_message(42, text, parse_mode="HTML")
    assert refused.value.message == f"Bad Request: {words}"


async def test_4096_units_and_64_bytes_are_taken(server: TelegramServer, bot: Bot) -> None:
    await bot.send_message(42, "😀" * 2048)
    await bot.send_message(42, "&amp;" * 4096, parse_mode="HTML")
    await bot.send_message(42, "Go?", reply_markup=keyboard("x" * 64, "ä" * 32))
    assert server.world.shown(42)[2].buttons == [[("Go", "x" * 64), ("Go", "ä" * 32)]]


@pytest.mark.parametrize("data", ["x" * 65, "ä" * 33])
async def test_button_data_over_64_bytes_is_refused(bot: Bot, data: str) -> None:
    with pytest.raises(TelegramBadRequest, match="BUTTON_DATA_INVALID"):
        await bot.send_message(42, "Go?", reply_markup=keyboard(data))


async def test_the_error_bodies_are_the_real_ones(server: TelegramServer) -> None:
    async with httpx.AsyncClient(base_url=f"{server.url}/bot{server.token}/") as http:
        answer = await http.post("sendMessage", json={"chat_id": 42, "text": "x" * 4097})
        assert (answer.status_code, answer.json()) == (
            400, {"ok": False, "error_code": 400, "description": "Bad Request: message is too long"},
        )  # fmt: skip
        server.orders.give("sendMessage", Flood(7))
        answer = await http.post("sendMessage", json={"chat_id": 42, "text": "x"})
        assert answer.json() == {
            "ok": False, "error_code": 429, "description": "Too Many Requests: retry after 7",
            "parameters": {"retry_after": 7},
        }  # fmt: skip
        assert (await http.get("sendmessage?chat_id=42&text=Hi")).json()["ok"] is True
        assert (await http.get("makeTea")).json() == {
            "ok": False, "error_code": 404, "description": "Not Found: method not found",
        }  # fmt: skip


async def test_unknown_blocked_kicked_and_moved_chats_are_refused(server: TelegramServer, bot: Bot) -> None:
    with pytest.raises(TelegramBadRequest, match="chat not found"):
        await bot.send_message(43, "Hi")
    server.world.chat(44).blocked = server.world.chat(-5).blocked = True
    with pytest.raises(TelegramForbiddenError, match="bot was blocked by the user"):
        await bot.send_message(44, "Hi")
    with pytest.raises(TelegramForbiddenError, match="bot was kicked from the group chat"):
        await bot.send_message(-5, "Hi")
    server.world.chat(-6).migrated_to = -1001234567890
    with pytest.raises(TelegramMigrateToChat) as moved:
        await bot.send_message(-6, "Hi")
    assert moved.value.migrate_to_chat_id == -1001234567890


async def test_a_wrong_token_is_unauthorised(server: TelegramServer) -> None:
    async with client(server, "1:wrong") as stranger:
        with pytest.raises(TelegramUnauthorizedError):
            await stranger.get_me()
    assert not server.calls


async def test_messages_are_edited_and_deleted(server: TelegramServer, bot: Bot) -> None:
    sent = await bot.send_message(42, "Go?", reply_markup=keyboard("a"))
    with pytest.raises(TelegramBadRequest, match="message is not modified"):
        await bot.edit_message_text("Go?", chat_id=42, message_id=sent.message_id, reply_markup=keyboard("a"))
    await bot.edit_message_reply_markup(chat_id=42, message_id=sent.message_id)
    assert server.world.shown(42)[0].buttons == []
    await bot.edit_message_text("Gone.", chat_id=42, message_id=sent.message_id)
    assert (server.world.shown(42)[0].text, server.world.shown(42)[0].versions) == ("Gone.", ["Go?"])
    await bot.delete_message(42, sent.message_id)
    assert server.world.shown() == []
    with pytest.raises(TelegramBadRequest, match="message to edit not found"):
        await bot.edit_message_text("Back", chat_id=42, message_id=sent.message_id)


async def test_the_general_topic_is_not_named_and_unknown_ones_are_refused(server: TelegramServer, bot: Bot) -> None:
    server.world.chat(-1005).topics = {7}
    await bot.send_message(-1005, "Hi", message_thread_id=7)
    assert server.world.shown(-1005)[0].topic == 7
    for topic in (1, 8):
        with pytest.raises(TelegramBadRequest, match="message thread not found"):
            await bot.send_message(-1005, "Hi", message_thread_id=topic)


async def test_drafts_are_for_private_chats(server: TelegramServer, bot: Bot) -> None:
    await bot.send_message_draft(42, 9, text="Thin")
    assert server.world.drafts == [(42, 9, "Thin")]
    server.world.chat(-5)
    with pytest.raises(TelegramBadRequest, match="TEXTDRAFT_PEER_INVALID"):
        await bot.send_message_draft(-5, 9, text="Thin")


async def test_a_press_is_answered_once_and_not_late(server: TelegramServer, bot: Bot) -> None:
    await bot.send_message(42, "Go?", reply_markup=keyboard("a:1"))
    press = server.updates.press("a:1", server.world.shown(42)[0])["callback_query"]
    await bot.answer_callback_query(press["id"], "Done")
    assert server.world.queries[press["id"]] == {"text": "Done", "show_alert": False}
    for query in (press["id"], "123"):
        with pytest.raises(TelegramBadRequest, match="query is too old and response timeout expired"):
            await bot.answer_callback_query(query)


async def test_files_come_back_and_large_ones_do_not(server: TelegramServer, bot: Bot) -> None:
    file = await bot.get_file(server.world.file(b"OggS123"))
    assert file.file_path is not None
    content = await bot.download_file(file.file_path)
    assert content is not None
    assert content.read() == b"OggS123"
    with pytest.raises(TelegramBadRequest, match="file is too big"):
        await bot.get_file(server.world.file(bytes((20 << 20) + 1)))
    await bot.send_document(42, BufferedInputFile(b"a,b", "t.csv"), caption="<i>t</i>", parse_mode="HTML")
    assert (server.world.shown(42)[0].document, server.world.shown(42)[0].text) == (b"a,b", "t")


async def test_the_webhook_and_the_commands_are_kept(server: TelegramServer, bot: Bot) -> None:
    await bot.set_webhook("https://example.org/t", secret_token="s3cret", allowed_updates=["message"])
    info = await bot.get_webhook_info()
    assert (info.url, info.allowed_updates) == ("https://example.org/t", ["message"])
    assert server.world.webhook["secret_token"] == "s3cret"
    with pytest.raises(TelegramConflictError, match="while webhook is active"):
        await bot.get_updates()
    for url, words in (("http://example.org/t", "HTTPS URL must be"), ("https://example.org:8080/t", "only on ports")):
        with pytest.raises(TelegramBadRequest, match=words):
            await bot.set_webhook(url)
    with pytest.raises(TelegramBadRequest, match="unallowed characters"):
        await bot.set_webhook("https://example.org/t", secret_token="not so")
    await bot.delete_webhook()
    await bot.set_my_commands([BotCommand(command="stop", description="Stop")])
    assert [command.command for command in await bot.get_my_commands()] == ["stop"]
    with pytest.raises(TelegramBadRequest, match="BOT_COMMAND_INVALID"):
        await bot.set_my_commands([BotCommand(command="Stop it", description="Stop")])


async def test_an_offset_confirms_what_is_below_it(server: TelegramServer, bot: Bot) -> None:
    server.world.updates += [server.updates.message(text) for text in ("one", "two")]
    first, second = await bot.get_updates()
    assert [first.message and first.message.text, second.message and second.message.text] == ["one", "two"]
    assert len(await bot.get_updates(offset=second.update_id)) == 1
    assert await bot.get_updates(offset=second.update_id + 1) == []
    assert server.world.updates == []


async def test_a_second_poller_ends_the_first(server: TelegramServer, bot: Bot) -> None:
    first = asyncio.create_task(bot.get_updates(timeout=20))
    await server.until(lambda: server.called("getUpdates"))
    second = asyncio.create_task(bot.get_updates(timeout=20))
    with pytest.raises(TelegramConflictError, match="terminated by other getUpdates request"):
        await first
    server.world.updates.append(server.updates.message("Hi"))
    assert len(await second) == 1


async def test_it_goes_wrong_on_order_and_per_chat(server: TelegramServer, bot: Bot) -> None:
    server.world.chat(43)
    server.orders.give("sendMessage", Flood(3), Fine(), Fail(502), Fail(504, page=True), chat=42)
    with pytest.raises(TelegramRetryAfter) as flood:
        await bot.send_message(42, "a")
    assert flood.value.retry_after == 3
    await bot.send_message(43, "b")
    await bot.send_message(42, "c")
    with pytest.raises(TelegramServerError):
        await bot.send_message(42, "d")
    assert server.orders.left == 1
    assert [message.text for message in server.world.shown()] == ["b", "c"]


@pytest.mark.parametrize("taken", [True, False])
async def test_a_connection_is_cut_before_or_after_the_request_was_taken(
    server: TelegramServer, bot: Bot, taken: bool
) -> None:
    server.orders.give("sendMessage", Cut(taken=taken))
    with pytest.raises(TelegramNetworkError):
        await bot.send_message(42, "Hi")
    assert len(server.world.shown(42)) == int(taken)


async def test_a_slow_answer_outlasts_the_client_and_an_outage_lasts_until_lifted(
    server: TelegramServer, bot: Bot
) -> None:
    # There is a connection now, so that the patience of the next call is for the answer alone.
    await bot.get_me()
    server.orders.give("sendMessage", Slow(60))
    with pytest.raises(TelegramNetworkError, match="timeout"):
        await bot.send_message(42, "Hi", request_timeout=2)
    # What was sent is carried out, even if that is after the client had no patience left.
    await server.until(lambda: len(server.world.shown(42)) == 1)
    server.orders.outage, server.orders.outage_of = Fail(503, "Service Unavailable"), frozenset({"sendMessage"})
    for _ in range(2):
        with pytest.raises(TelegramServerError):
            await bot.send_message(42, "Hi")
    await bot.get_me()
    server.orders.outage = None
    await bot.send_message(42, "Hi")


async def test_updates_are_pushed_again_at_once_and_shuffled(server: TelegramServer) -> None:
    running = most = 0
    seen: list[int] = []
    three = asyncio.Event()

    async def door(request: Request) -> Response:
        nonlocal running, most
        seen.append((await request.json())["update_id"])
        running += 1
        most = max(most, running)
        if running == 3:
            three.set()
        # The first ones stay until there are three; a fourth that came with them would be seen.
        await asyncio.wait_for(three.wait(), 20)
        await asyncio.sleep(0.01)
        running -= 1
        return Response(status_code=200 if request.headers["x-telegram-bot-api-secret-token"] == "s" else 401)

    updates = [server.updates.message(str(n)) for n in range(20)]
    with Pages(pages={"/hook": door}) as pages:
        url = f"{pages.url}/hook"
        assert await push(url, updates, secret="s", times=5, at_once=3, shuffle=random.Random(1)) == [200] * 100
        assert await push(url, updates[:1], secret="wrong") == [401]
    assert sorted(seen[:100]) == sorted([update["update_id"] for update in updates] * 5)
    assert seen[:100] != sorted(seen[:100])
    assert most == 3
    assert await push(url, updates[:1], secret="s", until_taken=2) == [0]


async def test_a_push_is_repeated_until_it_is_taken(server: TelegramServer) -> None:
    answers = iter([503, 500, 200])

    async def door(request: Request) -> Response:
        return Response(status_code=next(answers))

    with Pages(pages={"/hook": door}) as pages:
        assert await push(f"{pages.url}/hook", [server.updates.message("Hi")], until_taken=5) == [200]


@pytest.mark.parametrize(
    ("html", "words"),
    [
        ("🏟 &lt;<b", "Unclosed start tag at byte offset 9"),
        ("🏟 &lt;<abac aba>", 'Unsupported start tag "abac" at byte offset 9'),
        ("<i =a>x</i>", 'Empty attribute name in the tag "i" at byte offset 0'),
        ("<a href>x</a>", 'Expected equal sign in declaration of an attribute of the tag "a" at byte offset 0'),
        ("<a href=a,b>x</a>", "Unexpected end of name token at byte offset 8"),
        ("<a href='a>x</a>", "Unclosed start tag at byte offset 0"),
        ("x</b>", "Unexpected end tag at byte offset 1"),
        ("<b>x</b", "Unclosed end tag at byte offset 4"),
        ("<b>x</i>", 'Unmatched end tag at byte offset 4, expected "</b>", found "</i>"'),
        ("<span>x</span>", 'Tag "span" must have class "tg-spoiler" at byte offset 0'),
        ("&#xDFDF;", "Text contains invalid Unicode characters after decoding HTML entities, "
                     "check for unmatched surrogate code units"),
    ],
)  # fmt: skip
def test_bad_html_is_refused_as_telegram_does(html: str, words: str) -> None:
    with pytest.raises(CannotParse) as refused:
        parse_html(html)
    assert str(refused.value) == words


def test_html_is_read_as_telegram_does() -> None:
    text, entities = parse_html(
        '&nbsp;&#65;&#x42<pre><code class="language-py">x = 1</code></pre> <a href="https://a.b/?c=1&amp;d">link</a>'
        '<a href="javascript:x">not</a><blockquote expandable><i>q<b>🙂</b></i></blockquote>'
    )
    assert text == "&nbsp;ABx = 1 linknotq🙂"
    assert json.dumps(entities) == json.dumps([
        {"type": "pre", "offset": 8, "length": 5, "language": "py"},
        {"type": "text_link", "offset": 14, "length": 4, "url": "https://a.b/?c=1&d"},
        {"type": "italic", "offset": 21, "length": 3},
        {"type": "expandable_blockquote", "offset": 21, "length": 3},
        {"type": "bold", "offset": 22, "length": 2},
    ])  # fmt: skip
