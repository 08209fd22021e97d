"""`transform`: makes a new value, by filling references into `set` or by working out a CEL `expression`."""

from __future__ import annotations

import asyncio

from laneway.lanes.workflow.conditions import Erred, expression
from laneway.lanes.workflow.hands import Doing, Done, Failed, Kind, Outcome


async def transformed(doing: Doing) -> Outcome:
    text = doing.config.get("expression")
    if text is None:
        return Done(doing.config["set"] if "set" in doing.config else doing.input())
    work = expression(str(text), called="expression").result
    found = await asyncio.to_thread(work, output=doing.input(), ctx=dict(doing.ctx))
    if isinstance(found, Erred):
        return Failed(f"The expression `{str(text)[:200]}` failed: {found.why}.", retryable=False)
    return Done(found)


KIND = Kind("transform", transformed, acts=False, computes=True)
