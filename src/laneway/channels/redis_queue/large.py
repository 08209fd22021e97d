"""Jobs as JSON: large ones are read beside the event loop, and large tables are taken out of all of them."""

from __future__ import annotations

import asyncio

from laneway.channels.redis_queue.job_message import (
    Unreadable,
    check_depth,
    check_size,
    fields_of,
    first_id,
    readable_id,
)
from laneway.errors import BadInput, TooLarge
from laneway.lanes.pipeline.taking_out import taken_out
from laneway.lanes.pipeline.unpacking import SMALL, NotTaken, Unpacked, mended


async def fields_read(raw: bytes, most_bytes: int) -> Unpacked:
    """The JSON object that was written, as `fields_of` reads it, without its large tables."""
    if len(raw) <= SMALL:
        return await without_large(Unpacked(fields_of(raw, most_bytes)))
    # Of one that is too large the id is searched for, which takes a while.
    await asyncio.to_thread(check_size, raw, most_bytes)
    try:
        found = await mended(raw, most_bytes)
    except NotTaken as refused:
        code = "malformed" if refused.error.code == BadInput.code else "too-large"
        raise Unreadable(code, str(refused.error), readable_id(refused.job_id) or first_id(raw)) from None
    except TooLarge as error:
        raise Unreadable(error.code, str(error), first_id(raw)) from None
    check_depth(found.fields)
    return found


async def without_large(found: Unpacked) -> Unpacked:
    """The same with references in place of what large tables are still in it."""
    try:
        fields, tables = await asyncio.to_thread(taken_out, found.fields)
    except BadInput:
        # Only some jobs are about tables: those that are say what is wrong with theirs.
        return found
    return Unpacked(fields, (*found.tables, *tables))
