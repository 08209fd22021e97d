"""The process that gets killed: a real worker with the scripted model, a counting tool and a counting channel."""

from __future__ import annotations

import asyncio
import logging
import os
import re
import signal
from collections import Counter
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from laneway.app import App, Parts, running
from laneway.channels.contract import SENT_AGAIN, Channel, Part
from laneway.cli.selftest.counting import tell
from laneway.domain.conversation import Incoming
from laneway.domain.judgement import OutboxRow
from laneway.lanes.tools import ToolEntry
from laneway.llm.choice import Models
from laneway.llm.scripted import Asked, Call, Say, ScriptedModel, Turn
from laneway.llm.single import only
from laneway.settings import Settings
from laneway.store import principals
from laneway.store.database import Database
from laneway.store.finishing import outlast

CHANNEL, THREADS = "selftest", 12
_nonce: ContextVar[str] = ContextVar("selftest_nonce")


@dataclass(frozen=True)
class Orders:
    """What one life needs to know: at which boundary it dies and at which pass, what it takes in and how slowly."""

    database_url: str
    home: str
    port: int
    die_at: tuple[str, int] | None = None
    items: tuple[str, ...] = ()
    pause: float = 0.0


class CountingChannel(Channel):
    """Delivers to the counting server."""

    name = CHANNEL

    def __init__(self, port: int) -> None:
        self._port = port

    async def send(self, row: OutboxRow, part: Part, again: bool) -> dict[str, Any]:
        text = f"{SENT_AGAIN}{part.text}" if again else part.text
        return {"nonce": await tell(self._port, "deliver", str(row.message_id), text)}


def item_of(text: str) -> str:
    """The item a message wants counted."""
    found = re.search(r"item-\d+", text)
    return found[0] if found else "none"


def script(asked: Asked) -> Turn:
    """First the counting tool, then an answer; both carry the nonce of the call that made them."""
    item = item_of(asked.text)
    if asked.turn == 0:
        return Call("count", {"item": item, "nonce": _nonce.get()})
    return Say(f"counted {item} nonce {_nonce.get()}")


def parts(orders: Orders) -> Parts:
    """The subject's parts: everything outside goes to the counting server."""

    async def on_call(call: dict[str, Any]) -> None:
        item = item_of(str(call["text"]))
        _nonce.set(await tell(orders.port, "model", f"{item}/{call['turn']}"))

    async def count(item: str, nonce: str) -> dict[str, Any]:
        """Counts one item; counting twice would be wrong."""
        return {"status": "success", "result": await tell(orders.port, "tool", item)}

    def models(db: Database) -> Models:
        return only(ScriptedModel(script, on_call=on_call), db)

    return Parts(
        models=models,
        tools=[ToolEntry(count, changes=True, idempotent=False)],
        channels=[CountingChannel(orders.port)],
        boundary=_mine(orders.die_at) if orders.die_at else lambda name: None,
    )


def _mine(die_at: tuple[str, int]) -> Any:
    passed: Counter[str] = Counter()

    def boundary(name: str) -> None:
        passed[name] += 1
        if (name, passed[name]) == die_at:
            os.kill(os.getpid(), signal.SIGKILL)

    return boundary


def live(orders: Orders) -> None:
    """Works until it is killed or told to end."""
    # What it goes through fills the log with errors, which are what the test is about.
    logging.disable(logging.CRITICAL)
    asyncio.run(_live(orders))


async def _live(orders: Orders) -> None:
    ended = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, ended.set)
    settings = Settings(
        home=Path(orders.home),
        database_url=SecretStr(orders.database_url),
        retry_seconds=0.1,
        workers=8,
        local_classifier=False,
    )
    async with running(settings, parts(orders)) as app:
        await tell(orders.port, "ready", app.engine.worker)
        for item in orders.items:
            await outlast(partial(_take, app, item))
            await tell(orders.port, "accepted", item)
            await asyncio.sleep(orders.pause)
        await ended.wait()


async def _take(app: App, item: str) -> None:
    """The message that wants this item counted is accepted."""
    async with app.db.transaction() as tx:
        owner = await principals.owner(tx)
    assert owner is not None
    payload = {"classification": {"intent": "command", "summary": "", "plan": ""}}
    thread = f"thread-{int(item.removeprefix('item-')) % THREADS}"
    await app.intake.receive(Incoming(CHANNEL, thread, item, f"count {item}", owner, mode="EXECUTE", payload=payload))
