"""Sends replies by Telegram, fetches files from it, and takes buttons away when their question is answered."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from aiogram import Bot
from aiogram.exceptions import AiogramError, TelegramBadRequest, TelegramMigrateToChat, TelegramRetryAfter
from aiogram.types import InlineKeyboardMarkup, LinkPreviewOptions

from laneway.channels.contract import SENT_AGAIN, Channel, Duty, Part
from laneway.channels.pacing import Limit, Pacer
from laneway.channels.presses import buttons
from laneway.channels.telegram.api import fault, keyboard, transient
from laneway.channels.telegram.files import fetched
from laneway.channels.telegram.layout import LONGEST, parts_of, rows_of
from laneway.channels.telegram.runs import clean, escaped, units
from laneway.domain.judgement import OutboxRow
from laneway.errors import LanewayError, ModelFault, PermanentFault

NAME = "telegram"
PATIENCE = 3.0
"""Seconds a reply waits for its turn; if it takes longer it goes back to the outbox, so that other chats go on."""

SETTLING_PATIENCE = 20.0
KEPT_FREE = 3
"""Messages of a group's allowance that live edits leave for the answer."""

CANNOT_PARSE, NOT_MODIFIED = "can't parse entities", "message is not modified"
# Telegram would fetch what a link points to before anybody clicks it: an address can carry what it must not.
_NO_PREVIEW = LinkPreviewOptions(is_disabled=True)
_log = logging.getLogger("laneway.telegram")

Moved = Callable[[str, str], Awaitable[object]]
Before = Callable[[OutboxRow], Awaitable[object]]


async def _nothing(*given: object) -> None:
    return


@dataclass(frozen=True, slots=True)
class Place:
    """Where a thread is: a chat, and in a forum one of its topics."""

    chat: int
    topic: int | None = None

    @property
    def named_topic(self) -> int | None:
        """The topic as Telegram wants to hear it; the general one must not be named."""
        return None if self.topic == 1 else self.topic


