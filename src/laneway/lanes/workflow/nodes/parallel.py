"""`parallel`: hands on what it was given to all nodes its edges lead to, which then run at the same time."""

from __future__ import annotations

from laneway.lanes.workflow.hands import Doing, Done, Kind, Outcome


async def spread(doing: Doing) -> Outcome:
    return Done(doing.input())


KIND = Kind("parallel", spread, acts=False, computes=True)
