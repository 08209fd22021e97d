"""What one chat sees while one job runs: that we write, what is written so far, and a button to stop it.

All of it is a courtesy: it comes from the same allowance as real messages, ends at Telegram's first refusal, leaves
room for the answer, and is taken away before the answer comes.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from aiogram import Bot
from aiogram.exceptions import (
    AiogramError,
    TelegramBadRequest,
    TelegramForbiddenError,
    TelegramMigrateToChat,
    TelegramNotFound,
    TelegramRetryAfter,
)
from aiogram.types import InlineKeyboardButton, InlineKeyboardMarkup

WORKING = "Working on it…"
STOP = "Stop"
MOST_UNITS = 3500
"""UTF-16 units shown of a text that is still being written; a message holds 4096."""

LAST_CALL_SECONDS = 5.0
"""How long the answer waits for what is on its way at most."""

_log = logging.getLogger("laneway.telegram")
Room = Callable[[int], bool]
Flood = Callable[[int, float], None]
Noted = Callable[[int], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Timing:
    """Seconds between calls. Telegram counts edits like messages: about 20 a minute in a chat."""

    typing: float = 4.0
    status_after: float = 5.0
    draft: float = 1.0
    private_edit: float = 1.5
    group_edit: float = 4.0


@dataclass(frozen=True, slots=True)
class Seat:
    """Where a view shows itself: in a private chat (their ids are positive), a group, or a topic of one."""

    chat: int
    topic: int | None = None

    @property
    def private(self) -> bool:
        return self.chat > 0

    @property
    def thread_id(self) -> int | None:
        """The topic as Telegram wants to hear it; the general one must not be named."""
        return None if self.topic == 1 else self.topic


@dataclass(frozen=True, slots=True)
class Stage:
    """What all views share: the bot, whether a chat has room for more than the answer, and whom to tell of a flood."""

    bot: Bot
    room: Room = lambda chat: True
    flood: Flood = lambda chat, seconds: None
    timing: Timing = Timing()


class View:
    """One running job as one chat sees it."""

    def __init__(self, stage: Stage, job_id: UUID, seat: Seat, noted: Noted, message: int | None = None) -> None:
        self._stage, self._job, self.seat, self._noted = stage, job_id, seat, noted
        self.drafts = seat.private
        self.message = message
        self.answers = ""
        """The message that the job is about."""
        self.thread: UUID | None = None
        self._call, self._text, self._shown = "", "", ""
        self._hushed = False
        self._changed = asyncio.Event()
        self._under_way: set[asyncio.Task[Any]] = set()
        self._loops: list[asyncio.Task[None]] = []

    def begin(self) -> None:
        """The chat sees the job from now on."""
        self._loops = [asyncio.create_task(self._keep_typing()), asyncio.create_task(self._keep_showing())]

    def hear(self, call: str, text: str) -> None:
        """So much more is written; each call of a model begins its text anew."""
        self._text = text if call != self._call else self._text + text
        self._call = call
        self._changed.set()

    async def end(self) -> None:
        """Nothing of it is to be seen any more, and nothing will come."""
        await self.let_go()
        if self.message is not None:
            message, self.message = self.message, None
            await taken_away(self._stage.bot, self.seat.chat, message)

    async def let_go(self) -> None:
        """Nothing more will come; a message that is shown stays."""
        for loop in self._loops:
            loop.cancel()
        await asyncio.gather(*self._loops, return_exceptions=True)
        # Broken off in the middle, it might be sent all the same, and nobody would know its number.
        await self.at_rest()

    async def at_rest(self) -> None:
        """What was on its way has arrived, or has had its time."""
        if self._under_way:
            await asyncio.wait(self._under_way, timeout=LAST_CALL_SECONDS)

    async def _keep_typing(self) -> None:
        seat, bot = self.seat, self._stage.bot
        while not self._hushed:
            await self._made(bot.send_chat_action(seat.chat, "typing", message_thread_id=seat.thread_id))
            await asyncio.sleep(self._stage.timing.typing)

    async def _keep_showing(self) -> None:
        status_at = time.monotonic() + self._stage.timing.status_after
        while not self._hushed:
            # Before the first time, too: what is answered at once needs no view.
            await asyncio.sleep(self._pause())
            await self._news(status_at - time.monotonic() if self.message is None else None)
            await self._show(status_at)

    async def _show(self, status_at: float) -> None:
        """What is new can be seen, unless Telegram has asked for rest meanwhile."""
        if self._hushed:
            return
        if self._text != self._shown and self._text.strip():
            await self._show_text()
        if self.message is None and time.monotonic() >= status_at:
            await self._show_status(WORKING)

    async def _news(self, seconds: float | None) -> None:
        """More is written, or so much time has passed."""
        with suppress(TimeoutError):
            async with asyncio.timeout(None if seconds is None else max(0.0, seconds)):
                await self._changed.wait()
        self._changed.clear()

    def _pause(self) -> float:
        timing = self._stage.timing
        if self.drafts:
            return timing.draft
        return timing.private_edit if self.seat.private else timing.group_edit

    async def _show_text(self) -> None:
        """What is written so far can be read."""
        self._shown = self._text
        if self.drafts:
            await self._show_draft(tail(self._shown))
        else:
            await self._show_status(f"{tail(self._shown)} …")

    async def _show_draft(self, text: str) -> None:
        seat, draft = self.seat, (self._job.int & 0x7FFFFFFF) or 1
        sending = self._stage.bot.send_message_draft(
            seat.chat, draft, text=text, message_thread_id=seat.thread_id, parse_mode=None
        )
        try:
            await self._sent(sending)
        except (TelegramBadRequest, TelegramNotFound) as error:
            # An older server, or a chat that takes none: then the text is shown by edits.
            _log.info("No drafts in chat %s: %s", seat.chat, error.message)
            self.drafts, self._shown = False, ""
            self._changed.set()

    async def _show_status(self, text: str) -> None:
        """The one message with the button says this; where there is no room for it, it says what it said."""
        bot, seat = self._stage.bot, self.seat
        if self._hushed or not self._stage.room(seat.chat):
            return
        if self.message is None:
            sending = bot.send_message(
                seat.chat, text, message_thread_id=seat.thread_id, parse_mode=None,
                disable_notification=True, reply_markup=_stop(self._job),
            )  # fmt: skip
            await self._made(self._kept(sending))
            return
        await self._made(
            bot.edit_message_text(
                text, chat_id=seat.chat, message_id=self.message, parse_mode=None, reply_markup=_stop(self._job)
            )
        )

    async def _made(self, call: Coroutine[Any, Any, Any]) -> None:
        try:
            await self._sent(call)
        except (TelegramBadRequest, TelegramNotFound) as error:
            # "message is not modified", or it was deleted by a person.
            _log.debug("Telegram did not show it in chat %s: %s", self.seat.chat, error.message)

    async def _sent(self, call: Coroutine[Any, Any, Any]) -> None:
        """The call was made; if Telegram wants to hear no more of it, nothing more will be shown."""
        task = asyncio.create_task(call)
        self._under_way.add(task)
        task.add_done_callback(self._over)
        try:
            await asyncio.shield(task)
        except TelegramRetryAfter as error:
            self._hushed = True
            self._stage.flood(self.seat.chat, error.retry_after)
            _log.warning("Telegram asks for %s s of rest in chat %s.", error.retry_after, self.seat.chat)
        except (TelegramForbiddenError, TelegramMigrateToChat):
            self._hushed = True
        except (TelegramBadRequest, TelegramNotFound):
            raise
        except AiogramError as error:
            _log.debug("Telegram could not be reached: %s", type(error).__name__)

    async def _kept(self, call: Awaitable[Any]) -> None:
        self.message = (await call).message_id
        await self._noted(self.message)

    def _over(self, task: asyncio.Task[Any]) -> None:
        self._under_way.discard(task)
        if not task.cancelled():
            # Looked at, so that nobody is told of an error that did not matter any more.
            task.exception()


def tail(text: str) -> str:
    """The end of a text that is being written, as much as fits."""
    raw = text.strip().encode("utf-16-le", "replace")
    if len(raw) <= 2 * MOST_UNITS:
        return text.strip()
    return "… " + raw[-2 * MOST_UNITS :].decode("utf-16-le", "ignore").lstrip()


async def taken_away(bot: Bot, chat: int, message: int) -> None:
    """The message is gone, as far as Telegram lets us; else at least its button is."""
    for _ in range(3):
        try:
            await bot.delete_message(chat, message)
            return
        except TelegramRetryAfter as error:
            await asyncio.sleep(min(error.retry_after, 60))
        except (TelegramBadRequest, TelegramForbiddenError, TelegramNotFound):
            with suppress(AiogramError):
                await bot.edit_message_reply_markup(chat_id=chat, message_id=message, reply_markup=None)
            return
        except AiogramError:
            await asyncio.sleep(1)


def _stop(job_id: UUID) -> InlineKeyboardMarkup:
    return InlineKeyboardMarkup(inline_keyboard=[[InlineKeyboardButton(text=STOP, callback_data=f"s:{job_id}")]])
