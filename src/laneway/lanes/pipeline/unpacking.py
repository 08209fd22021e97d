"""Requests that bring tables: taken apart beside the event loop, and their tables laid where artifacts lie.

A large body is read by a process of its own (`unpacker.py`): in a thread, a parser would hold the interpreter, and with
it the loop, for as long as in the loop itself. What comes back is small, and bytes that nobody here looks into.
"""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from laneway.errors import LanewayError, Unavailable
from laneway.lanes.pipeline.lines import loads
from laneway.lanes.pipeline.process import Slots, error_of, reported
from laneway.lanes.pipeline.results import NDJSON
from laneway.lanes.pipeline.taking_out import TakenOut, taken_out
from laneway.lanes.pipeline.unpacker import BODY, REST
from laneway.store import artifacts
from laneway.store.artifacts import Artifacts
from laneway.store.database import Database

SMALL = 128 * 1024
"""Up to here a body is read where it arrives: that takes a few milliseconds, a process about a hundred."""

LAID = "laid"
"""Where a job says which artifacts are tables that its own request brought; set by doors, never by senders."""
SECONDS = 60.0
_slots = Slots(2)


@dataclass(frozen=True, slots=True)
class Unpacked:
    """A request with references in place of its large tables, and these, not stored yet."""

    fields: dict[str, Any]
    tables: tuple[TakenOut, ...] = ()
    checked: bool = False
    """Whether it is known already that all of it can be stored."""


@dataclass(eq=False)
class NotTaken(Exception):
    """The body is no request that is taken: why, and which `job_id` it has as far as that can be read."""

    error: LanewayError
    job_id: object


async def unpacked(body: bytes, most_rest: int) -> Unpacked:
    """The request that a large body is, checked; beside its tables it may have `most_rest` bytes."""
    try:
        return await mended(body, most_rest, mend=False)
    except NotTaken as refused:
        raise refused.error from None


async def mended(body: bytes, most_rest: int, *, mend: bool = True) -> Unpacked:
    """The same, with a mark in place of what cannot be stored; NotTaken says what else is wrong with it, and whose."""
    try:
        folder = Path(await asyncio.to_thread(tempfile.mkdtemp, prefix="laneway-body-"))
        try:
            return await _taken_apart(folder, body, {"most_rest": most_rest, "mend": mend})
        finally:
            # Not awaited: whoever cancelled us does not wait for a folder.
            asyncio.get_running_loop().run_in_executor(None, lambda: shutil.rmtree(folder, ignore_errors=True))
    except OSError as error:
        raise Unavailable(f"The request cannot be read now: {error.strerror}.", hint="Try again later.") from error


async def _taken_apart(folder: Path, body: bytes, how: dict[str, Any]) -> Unpacked:
    async with _slots.one():
        await asyncio.to_thread((folder / BODY).write_bytes, body)
        report = await reported("unpacker", orjson.dumps({"folder": str(folder), **how}) + b"\n", SECONDS)
    if "error" in report:
        error = error_of(report["error"])
        # Out of memory, say: nothing is wrong with the body, and it is tried again.
        raise error if isinstance(error, Unavailable) else NotTaken(error, report["job_id"])
    return await asyncio.to_thread(_read, folder, report["tables"])


def _read(folder: Path, refs: Sequence[str]) -> Unpacked:
    tables = [TakenOut(ref, (folder / f"{number}.ndjson").read_bytes()) for number, ref in enumerate(refs)]
    return Unpacked(loads((folder / REST).read_bytes()), tuple(tables), checked=True)


async def without_tables(runner: Mapping[str, Any], before: Sequence[TakenOut] = ()) -> Unpacked:
    """What lanes find in the job, and the tables to be laid: those taken out `before`, and those that are still in."""
    found, more = await asyncio.to_thread(taken_out, runner)
    tables = (*before, *more)
    found.pop(LAID, None)
    return Unpacked(found | ({LAID: [table.ref for table in tables]} if tables else {}), tables)


async def lay(db: Database, shelf: Artifacts, tables: Sequence[TakenOut]) -> None:
    """The tables are stored and on record: to be called before the message that refers to them is written."""
    if not tables:
        return
    places = [await shelf.lay(table.content) for table in tables]
    async with db.transaction() as tx:
        for table, place in zip(tables, places, strict=True):
            await artifacts.record(tx, table.content, NDJSON, place)
