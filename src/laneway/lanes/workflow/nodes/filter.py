"""`filter`: keeps the rows that fit, by a plan's `where` or by a CEL `condition` over `item`, which is `$`, too."""

from __future__ import annotations

import asyncio
import time
from typing import Any

from laneway.lanes.workflow.conditions import ROW_NAMES, Erred, compiled
from laneway.lanes.workflow.hands import Doing, Done, Failed, Kind, Outcome
from laneway.lanes.workflow.nodes.rows import planned, rows_of

MOST = 100_000
"""Rows a condition is asked for one by one; more are for a plan's `where`."""


async def filtered(doing: Doing) -> Outcome:
    if doing.config.get("condition") is None:
        return await planned(doing, {"do": "filter", "where": doing.config.get("where") or {}})
    # Row by row it takes its time, and the others' is not ours.
    return await asyncio.to_thread(_kept, doing, str(doing.config["condition"]))


def _kept(doing: Doing, text: str) -> Outcome:
    condition, rows = compiled(text, ROW_NAMES), rows_of(doing.input(), doing.name)
    if len(rows) > MOST:
        return Failed(f"{len(rows)} rows are too many for a condition; use `where`.", retryable=False)
    kept: list[dict[str, Any]] = []
    end = time.monotonic() + doing.seconds
    for number, row in enumerate(rows, 1):
        if time.monotonic() > end:
            # Nobody waits for this thread any more; it must not go on for itself.
            return Failed(doing.late)
        verdict = condition.value(row, doing.ctx, item=row)
        if isinstance(verdict, Erred):
            # A row nobody can judge is neither kept nor dropped in silence.
            return Failed(f"The condition `{text[:200]}` failed for row {number}: {verdict.why}.", retryable=False)
        if verdict:
            kept.append(row)
    return Done({"rows": kept, "count": len(kept)})


KIND = Kind("filter", filtered, acts=False, computes=True)
