"""What happens to an update, whichever way it came: understood, taken by the door, and then answered to Telegram."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from aiogram import Bot
from aiogram.exceptions import AiogramError

from laneway.channels.arrival import Arrival, Taken
from laneway.channels.telegram.addressing import Us, needs_name
from laneway.channels.telegram.fields import Fields
from laneway.channels.telegram.updates import NAME, Reading, message_in, read
from laneway.errors import Unavailable
from laneway.store import conversations
from laneway.store.database import Database

LONGEST_TOAST = 200
NOT_OURS = "This button does nothing any more."
NOT_YOURS = "You may not do this here."
_log = logging.getLogger("laneway.telegram")
Take = Callable[[Arrival], Awaitable[Taken]]
Tell = Callable[[str, str], Coroutine[Any, Any, None]]


class Inbound:
    """Takes updates from the webhook and from polling alike."""

    def __init__(self, bot: Bot, take: Take, tell: Tell, db: Database) -> None:
        self._bot, self._take, self._tell, self._db = bot, take, tell, db
        self._answers: set[asyncio.Task[None]] = set()

    async def take(self, update: Fields) -> None:
        """What the update brings is committed; Unavailable if that cannot be now, and Telegram shall repeat it."""
        reading = read(update, await self._us(update))
        if reading.note:
            _log.log(logging.WARNING if reading.odd else logging.DEBUG, "Update %s: %s", _number(update), reading.note)
        if reading.moved is not None:
            await self._move(*reading.moved)
        if reading.arrival is None:
            return self._answer(reading, NOT_OURS)
        taken = await self._take(reading.arrival)
        refused = taken.outcome == "refused"
        if reading.query is not None:
            return self._answer(reading, taken.say or (NOT_YOURS if refused else ""))
        # Whoever is let in gets replies; a stranger gets a word at most.
        return self._answer(reading, taken.say if refused and not reading.arrival.silent else "")

    async def close(self) -> None:
        """Nothing is being answered any more."""
        for task in list(self._answers):
            task.cancel()
        await asyncio.gather(*self._answers, return_exceptions=True)

    async def _us(self, update: Fields) -> Us:
        if not needs_name(message_in(update)):
            return Us(self._bot.id)
        try:
            # Asked once in the life of the bot.
            return Us(self._bot.id, (await self._bot.me()).username or "")
        except AiogramError as error:
            raise Unavailable(
                "Telegram does not tell the bot's name, without which it is not clear whom a message is for.",
                hint="`laneway telegram status` shows what is wrong.",
            ) from error

    async def _move(self, before: int, after: int) -> None:
        async with self._db.transaction() as tx:
            moved = await conversations.rename_thread(tx, NAME, str(before), str(after))
        if moved:
            _log.info("The group %s is the supergroup %s now; its thread goes on there.", before, after)

    def _answer(self, reading: Reading, say: str) -> None:
        """Whoever pressed or knocks is told in a moment; Telegram need not wait for it, and nothing hangs on it."""
        if reading.query is not None:
            text = say[:LONGEST_TOAST] or None
            self._soon(self._bot.answer_callback_query(reading.query, text=text, show_alert=bool(text)))
        elif say and reading.arrival is not None:
            # To the person alone, also where they wrote in a group.
            self._soon(self._tell(reading.arrival.address, say))

    def _soon(self, call: Coroutine[Any, Any, Any]) -> None:
        task = asyncio.create_task(_quietly(call))
        self._answers.add(task)
        task.add_done_callback(self._answers.discard)


async def _quietly(call: Coroutine[Any, Any, Any]) -> None:
    try:
        await call
    except AiogramError as error:
        # A press that was answered too late, a person who blocked us: nothing more can be done.
        _log.info("Telegram did not take an answer: %s", _told(error))


def _told(error: AiogramError) -> str:
    return f"{type(error).__name__}: {str(error).splitlines()[0][:200] if str(error) else ''}"


def _number(update: Fields) -> str:
    return str(update.get("update_id", "without number"))[:30]
