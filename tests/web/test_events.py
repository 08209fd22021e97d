"""The stream of events: live, resumable, in order, and never in the way."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import AsyncIterator
from contextlib import aclosing

import psycopg
import pytest
from starlette.requests import ClientDisconnect
from starlette.types import Message

from laneway.client import ServerEvent
from laneway.domain.judgement import Event
from laneway.engine.stream import Delta, Hub, Watcher
from laneway.llm.scripted import Delay, Say
from laneway.store import events
from laneway.store.database import Database
from laneway.web.sse import EventStream
from tests.serving import scripted
from tests.web.conftest import Door, Open

FLOOD = (
    "INSERT INTO events (kind, body) "
    "SELECT 'flood', jsonb_build_object('n', n, 'filler', repeat('x', 500)) FROM generate_series(1, %s) n"
)


JOB, THREAD = "01900000-0000-7000-8000-000000000001", "01900000-0000-7000-8000-000000000002"


async def take(stream: AsyncIterator[ServerEvent], until: str, seconds: float = 20) -> list[ServerEvent]:
    """Everything up to and including the first event of the kind."""
    seen = []
    async with asyncio.timeout(seconds):
        async for event in stream:
            seen.append(event)
            if event.event == until:
                return seen
    raise AssertionError(f"The stream ended before {until}: {[event.event for event in seen]}")


async def until_live(door: Door, stream: AsyncIterator[ServerEvent]) -> None:
    """Pieces of text reach the stream: they are not stored, so one that began a moment ago may miss some."""
    async with asyncio.timeout(60):
        for number in itertools.count():
            # Not in the thread that is looked at: what was said there tells how the next message is meant.
            await door.send("count, please?", thread=f"before-{number}")
            if any(event.event == "delta" for event in await take(stream, "job.done")):
                return


async def begun(db: Database, stream: AsyncIterator[Event | Delta | None]) -> None:
    """The hub hears of everything that happens from now on."""
    first = asyncio.ensure_future(anext(stream))
    async with db.transaction() as tx:
        await events.append(tx, "begun", {})
    assert _kind(await first) == "begun"


async def test_a_job_is_watched_from_its_start_to_its_end(door: Door) -> None:
    receipt = await door.send("how full is the disk?")
    async with door.watching(job=receipt["job_id"], since="start") as stream:
        seen = [event for event in await take(stream, "job.done") if event.id]
    kinds = [event.event for event in seen]
    assert (kinds[0], kinds[-2:]) == ("message.received", ["reply.written", "job.done"])
    assert [event.data["cursor"] for event in seen] == [event.id for event in seen]
    assert {event.data["job_id"] for event in seen} == {receipt["job_id"]}


async def test_what_a_model_writes_is_seen_before_the_reply(opened: Open) -> None:
    words = "one two three four five six seven eight nine ten"
    async with opened(scripted([Delay(Say(words), per_piece=0.05)])) as door, door.watching() as stream:
        await until_live(door, stream)
        receipt = await door.send("count, please?")
        seen = await take(stream, "reply.written")
    deltas = [event for event in seen if event.event == "delta"]
    assert len(deltas) > 2
    assert all(event.id is None for event in deltas)
    # What the database tells last may be overtaken by the reply, which has it all.
    assert words.startswith("".join(event.data["text"] for event in deltas))
    assert [event.data["n"] for event in deltas] == list(range(len(deltas)))
    assert {event.data["job"] for event in deltas} == {receipt["job_id"]}


async def test_a_stream_shows_only_what_it_was_asked_for(door: Door) -> None:
    one = await door.send("first?")
    await door.until(one["job_id"])
    async with door.watching(thread=one["thread_id"]) as stream:
        await door.ask("second?", thread="two")
        again = await door.send("third?")
        seen = await take(stream, "job.done")
    assert {event.data.get("job_id") or event.data["job"] for event in seen} == {again["job_id"]}


async def test_who_was_cut_off_before_the_first_event_goes_on_from_there(door: Door) -> None:
    await door.ask("before?")
    async with door.http.stream("GET", "/events") as response:
        cursor = response.headers["X-Event-Cursor"]
    receipt = await door.send("meanwhile?")
    await door.until(receipt["job_id"])
    async with door.watching(last=cursor) as stream:
        seen = await take(stream, "job.done")
    assert (seen[0].event, seen[0].data["job_id"]) == ("message.received", receipt["job_id"])


async def test_who_does_not_read_during_a_flood_catches_up_from_the_store(db: Database) -> None:
    hub, watcher = Hub(db), Watcher()
    async with aclosing(hub.watch(await hub.place("now"), watcher)) as stream, asyncio.timeout(60):
        await begun(db, stream)
        async with db.transaction() as tx:
            await tx.execute(FLOOD, (4000,))
            await tx.execute("SELECT pg_notify('laneway_events', '')")
        while not watcher.behind:
            await asyncio.sleep(0.01)
        numbers: list[int] = []
        async for item in stream:
            assert isinstance(item, Event)
            numbers.append(int(item.body["n"]))
            if len(numbers) == 4000:
                break
    assert numbers == list(range(1, 4001))


def _kind(item: Event | Delta | None) -> str:
    assert isinstance(item, Event)
    return item.kind


async def test_a_piece_of_text_that_comes_after_the_reply_is_not_shown(db: Database) -> None:
    hub, watcher = Hub(db), Watcher()
    async with aclosing(hub.watch(await hub.place("now"), watcher)) as stream, asyncio.timeout(60):
        await begun(db, stream)
        for kind in ("reply.written", "seen"):
            async with db.transaction() as tx:
                await tx.execute("INSERT INTO events (kind, job_id) VALUES (%s, %s)", (kind, JOB))
                await tx.execute("SELECT pg_notify('laneway_events', '')")
            assert _kind(await anext(stream)) == kind
            await db.notify("laneway_deltas", _piece(0))
            await db.notify("laneway_deltas", "not even JSON")
        async with db.transaction() as tx:
            await tx.execute("INSERT INTO events (kind, job_id) VALUES ('job.queued', %s)", (JOB,))
            await tx.execute("SELECT pg_notify('laneway_events', '')")
        assert _kind(await anext(stream)) == "job.queued"
        await db.notify("laneway_deltas", _piece(0))
        assert isinstance(await anext(stream), Delta)


@pytest.mark.parametrize("waits", [True, False])
async def test_text_comes_after_what_had_happened_before_but_does_not_wait_for_ever(
    db: Database, database_url: str, waits: bool
) -> None:
    hub, watcher = Hub(db, delta_seconds=600 if waits else 0.1), Watcher()
    async with aclosing(hub.watch(await hub.place("now"), watcher)) as stream, asyncio.timeout(60):
        await begun(db, stream)
        async with await psycopg.AsyncConnection.connect(database_url) as old:
            await old.execute("INSERT INTO events (kind) VALUES ('older')")
            async with db.transaction() as tx:
                await events.append(tx, "tool.started", {})
            for number in range(3):
                await db.notify("laneway_deltas", _piece(number))
            first = asyncio.create_task(anext(stream))
            if waits:
                await asyncio.sleep(0.15)
                assert not first.done()
                await old.commit()
            else:
                # Nobody knows when somebody else's transaction ends.
                assert isinstance(await first, Delta)
                return
        assert [_kind(await first), _kind(await anext(stream))] == ["older", "tool.started"]
        texts = [one.body["text"] for _ in range(3) if isinstance(one := await anext(stream), Delta)]
        assert texts == ["0", "1", "2"]


def _piece(number: int) -> str:
    return json.dumps({"thread": THREAD, "job": JOB, "call": "c", "n": number, "text": str(number)})


async def test_a_client_that_takes_nothing_is_dropped(db: Database) -> None:
    hub, watcher = Hub(db), Watcher()
    began: list[Message] = []

    async def stuck(message: Message) -> None:
        began.append(message)
        if message["type"] == "http.response.body":
            await asyncio.Event().wait()

    async def silent() -> Message:
        await asyncio.Event().wait()
        raise AssertionError

    response = EventStream(hub.watch("0-0", watcher), watcher, "0-0", patience=0.1)
    with pytest.raises(ClientDisconnect):
        async with asyncio.timeout(30):
            await response({"type": "http"}, silent, stuck)
    assert len(hub) == 0
    assert began[0]["status"] == 200


async def test_streams_end_when_laneway_ends(opened: Open) -> None:
    seen: list[ServerEvent] = []
    joined = asyncio.Event()

    async def watch(url: str, key: str) -> None:
        # With a client of its own: that of the door is closed before Laneway is.
        other = Door(url, key)
        async with other.http, other.watching() as stream:
            joined.set()
            async for event in stream:
                seen.append(event)

    async with opened() as door:
        watching = asyncio.create_task(watch(door.url, door.key))
        await joined.wait()
        await door.ask("hello?")
    # A stream that is cut off instead, once nobody waits for it any more, raises here.
    async with asyncio.timeout(60):
        await watching
    assert seen
