"""What tests of watched jobs share: reactors that say what a test wants, and coffee to be made."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from laneway.domain.judgement import Event
from laneway.domain.session import EventKind, SessionEvent
from laneway.engine.running import Run
from laneway.llm.scripted import Asked, Call, Say, Turn
from laneway.reactors import Continue, Reaction, Reactor, ReactorContext
from laneway.reactors.border import Failed
from laneway.reactors.own_jobs import Make
from laneway.store import conversations, events
from tests.running import Laneway

Answer = Callable[[ReactorContext], Reaction]


class Saying:
    """Says what a test wants it to say, and remembers what it saw."""

    def __init__(self, answer: Answer = lambda ctx: Continue(), name: str = "saying") -> None:
        self.name, self._answer = name, answer
        self.seen: list[SessionEvent] = []
        self.replayed: list[bool] = []

    def handle(self, ctx: ReactorContext) -> Reaction:
        self.seen.append(ctx.event)
        self.replayed.append(ctx.replayed)
        return self._answer(ctx)

    def kinds(self) -> list[str]:
        return [event.kind.value for event in self.seen if event.kind is not EventKind.TICK]


def always(*reactors: Reactor) -> Make:
    def make(run: Run, failed: Callable[[Failed], None]) -> Sequence[Reactor]:
        return reactors

    return make


def once(at: EventKind, reaction: Reaction) -> Answer:
    return lambda ctx: reaction if ctx.event.kind is at else Continue()


made: list[str] = []


async def make_coffee(cups: int = 1) -> dict[str, Any]:
    """Makes coffee."""
    made.append(f"{cups}")
    return {"status": "success", "result": "coffee", "seconds": time.perf_counter()}


def coffee(asked: Asked) -> Turn:
    return Say("Here you are.") if asked.turn else Call("make_coffee", {"cups": 2})


async def of_kind(here: Laneway, kind: str) -> list[Event]:
    async with here.app.db.transaction() as tx:
        found = await events.after(tx, events.START, limit=1000)
    return [event for event in found if event.kind == kind]


async def eventually(here: Laneway, kind: str) -> list[Event]:
    async with asyncio.timeout(30):
        while not (found := await of_kind(here, kind)):
            await asyncio.sleep(0.02)
    return found


async def notices(here: Laneway) -> list[str]:
    async with here.app.db.transaction() as tx:
        found = await conversations.messages(tx, limit=200)
    return [message.text for message in found if message.meta.get("notice") == "reactor"]


async def settled(here: Laneway) -> None:
    """Nothing runs any more, and watchers have done all they had to."""
    async with asyncio.timeout(30):
        while len(here.app.engine.running):
            await asyncio.sleep(0.01)
    await here.app.watched.settled()


@pytest.fixture(autouse=True)
def no_coffee_yet() -> None:
    made.clear()