class TelegramChannel(Channel):
    """One bot. `moved` is told when a group became a supergroup, `before` when a reply is about to be sent."""

    name = NAME

    def __init__(
        self,
        bot: Bot,
        pacer: Pacer,
        *,
        moved: Moved = _nothing,
        before: Before = _nothing,
        duties: Sequence[Duty] = (),
    ) -> None:
        self.bot, self._pacer = bot, pacer
        self._tell_moved, self._before, self._duties = moved, before, duties
        self._moved: dict[int, int] = {}

    def parts(self, row: OutboxRow) -> Sequence[Part]:
        """The messages of the reply, with its buttons under the last one."""
        return parts_of(row.text, buttons(row))

    async def send(self, row: OutboxRow, part: Part, again: bool) -> dict[str, Any]:
        """The part stands in its chat."""
        place = self._place(row)
        await self._before(row)
        await self._pacer.wait(limits(place.chat), PATIENCE)
        mark = SENT_AGAIN if again else ""
        try:
            return await self._sent(place, part, mark)
        except TelegramMigrateToChat as error:
            place = await self._follow(place, error.migrate_to_chat_id)
        except AiogramError as error:
            raise self._fault(place.chat, error) from None
        try:
            return await self._sent(place, part, mark)
        except AiogramError as error:
            raise self._fault(place.chat, error) from None

    async def check(self) -> None:
        """Telegram answers."""
        try:
            await self.bot.get_me()
        except AiogramError as error:
            raise transient(error) from None

    async def fetch(self, source: dict[str, Any], most: int) -> bytes:
        """The file's content."""
        return await fetched(self.bot, source, most)

    async def tell(self, address: str, text: str) -> None:
        """A stranger has been told, if there was room and Telegram took it."""
        if not address.lstrip("-").isdecimal():
            return
        chat = int(address)
        if self._pacer.take([*limits(chat), Limit("strangers", 10, 60.0)], keep=0):
            with suppress(AiogramError):
                await self.bot.send_message(chat, clean(text)[: LONGEST // 2], link_preview_options=_NO_PREVIEW)

    async def settle(self, row: OutboxRow, receipts: Sequence[dict[str, Any]], outcome: str) -> None:
        """The buttons are gone, and the outcome stands under the question."""
        if not receipts:
            return
        receipt, part = receipts[-1], self.parts(row)[-1]
        chat, message = int(receipt["chat"]), int(receipt["message"])
        chat = self._moved.get(chat, chat)
        await self._pacer.wait(limits(chat), SETTLING_PATIENCE)
        try:
            try:
                await self._show_outcome(chat, message, part, outcome, plain=bool(receipt.get("plain")))
            except TelegramBadRequest as error:
                if NOT_MODIFIED not in error.message:
                    await self.bot.edit_message_reply_markup(chat_id=chat, message_id=message, reply_markup=None)
        except AiogramError as error:
            raise self._fault(chat, error) from None

    def room(self, chat: int) -> bool:
        """Whether a live edit may go there now and still leave room for the answer; its turn is taken."""
        return self._pacer.take(limits(chat), KEPT_FREE)

    def flood(self, chat: int, seconds: float) -> None:
        """Nothing is sent to the chat for so long: Telegram said so."""
        self._pacer.hold(_key(chat), seconds)

    def duties(self) -> Sequence[Duty]:
        """What the inbound half has to do all the time."""
        return self._duties

    async def close(self) -> None:
        """The connections to Telegram are closed."""
        await self.bot.session.close()

    def _place(self, row: OutboxRow) -> Place:
        for external_id in (row.thread_external_id, row.address):
            chat, _, topic = external_id.partition("/")
            if chat.lstrip("-").isdecimal() and (not topic or topic.isdecimal()):
                moved = self._moved.get(int(chat), int(chat))
                return Place(moved, int(topic) if topic else None)
        raise PermanentFault(f"`{row.thread_external_id[:40]}` is no chat on Telegram, and no address is known.")

    async def _follow(self, place: Place, chat: int) -> Place:
        """The group is a supergroup now: its thread goes on there."""
        self._moved[place.chat] = chat
        try:
            await self._tell_moved(str(place.chat), str(chat))
        except LanewayError as error:
            # The next reply finds its way in the same manner.
            _log.info("The thread of chat %s keeps its old name: %s", place.chat, error)
        return Place(chat, place.topic)

    async def _sent(self, place: Place, part: Part, mark: str) -> dict[str, Any]:
        """Sent as HTML; if Telegram cannot read that, once more without any marks."""
        plain = False
        try:
            sent = await self._post(place, part, escaped(mark) + part.body["html"], "HTML")
        except TelegramBadRequest as error:
            if CANNOT_PARSE not in error.message:
                raise
            _log.warning("Telegram could not read the HTML of a reply, so it goes as plain text: %s", error.message)
            plain = True
            sent = await self._post(place, part, mark + part.text, None)
        receipt = {"id": f"{place.chat}:{sent}", "chat": place.chat, "message": sent}
        return {**receipt, "plain": True} if plain else receipt

    async def _post(self, place: Place, part: Part, text: str, mode: str | None) -> int:
        message = await self.bot.send_message(
            place.chat, text, parse_mode=mode, message_thread_id=place.named_topic, reply_markup=_markup(part),
            link_preview_options=_NO_PREVIEW,
        )  # fmt: skip
        return message.message_id

    async def _show_outcome(self, chat: int, message: int, part: Part, outcome: str, *, plain: bool) -> None:
        room = LONGEST - units(part.text) - 2
        told = clean(outcome)[: max(0, min(room, 200))]
        text = f"{part.text}\n\n{told}" if plain else f"{part.body['html']}\n\n<i>{escaped(told)}</i>"
        await self.bot.edit_message_text(
            text if told else part.text if plain else part.body["html"], chat_id=chat, message_id=message,
            parse_mode=None if plain else "HTML", reply_markup=None, link_preview_options=_NO_PREVIEW,
        )  # fmt: skip

    def _fault(self, chat: int, error: AiogramError) -> ModelFault:
        if isinstance(error, TelegramRetryAfter):
            self.flood(chat, error.retry_after)
        return fault(error)


def limits(chat: int) -> list[Limit]:
    """How fast a chat may be written to: about one message a second, and twenty a minute in a group."""
    group = [Limit(f"{_key(chat)} minute", 20, 60.0)] if chat < 0 else []
    return [Limit(_key(chat), 1, 1.0), *group, Limit("all", 30, 1.0)]


def _key(chat: int) -> str:
    return f"chat {chat}"


def _markup(part: Part) -> InlineKeyboardMarkup | None:
    rows = keyboard(rows_of(part.buttons))
    return None if rows is None else InlineKeyboardMarkup.model_validate(rows)
