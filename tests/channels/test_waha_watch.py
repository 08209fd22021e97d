"""The watch over a session and its history, with a clock that a test moves."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from laneway.channels.waha import reading
from laneway.channels.waha.client import Bridge
from laneway.channels.waha.hearing import Hearing
from laneway.channels.waha.watch import USUAL, Watch
from laneway.clock import FakeClock
from laneway.domain.conversation import PULLED, Author, Message
from laneway.store import conversations
from laneway.store.waha import SessionState
from tests.running import Laneway, laneway
from tests.servers.waha_server import Fail, WahaServer

ANN, BOB = "4915112345678@c.us", "4916000000000@c.us"


@dataclass
class Post:
    """A watchman at his post: a bridge, a clock, and the Laneway he reports to."""

    here: Laneway
    server: WahaServer
    clock: FakeClock
    watch: Watch
    bridge: Bridge

    async def look(self, after: float = 0) -> SessionState:
        self.clock.advance(after)
        return await self.watch.look(self.here.app.door)

    async def said(self) -> list[Message]:
        async with self.here.app.db.transaction() as tx:
            found = await conversations.messages(tx, limit=200)
        return found[::-1]

    async def told(self) -> list[str]:
        return [one.text for one in await self.said() if one.meta.get("notice")]

    async def heard(self) -> list[str]:
        return [one.text for one in await self.said() if one.author is Author.USER and one.channel == "waha"]

    def stamp(self, ago: float = 0) -> int:
        return int((self.clock.now() - timedelta(seconds=ago)).timestamp())


@pytest.fixture
async def at(database_url: str, tmp_path: Path) -> AsyncIterator[Post]:
    clock = FakeClock(datetime.now(UTC))
    with WahaServer() as server:
        bridge = Bridge(server.url, server.api_key, "default")
        async with laneway(database_url, tmp_path, waha_customers=True) as here:
            await here.ask("hello")
            db = here.app.db
            # As in `app.py`, but for the clock; nobody else looks after this session.
            watch = Watch(db, bridge, Hearing(db, bridge, "h"), clock, USUAL, PULLED)
            yield Post(here, server, clock, watch, bridge)
        await bridge.close()


async def test_the_owner_is_told_of_a_lost_session_after_a_minute_and_not_through_the_dead_bridge(at: Post) -> None:
    async with at.here.app.db.transaction() as tx:
        on_bridge = await conversations.ensure_thread(tx, "waha", str(at.here.owner.id), at.here.owner)
        await tx.execute(
            "INSERT INTO messages (id, thread_id, author, channel, external_id, principal_id, text) "
            "VALUES (gen_random_uuid(), %s, 'user', 'waha', 'newest', %s, 'hi')",
            (on_bridge.id, at.here.owner.id),
        )
    await at.look()
    at.server.status = "FAILED"
    await at.look()
    await at.look(after=59)
    assert await at.told() == []
    await at.look(after=2)
    await at.look(after=3600)
    [alarm] = [one for one in await at.said() if one.meta.get("notice")]
    assert "its status is FAILED" in alarm.text
    assert alarm.channel == "http", "although the owner wrote last through the bridge"
    at.server.status = "WORKING"
    await at.look(after=15)
    await at.look(after=15)
    assert len(await at.told()) == 2
    assert "works again" in (await at.told())[1]
    # The next loss is told anew: the bridge has another key.
    at.server.api_key = "changed"
    await at.look(after=15)
    await at.look(after=61)
    assert len(await at.told()) == 3
    assert "Correct WAHA_API_KEY" in (await at.told())[2]


async def test_what_no_webhook_brought_is_read_within_a_quarter_of_an_hour_and_nothing_from_before(at: Post) -> None:
    at.server.account.message(ANN, "years ago", at=at.stamp(3600))
    await at.look()
    at.clock.advance(300)
    at.server.account.message(ANN, "lost on the way", at=at.stamp())
    await at.look(after=300)
    assert await at.heard() == []
    state = await at.look(after=601)
    assert await at.heard() == ["lost on the way"]
    assert (await at.look()).heard_until > state.heard_until
    at.server.account.message(ANN, "two weeks ago", at=at.stamp() + 60)
    at.clock.advance(14 * 86_400)
    at.server.account.message(ANN, "yesterday", at=at.stamp(86_400))
    await at.look()
    assert await at.heard() == ["lost on the way", "yesterday"], "after a week it is nobody's question any more"


async def test_a_gap_is_read_even_when_newer_messages_were_heard_already(at: Post) -> None:
    await at.look()
    at.server.status = "FAILED"
    await at.look(after=60)
    missed = at.server.account.message(ANN, "in the gap", at=at.stamp())
    at.clock.advance(7200)
    newer = at.server.account.message(BOB, "right after it", at=at.stamp())
    hearing = Hearing(at.here.app.db, at.bridge, "h")
    said = reading.message(newer, reading.Me())
    assert said is not None
    assert (await hearing.take(at.here.app.door, said)).outcome == "taken"
    at.server.status = "WORKING"
    await at.look()
    assert sorted(await at.heard()) == ["in the gap", "right after it"]
    assert missed["timestamp"] < newer["timestamp"]


async def test_of_hundreds_of_missed_messages_all_are_stored_and_the_newest_answered(at: Post) -> None:
    await at.look()
    for number in range(130):
        at.server.account.message(ANN, f"{number:03}", at=at.stamp() + number)
    at.server.account.sent(ANN, "ours", "3EB0A1B2C3D4E5F60718")
    await at.look(after=901)
    assert await at.heard() == [f"{number:03}" for number in range(130)]
    async with at.here.app.db.transaction() as tx:
        cursor = await tx.execute(
            "SELECT m.text FROM jobs j JOIN messages m ON m.id = j.message_id WHERE m.channel = 'waha' ORDER BY m.seq"
        )
        worked_on = [row[0] for row in await cursor.fetchall()]
    assert worked_on == [f"{number:03}" for number in range(120, 130)]


async def test_a_chat_that_the_bridge_fails_at_does_not_stop_the_others_and_is_tried_again(at: Post) -> None:
    first = await at.look()
    at.server.account.message(ANN, "from Ann", at=at.stamp())
    # Nor does a file of an impossible size.
    told = at.server.account.file("a.txt", "text/plain\x00", b"x", at.server.url)
    said = {"type": "document", "size": 2**64 - 1}
    at.server.account.message(BOB, "a trap", at=at.stamp() + 1, hasMedia=True, media=told, _data=said)
    broken = Fail(500, {"statusCode": 500, "exception": {"message": "No LID for user"}})
    at.server.orders[f"default/chats/{ANN}/messages"].append(broken)
    state = await at.look(after=901)
    assert await at.heard() == ["a trap"]
    assert state.heard_until == first.heard_until
    await at.look(after=15)
    assert sorted(await at.heard()) == ["a trap", "from Ann"]
