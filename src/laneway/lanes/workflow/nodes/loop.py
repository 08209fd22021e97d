"""`loop`: goes back while its condition is true, for so many rounds at most; a condition that fails ends its run."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta
from typing import Any

from laneway.lanes.workflow.conditions import Erred, compiled
from laneway.lanes.workflow.graph import Graph, Loop
from laneway.lanes.workflow.hands import Doing, Done, Failed, Kind, Outcome, Waits
from laneway.lanes.workflow.recording import whole
from laneway.store import workflow_nodes


async def looped(doing: Doing) -> Outcome:
    """Its output says how many rounds there were, whether it goes back now, and else what ended it."""
    loop, rounds = Loop.of(doing.config), await _rounds(doing)
    told: dict[str, Any] = {"iterations": rounds, "value": doing.input()}
    if loop.condition is not None:
        verdict = await asyncio.to_thread(compiled(loop.condition).value, doing.input(), doing.ctx)
        if isinstance(verdict, Erred):
            return Failed(f"The loop's condition `{loop.condition[:200]}` failed: {verdict.why}.", retryable=False)
        if not verdict:
            return Done({**told, "again": False, "ended": "condition"})
    if rounds >= loop.most:
        return Done({**told, "again": False, "ended": "limit"})
    waited = (doing.record.waits or {}).get("until")
    if loop.delay_ms and waited is None:
        until = doing.clock.now() + timedelta(milliseconds=loop.delay_ms)
        return Waits({"until": until.isoformat()}, until)
    if waited is not None and datetime.fromisoformat(waited) > doing.clock.now():
        return Waits({"until": waited}, datetime.fromisoformat(waited))
    return Done({**told, "again": True})


async def _rounds(doing: Doing) -> int:
    """How often its body has run since it was come to; a loop around it begins its count anew."""
    async with doing.db.transaction() as tx:
        last = await workflow_nodes.one(tx, doing.run.id, doing.name, doing.record.visit - 1)
    told = await whole(last, doing.hands.artifacts) if last is not None else None
    if isinstance(told, dict) and told.get("again"):
        return int(told.get("iterations") or 0) + 1
    return (await asyncio.to_thread(Graph, doing.run.document)).first_round(doing.name)


KIND = Kind("loop", looped, acts=False, computes=True)
