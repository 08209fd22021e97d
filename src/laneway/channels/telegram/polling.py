"""Long polling: asks Telegram for updates, and for further ones only when those are committed."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from typing import Any

from aiogram import Bot
from aiogram.exceptions import (
    AiogramError,
    ClientDecodeError,
    TelegramConflictError,
    TelegramNotFound,
    TelegramRetryAfter,
    TelegramUnauthorizedError,
)
from aiogram.methods import TelegramMethod

from laneway.channels.telegram.fields import Fields, number
from laneway.channels.telegram.inbound import Inbound
from laneway.channels.telegram.updates import ASKED_FOR
from laneway.errors import LanewayError, Unavailable
from laneway.store import events
from laneway.store.database import Database

WAIT_SECONDS = 50
"""As long as Telegram keeps a question open; the connection may take a little longer."""

MOST_TRIES = 3
TWO_POLLERS = (
    "Telegram says that somebody else asks for this bot's updates, too (409). Stop the other program that uses this "
    "token, or give this one a bot of its own."
)
CONFLICT, POLLING = "telegram.conflict", "telegram.polling"
"""Events: somebody else asks for our updates, and that nobody does any more."""

_log = logging.getLogger("laneway.telegram")


@dataclass(frozen=True, slots=True)
class Pauses:
    """Seconds: how long a question stays open, and how long we wait after one that went wrong."""

    wait: int = WAIT_SECONDS
    first: float = 1.0
    longest: float = 60.0
    conflict: float = 5.0
    hopeless: float = 300.0


class GetUpdates(TelegramMethod[list[dict[str, Any]]]):
    """The updates as they came: one that aiogram does not know must not hide the others."""

    __returning__ = list[dict[str, Any]]
    __api_method__ = "getUpdates"

    offset: int | None = None
    limit: int = 100
    timeout: int = WAIT_SECONDS
    allowed_updates: tuple[str, ...] = ASKED_FOR


class Polling:
    """Asks for updates, in one process at a time."""

    def __init__(self, bot: Bot, inbound: Inbound, db: Database, pauses: Pauses | None = None) -> None:
        self._bot, self._inbound, self._db, self._pauses = bot, inbound, db, pauses or Pauses()
        self._offset: int | None = None
        self._tries: dict[int, int] = {}
        self._conflict = False

    async def run(self) -> None:
        """Updates are taken until this is cancelled, through every outage of Telegram or of the database."""
        pause = self._pauses.first
        webhook_gone = False
        while True:
            try:
                if not webhook_gone:
                    # Without dropping what waits: it comes by polling now.
                    await self._bot.delete_webhook(drop_pending_updates=False)
                    webhook_gone = True
                updates = await self._ask()
            except AiogramError as error:
                webhook_gone = webhook_gone and not isinstance(error, TelegramConflictError)
                await asyncio.sleep(await self._complain(error, pause))
                pause = min(pause * 2, self._pauses.longest)
                continue
            pause = self._pauses.first
            await self._settled()
            await self._take(updates)

    async def _ask(self) -> list[Fields]:
        method = GetUpdates(offset=self._offset, timeout=self._pauses.wait)
        found = await self._bot(method, request_timeout=self._pauses.wait + 15)
        if not found:
            # All before the offset is confirmed now. Ids are drawn anew after a week of silence, also smaller ones.
            self._offset = None
        return sorted(found, key=lambda update: number(update, "update_id") or 0)

    async def _take(self, updates: list[Fields]) -> None:
        for update in updates:
            update_id = number(update, "update_id")
            if update_id is None:
                _log.warning("Telegram sent an update without update_id; nothing can be done with it.")
                continue
            await self._take_one(update_id, update)
            self._offset = update_id + 1

    async def _take_one(self, update_id: int, update: Fields) -> None:
        """The update is committed, or on record in the log as one that cannot be."""
        pause = self._pauses.first
        while True:
            # Counted before: what stops this whole loop is met again after its next start, and not for ever.
            tries = self._tries[update_id] = self._tries.get(update_id, 0) + 1
            if tries > MOST_TRIES:
                _log.error("Update %s was passed over: it stopped the taking %d times.", update_id, MOST_TRIES)
                break
            try:
                await self._inbound.take(update)
                break
            except Unavailable as error:
                self._tries[update_id] -= 1
                _log.warning("Update %s waits: %s", update_id, error)
                await asyncio.sleep(pause)
                pause = min(pause * 2, self._pauses.longest)
            except LanewayError as error:
                _log.error("Update %s was not taken: %s", update_id, error)
                break
        del self._tries[update_id]

    async def _complain(self, error: AiogramError, pause: float) -> float:
        """The log says what is wrong and what to do; returns how long to wait."""
        if isinstance(error, TelegramRetryAfter):
            _log.warning("Telegram asks us to wait %s s before the next question.", error.retry_after)
            return float(error.retry_after)
        if isinstance(error, TelegramConflictError):
            pause = max(pause, self._pauses.conflict)
            _log.error("%s Asking again in %.0f s.", TWO_POLLERS, pause)
            await self._note(CONFLICT)
            return pause
        if isinstance(error, TelegramUnauthorizedError | TelegramNotFound):
            _log.error("Telegram does not know this bot token. Correct TELEGRAM_BOT_TOKEN and start again.")
            return self._pauses.hopeless
        what = "an answer that cannot be read" if isinstance(error, ClientDecodeError) else type(error).__name__
        _log.warning("Telegram could not be asked for updates (%s). Asking again in %.0f s.", what, pause)
        return pause

    async def _settled(self) -> None:
        if self._conflict:
            await self._note(POLLING)

    async def _note(self, kind: str) -> None:
        """`laneway doctor` can see it: a conflict once when it begins, and once that it is over."""
        if self._conflict is (kind == CONFLICT):
            return
        try:
            async with self._db.transaction() as tx:
                await events.append(tx, kind, {})
            self._conflict = kind == CONFLICT
        except Unavailable:
            # Noted next time.
            return
