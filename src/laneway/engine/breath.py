"""Lets the doors go first: while the process is busy, jobs begin one by one and not all at once.

A job that begins later loses a moment; a provider that waits for its acknowledgement sends again. So before a job
begins, the event loop is asked how late it is, and while it is late the job waits, but never for long.
"""

from __future__ import annotations

import asyncio

PROBE_SECONDS = 0.004
LATE_SECONDS = 0.02
LONGEST_SECONDS = 0.15
AT_ONCE = 2
"""So many jobs begin without asking; one that comes alone is never held up."""


async def room(running: int) -> None:
    """Returns when the event loop keeps up with what it has to do, or after a moment all the same."""
    if running < AT_ONCE:
        return
    clock = asyncio.get_running_loop().time
    deadline = clock() + LONGEST_SECONDS
    while True:
        began = clock()
        await asyncio.sleep(PROBE_SECONDS)
        now = clock()
        if now - began - PROBE_SECONDS < LATE_SECONDS or now >= deadline:
            return
