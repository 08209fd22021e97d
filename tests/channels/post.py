"""A pushed channel of the tests: a post office that shows what it delivered, and lets people write and press."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from laneway.app import App, running
from laneway.channels.arrival import Arrival, Taken
from laneway.channels.contract import Button, Channel, Part
from laneway.channels.presses import buttons
from laneway.domain.conversation import Role
from laneway.domain.judgement import OutboxRow, OutboxState
from laneway.llm.scripted import Script
from laneway.settings import Settings
from laneway.store import outbox, principals
from tests.serving import scripted


@dataclass
class Letter:
    """One delivered message."""

    to: str
    text: str
    buttons: tuple[Button, ...]
    settled: str = ""

    def button(self, text: str) -> str:
        """What pressing the button of this name sends."""
        return next(button.data for button in self.buttons if button.text == text)


class Post(Channel):
    """Delivers at once."""

    name = "post"

    def __init__(self) -> None:
        self.letters: list[Letter] = []
        self.sending: Callable[[OutboxRow, Part, bool], Awaitable[dict[str, Any]]] | None = None
        """What is done instead of delivering at once."""

    def parts(self, row: OutboxRow) -> Sequence[Part]:
        return [Part(row.text, buttons=buttons(row))]

    async def send(self, row: OutboxRow, part: Part, again: bool) -> dict[str, Any]:
        if self.sending is not None:
            return await self.sending(row, part, again)
        self.letters.append(Letter(row.thread_external_id, part.text, part.buttons))
        return {"id": f"p{len(self.letters) - 1}"}

    async def settle(self, row: OutboxRow, receipts: Sequence[dict[str, Any]], outcome: str) -> None:
        self.letters[int(receipts[-1]["id"][1:])].settled = outcome


@dataclass
class Office:
    """A running Laneway with the post, and what people do there."""

    app: App
    post: Post
    count: int = 0
    seen: dict[str, int] = field(default_factory=dict)

    async def know(self, address: str, role: Role) -> None:
        """Whoever has this address is one of ours; the owner's addresses are all the owner's."""
        async with self.app.db.transaction() as tx:
            if role is Role.OWNER:
                owner = await principals.owner(tx)
                assert owner is not None
                await principals.link(tx, f"post:{address}", owner.id)
            else:
                await principals.by_address(tx, f"post:{address}", role, address)

    async def write(self, text: str = "", by: str = "boss", thread: str = "home", **more: Any) -> Taken:
        self.count += 1
        given = {"external_id": f"u{self.count}", "text": text, "thread": thread, **more}
        return await self.app.door.take(Arrival("post", by, **given))

    async def press(self, data: str, by: str = "boss", thread: str = "home", **more: Any) -> Taken:
        return await self.write(by=by, thread=thread, press=data, **more)

    async def letter(self, thread: str = "home", seconds: float = 20) -> Letter:
        """The next letter to the thread that was not looked at yet."""
        async with asyncio.timeout(seconds):
            while True:
                mine = [letter for letter in self.post.letters if letter.to == thread]
                if len(mine) > self.seen.get(thread, 0) and await self._recorded():
                    self.seen[thread] = self.seen.get(thread, 0) + 1
                    return mine[self.seen[thread] - 1]
                await asyncio.sleep(0.02)

    async def settled(self, outcome: str, number: int = 0, seconds: float = 20) -> None:
        """The buttons of that letter are gone, and it says how its question ended: nobody waits for that."""
        async with asyncio.timeout(seconds):
            while self.post.letters[number].settled != outcome:
                await asyncio.sleep(0.02)

    async def _recorded(self) -> bool:
        """Whether what was delivered is on record, so that it can be answered and pressed."""
        async with self.app.db.transaction() as tx:
            return not await outbox.page(tx, state=OutboxState.SENDING)


@asynccontextmanager
async def office(
    database_url: str, home: Path, script: Script, tools: Sequence[Any] = (), **settings: Any
) -> AsyncIterator[Office]:
    """Laneway runs with the post; the owner's address there is `boss`."""
    post = Post()
    chosen = Settings(
        home=home,
        database_url=SecretStr(database_url),
        **{"retry_seconds": 0.05, "local_classifier": False, **settings},
    )
    async with running(chosen, scripted(script, tools=list(tools), channels=[post])) as app:
        here = Office(app, post)
        await here.know("boss", Role.OWNER)
        yield here
