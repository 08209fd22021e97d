"""Updates as Telegram makes them, and how it pushes them: with its secret, again, several at once, in any order."""

from __future__ import annotations

import asyncio
import itertools
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import httpx

from .telegram_chats import Message, World

SECRET_HEADER = "X-Telegram-Bot-Api-Secret-Token"
Update = dict[str, Any]


@dataclass
class Updates:
    """Makes updates of the people in the chats; each has an id of its own."""

    world: World
    _ids: itertools.count[int] = field(default_factory=lambda: itertools.count(500_000_001))

    def wrap(self, kind: str, content: dict[str, Any], update_id: int | None = None) -> Update:
        """An update of this kind."""
        return {"update_id": next(self._ids) if update_id is None else update_id, kind: content}

    def message(self, text: str = "", *, sender: int = 42, chat: int | None = None, **more: Any) -> Update:
        """Somebody writes: privately, or in the chat; `more` adds or replaces fields of the message."""
        return self.wrap("message", self.content(text, sender=sender, chat=chat, **more))

    def content(self, text: str = "", *, sender: int = 42, chat: int | None = None, **more: Any) -> dict[str, Any]:
        """The message alone, as it also stands in `reply_to_message` or `edited_message`."""
        place = self.world.chat(sender if chat is None else chat)
        said = {"text": text} if text else {}
        return {
            "message_id": self.world.next_message_id(), "date": int(time.time()), "chat": place.json(),
            "from": person(sender), **said, **more,
        }  # fmt: skip

    def press(self, data: str, on: Message, *, sender: int = 42) -> Update:
        """Somebody presses a button under a message of the bot; the press waits to be answered."""
        update = self.wrap(
            "callback_query",
            {"id": "", "from": person(sender), "message": on.json(), "chat_instance": "1", "data": data},
        )
        query = str(4_400_000_000_000_000_000 + update["update_id"])
        update["callback_query"]["id"] = query
        self.world.queries[query] = None
        return update


def person(user: int) -> dict[str, Any]:
    """A user as they travel."""
    return {"id": user, "is_bot": False, "first_name": f"Person {user}", "language_code": "en"}


async def push(
    url: str,
    updates: Sequence[Update],
    *,
    secret: str = "",
    times: int = 1,
    at_once: int = 1,
    shuffle: random.Random | None = None,
    until_taken: int = 1,
    pause: float = 0.05,
) -> list[int]:
    """Each update was POSTed `times` times, `at_once` side by side, in any order with `shuffle`; the statuses are told.

    `until_taken` repeats a push that was not answered with 2xx so often, as Telegram does; 0 = no answer at all.
    """
    queue = [update for update in updates for _ in range(times)]
    if shuffle is not None:
        shuffle.shuffle(queue)
    room = asyncio.Semaphore(at_once)
    headers = {SECRET_HEADER: secret} if secret else {}
    async with httpx.AsyncClient(headers=headers, timeout=30, trust_env=False) as client:

        async def one(update: Update) -> int:
            status = 0
            async with room:
                for attempt in range(until_taken):
                    if attempt:
                        await asyncio.sleep(pause)
                    try:
                        status = (await client.post(url, json=update)).status_code
                    except httpx.TransportError:
                        status = 0
                    if 200 <= status < 300:
                        break
            return status

        return list(await asyncio.gather(*(one(update) for update in queue)))
