"""A server that is stopped the moment it has started stops: no loop of it misses that."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from laneway.channels.contract import Part
from laneway.domain.judgement import OutboxRow
from laneway.store import workers
from laneway.store.database import Database
from tests.channels.post import office
from tests.journeys.tooling import Start, calls
from tests.running import Laneway


async def test_a_server_stopped_right_after_its_start_ends(start: Start[Laneway]) -> None:
    for pause in (0.0, 0.005, 0.02):
        async with asyncio.timeout(30), start():
            await asyncio.sleep(pause)


async def test_what_is_still_being_sent_when_a_server_stops_is_in_nobody_elses_hands(
    db: Database, database_url: str, tmp_path: Path
) -> None:
    begun, left_behind = asyncio.Event(), list[str]()
    async with office(database_url, tmp_path, calls(then="Four.")) as here:
        (delivery,) = (task for task in asyncio.all_tasks() if task.get_name() == "delivery")

        async def slowly(row: OutboxRow, part: Part, again: bool) -> dict[str, Any]:
            begun.set()
            # Over when nothing new is sent any more: from then on only what is being sent is waited for.
            await asyncio.wait({delivery}, timeout=20)
            async with db.transaction() as tx:
                left_behind.extend(await workers.gone_with_work(tx))
            return {"id": "1"}

        here.post.sending = slowly
        await here.write("two and two?")
        await asyncio.wait_for(begun.wait(), 20)
    assert delivery.done()
    assert left_behind == [], "another server would have sent it once more"
