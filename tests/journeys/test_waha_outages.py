"""A WhatsApp bridge that goes wrong: told twice, told late, cut off, down; everything is answered, and once."""

from __future__ import annotations

import asyncio

from laneway.channels.contract import SENT_AGAIN
from tests.journeys.tooling import Start
from tests.journeys.waha_number import ANN, GROUP, Number, answers
from tests.servers.waha_people import Account
from tests.servers.waha_server import Cut, WahaServer


async def test_a_storm_of_duplicates_is_answered_once(waha: Start[Number]) -> None:
    async with waha(answers()) as here:
        account, push = here.bridge.account, here.bridge.push
        said = [account.message(ANN, f"Question {number}") for number in range(4)]
        # As `message` and as `message.any`, which are different events of one message, each five times, three at once.
        events = [account.event(one, kind) for one in reversed(said) for kind in ("message", "message.any")]
        storm = [event for event in events for _ in range(5)]
        for first in range(0, len(storm), 3):
            statuses = await asyncio.gather(*(push(event) for event in storm[first : first + 3]))
            assert set(statuses) == {200}
        # Of another account: what lies in this one is found in its history, whatever the events say.
        other = account.event(Account().message(ANN, "Open tomorrow?")) | {"id": events[0]["id"]}
        assert await push(other) == 200
        await here.quiet()
        assert len(here.bridge.texts(ANN)) == 4
        assert [len(await here.stored(f"Question {number}")) for number in range(4)] == [1, 1, 1, 1]
        assert await here.stored("Open tomorrow?") == [], "the same event with another message"


async def reads(here: Number, status: str) -> bool:
    """Whether the watch has seen this status."""
    found = await here.state()
    return bool(
        found["status"] == status and found["heard_until"] and (status == "WORKING") != bool(found["down_since"])
    )


async def test_what_was_said_while_we_were_down_is_answered_in_order(waha: Start[Number], bridge: WahaServer) -> None:
    bridge.account.message(ANN, "An old question, from before Laneway was here", at=1_700_000_000)
    async with waha() as here:
        await here.says(ANN, "before")
        await bridge.until(1)
        assert (await here.state())["heard_until"] is not None
    missed = [bridge.account.message(ANN, f"missed {number}") for number in range(3)]
    bridge.account.message(GROUP, "lunch?", chat=GROUP)
    async with waha() as here:
        await bridge.until(4)
        # What is told again by a webhook that comes late is known by then.
        assert [await bridge.push(bridge.account.event(one)) for one in missed] == [200, 200, 200]
        await here.quiet()
        assert [text.split("\n")[0] for text in bridge.texts(ANN)] == [
            "You said: before", "You said: missed 0", "You said: missed 1", "You said: missed 2",
        ]  # fmt: skip


async def test_the_owner_is_told_once_that_the_session_is_lost_and_once_that_it_is_back(
    waha: Start[Number], bridge: WahaServer
) -> None:
    async def looked_often() -> None:
        looks = len(bridge.asked)
        await here.until(lambda: _more_asked(bridge, looks + 5))

    async with waha() as here:
        await here.http.post("/messages", json={"text": "hello", "thread": "main"})
        bridge.status = "SCAN_QR_CODE"
        await here.until(here.notices)
        await looked_often()
        [alarm] = await here.notices()
        assert "its status is SCAN_QR_CODE" in alarm
        assert "Scan the QR code" in alarm
    async with waha() as here:
        await looked_often()
        assert len(await here.notices()) == 1, "a restart tells nothing new"
        bridge.status = "WORKING"
        await here.until(lambda: reads(here, "WORKING"))
        await looked_often()
        assert "works again" in (await here.notices())[-1]
        assert len(await here.notices()) == 2


async def _more_asked(bridge: WahaServer, than: int) -> bool:
    return len(bridge.asked) > than


async def test_a_send_that_was_cut_is_repeated_once_and_says_so(waha: Start[Number], bridge: WahaServer) -> None:
    bridge.orders["sendText"].append(Cut(accepted=True))
    async with waha(answers()) as here:
        await here.says(ANN, "When are you open?")
        await bridge.until(2)
        await here.quiet()
        assert bridge.texts(ANN) == ["From 9 to 5.", f"{SENT_AGAIN}From 9 to 5."]
