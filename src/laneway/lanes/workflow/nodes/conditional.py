"""`conditional`: hands on what it was given; its edges, in their order, decide where the run goes."""

from __future__ import annotations

from laneway.lanes.workflow.hands import Doing, Done, Kind, Outcome


async def decided(doing: Doing) -> Outcome:
    return Done(doing.input())


KIND = Kind("conditional", decided, acts=False, computes=True)
