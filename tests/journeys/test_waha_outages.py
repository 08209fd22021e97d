"""A WhatsApp bridge that goes wrong: told twice, told late, cut off, down; everything is answered, and once."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from laneway.channels.contract import SENT_AGAIN
from laneway.channels.waha.watch import Rhythm
from tests.journeys.waha_number import ANN, ANNS_LID, GROUP, Number, answers, number
from tests.servers.waha_people import Account
from tests.servers.waha_server import Cut, Fail, Slow, WahaServer


@pytest.fixture
def bridge() -> Iterator[WahaServer]:
    with WahaServer() as running:
        yield running


async def test_a_storm_of_duplicates_is_answered_once(bridge: WahaServer, database_url: str, tmp_path: Path) -> None:
    async with number(bridge, database_url, tmp_path, answers()) as here:
        said = [bridge.account.message(ANN, f"Question {number}") for number in range(4)]
        # As `message` and as `message.any`, which are different events of one message, each five times, three at once.
        events = [bridge.account.event(one, kind) for one in reversed(said) for kind in ("message", "message.any")]
        storm = [event for event in events for _ in range(5)]
        for first in range(0, len(storm), 3):
            statuses = await asyncio.gather(*(bridge.push(event) for event in storm[first : first + 3]))
            assert set(statuses) == {200}
        await here.quiet()
        assert len(bridge.texts(ANN)) == 4
        assert [len(await here.stored(f"Question {number}")) for number in range(4)] == [1, 1, 1, 1]


async def test_a_message_that_comes_again_under_the_other_id_is_the_same_one(
    bridge: WahaServer, database_url: str, tmp_path: Path
) -> None:
    bridge.account.lids[ANNS_LID] = ANN
    async with number(bridge, database_url, tmp_path, answers()) as here:
        said = bridge.account.message(ANN, "Open today?")
        hidden = said | {"id": said["id"].replace(ANN, ANNS_LID), "from": ANNS_LID}
        assert await bridge.push(bridge.account.event(said)) == 200
        assert await bridge.push(bridge.account.event(hidden)) == 200
        await here.quiet()
        assert [one["chatId"] for one in bridge.sent] == [ANN]


async def test_the_same_event_with_another_message_is_not_taken_again(
    bridge: WahaServer, database_url: str, tmp_path: Path
) -> None:
    async with number(bridge, database_url, tmp_path, answers()) as here:
        first = bridge.account.event(bridge.account.message(ANN, "Open today?"))
        # Of another account: what lies in this one is found in its history, whatever the events say.
        other = bridge.account.event(Account().message(ANN, "Open tomorrow?")) | {"id": first["id"]}
        assert other["payload"]["id"] != first["payload"]["id"]
        assert [await bridge.push(event) for event in (first, other, other)] == [200, 200, 200]
        await here.quiet()
        assert len(bridge.texts(ANN)) == 1
        assert [len(await here.stored(text)) for text in ("Open today?", "Open tomorrow?")] == [1, 0]


async def test_another_event_with_the_same_message_is_not_taken_again(
    bridge: WahaServer, database_url: str, tmp_path: Path
) -> None:
    async with number(bridge, database_url, tmp_path, answers()) as here:
        said = bridge.account.message(ANN, "Open today?")
        told = [bridge.account.event(said) for _ in range(3)]
        assert len({event["id"] for event in told}) == 3
        assert [await bridge.push(event) for event in told] == [200, 200, 200]
        await here.quiet()
        assert len(bridge.texts(ANN)) == 1
        assert len(await here.stored("Open today?")) == 1


async def reads(here: Number, status: str) -> bool:
    """Whether the watch has seen this status."""
    found = await here.state()
    return bool(
        found["status"] == status and found["heard_until"] and (status == "WORKING") != bool(found["down_since"])
    )


async def test_what_was_said_while_we_were_down_is_answered_in_order(
    bridge: WahaServer, database_url: str, tmp_path: Path
) -> None:
    bridge.account.message(ANN, "An old question, from before Laneway was here", at=1_700_000_000)
    async with number(bridge, database_url, tmp_path) as here:
        await here.says(ANN, "before")
        await bridge.until(1)
        assert (await here.state())["heard_until"] is not None
    missed = [bridge.account.message(ANN, f"missed {number}") for number in range(3)]
    bridge.account.message(GROUP, "lunch?", chat=GROUP)
    async with number(bridge, database_url, tmp_path) as here:
        await bridge.until(4)
        # What is told again by a webhook that comes late is known by then.
        assert [await bridge.push(bridge.account.event(one)) for one in missed] == [200, 200, 200]
        await here.quiet()
        assert [text.split("\n")[0] for text in bridge.texts(ANN)] == [
            "You said: before", "You said: missed 0", "You said: missed 1", "You said: missed 2",
        ]  # fmt: skip


async def test_the_history_is_read_again_after_the_session_was_lost(
    bridge: WahaServer, database_url: str, tmp_path: Path
) -> None:
    async with number(bridge, database_url, tmp_path) as here:
        await here.until(lambda: reads(here, "WORKING"))
        bridge.status = "FAILED"
        await here.until(lambda: reads(here, "FAILED"))
        bridge.account.message(ANN, "Is anybody there?")
        bridge.status = "WORKING"
        await bridge.push(bridge.account.event({"status": "WORKING", "statuses": []}, "session.status"))
        await bridge.until(1)
        assert bridge.texts(ANN) == ["You said: Is anybody there?"]


async def test_the_owner_is_told_once_that_the_session_is_lost_and_once_that_it_is_back(
    bridge: WahaServer, database_url: str, tmp_path: Path
) -> None:
    async with number(bridge, database_url, tmp_path) as here:
        await here.http.post("/messages", json={"text": "hello", "thread": "main"})
        bridge.status = "SCAN_QR_CODE"
        await here.until(here.notices)
        await asyncio.sleep(0.6)
        [alarm] = await here.notices()
        assert "its status is SCAN_QR_CODE" in alarm
        assert "Scan the QR code" in alarm
    async with number(bridge, database_url, tmp_path) as here:
        await asyncio.sleep(0.6)
        assert len(await here.notices()) == 1, "a restart tells nothing new"
        bridge.status = "WORKING"

        async def back() -> bool:
            return len(await here.notices()) == 2

        await here.until(back)
        await asyncio.sleep(0.4)
        assert "works again" in (await here.notices())[-1]
        assert len(await here.notices()) == 2


async def test_a_short_hiccup_tells_nobody(bridge: WahaServer, database_url: str, tmp_path: Path) -> None:
    async with number(bridge, database_url, tmp_path, rhythm=Rhythm(look=0.05, alarm=60)) as here:
        await here.http.post("/messages", json={"text": "hello", "thread": "main"})
        bridge.status = "STARTING"
        await here.until(lambda: reads(here, "STARTING"))
        bridge.status = "WORKING"
        await asyncio.sleep(0.3)
        assert await here.notices() == []


async def test_a_send_that_was_cut_is_repeated_once_and_says_so(
    bridge: WahaServer, database_url: str, tmp_path: Path
) -> None:
    bridge.orders["sendText"].append(Cut(accepted=True))
    async with number(bridge, database_url, tmp_path, answers()) as here:
        await here.says(ANN, "When are you open?")
        await bridge.until(2)
        await here.quiet()
        assert bridge.texts(ANN) == ["From 9 to 5.", f"{SENT_AGAIN}From 9 to 5."]


async def test_replies_wait_while_the_bridge_cannot_send(bridge: WahaServer, database_url: str, tmp_path: Path) -> None:
    bridge.orders["sendText"].extend([Fail(503), Fail(503), Slow(0.2)])
    async with number(bridge, database_url, tmp_path) as here:
        await here.says(ANN, "first")
        await here.says(ANN, "second")
        await bridge.until(2)
        await here.quiet(0.1)
        assert bridge.texts(ANN) == ["You said: first", "You said: second"], "in order, once each, without a mark"
        assert len([one for one in bridge.asked if one.path == "/api/sendText"]) == 4


async def test_acknowledgements_are_kept_and_never_go_back(
    bridge: WahaServer, database_url: str, tmp_path: Path
) -> None:
    async with number(bridge, database_url, tmp_path, answers()) as here:
        await here.says(ANN, "When are you open?")
        [sent] = await bridge.until(1)
        await here.quiet(0.1)
        for ack in (3, 2, 1):
            told = {"id": sent["id"], "from": ANN, "fromMe": True, "ack": ack}
            assert await bridge.push(bridge.account.event(told, "message.ack")) == 200
        async with await psycopg.AsyncConnection.connect(database_url) as connection:
            rows = await (await connection.execute("SELECT status FROM deliveries")).fetchall()
        assert rows == [("read",)]
