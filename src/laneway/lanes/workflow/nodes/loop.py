"""`loop`: goes back while its condition is true, at most so many times; a condition that fails ends the loop's run."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta
from typing import Any

from laneway.lanes.workflow.conditions import Erred, compiled
from laneway.lanes.workflow.graph import Loop
from laneway.lanes.workflow.hands import Doing, Done, Failed, Kind, Outcome, Waits
from laneway.lanes.workflow.recording import whole
from laneway.store import workflow_nodes


async def looped(doing: Doing) -> Outcome:
    """Its output says how often it went back, this time counted, whether it does so now, and else what ended it."""
    loop, went_back = Loop.of(doing.config), await _went_back(doing)
    told: dict[str, Any] = {"iterations": went_back, "value": doing.input()}
    if loop.condition is not None:
        verdict = await asyncio.to_thread(compiled(loop.condition).value, doing.input(), doing.ctx)
        if isinstance(verdict, Erred):
            return Failed(f"The loop's condition `{loop.condition[:200]}` failed: {verdict.why}.", retryable=False)
        if not verdict:
            return Done({**told, "again": False, "ended": "condition"})
    if went_back >= loop.most:
        return Done({**told, "again": False, "ended": "limit"})
    waited = (doing.record.waits or {}).get("until")
    if loop.delay_ms and waited is None:
        until = doing.clock.now() + timedelta(milliseconds=loop.delay_ms)
        return Waits({"until": until.isoformat()}, until)
    if waited is not None and datetime.fromisoformat(waited) > doing.clock.now():
        return Waits({"until": waited}, datetime.fromisoformat(waited))
    return Done({**told, "iterations": went_back + 1, "again": True})


async def _went_back(doing: Doing) -> int:
    """How often it has gone back since it was come to; a loop around it begins its count anew."""
    async with doing.db.transaction() as tx:
        last = await workflow_nodes.one(tx, doing.run.id, doing.name, doing.record.visit - 1)
    told = await whole(last, doing.hands.artifacts) if last is not None else None
    return int(told.get("iterations") or 0) if isinstance(told, dict) and told.get("again") else 0


KIND = Kind("loop", looped, acts=False, computes=True)
