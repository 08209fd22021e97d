"""What a pipeline gives: rows in an artifact, a preview, the plan in a sentence, counts, and a table for the chat."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any
from uuid import UUID

from laneway.domain.job import Job
from laneway.lanes.pipeline import lines
from laneway.lanes.pipeline.lines import Lines
from laneway.lanes.pipeline.step import counted
from laneway.lanes.pipeline.values import Row
from laneway.store import artifacts, plans
from laneway.store.artifacts import Artifacts
from laneway.store.database import Connection

SAMPLE, SHOWN_ROWS, SHOWN_COLUMNS, WIDEST = 3, 10, 8, 28
LONGEST_SAMPLED, SAMPLED_COLUMNS = 200, 100
JSON, NDJSON = "application/json", "application/x-ndjson"
MANY = 5000
"""From so many rows on a result is NDJSON: it can be read, and written, piece by piece."""


def written(rows: Sequence[Row]) -> tuple[bytes, str]:
    """The rows as bytes, and what kind of bytes they are."""
    if len(rows) >= MANY or isinstance(rows, Lines):
        return b"".join(lines.written(rows)), NDJSON
    return lines.dumps(list(rows)), JSON


async def shelved(shelf: Artifacts, rows: Sequence[Row]) -> tuple[bytes, str, str]:
    """The rows as bytes, their kind, and where they lie: to be called before the transaction that records them."""
    content, mime = await asyncio.to_thread(written, rows)
    return content, mime, await shelf.lay(content)


async def recorded(
    tx: Connection, job: Job, principal_id: UUID | None, laid: tuple[bytes, str, str], known: Mapping[str, Any]
) -> str:
    """Within `tx`, the result is on record with its plan, its counts and what it took; returns its reference."""
    content, mime, place = laid
    ref = await artifacts.record(tx, content, mime, place)
    kind = str(known["result_preview"]["kind"])
    result = plans.StoredResult(job.id, ref, kind, known.get("plan"), known.get("counts", []), known["metadata"])
    await plans.record(tx, job, principal_id, result)
    return ref


def dataset(rows: Sequence[Row]) -> dict[str, Any]:
    """The preview of a table: how many rows, and the first cells of the first three."""
    sample = [{name: _short(cell) for name, cell in islice(row.items(), SAMPLED_COLUMNS)} for row in rows[:SAMPLE]]
    return {"kind": "dataset", "row_count": len(rows), "sample": sample}


def as_text(text: str) -> dict[str, Any]:
    """The preview of plain words."""
    return {"kind": "text", "text": text[:2000]}


def answered(
    sentence: str,
    counts: Sequence[Mapping[str, Any]],
    origins: Sequence[str],
    rows: Sequence[Row],
    notes: Sequence[str],
) -> str:
    """The answer as the chat reads it: the plan, the counts, where the rows came from, and the first of them."""
    ways = " → ".join(f"{count['step']} {count['rows']:,}" for count in counts)
    told = [sentence, f"Rows: {ways}." if ways else "", f"From {', '.join(origins)}." if origins else "", *notes[:5]]
    return "\n".join([line for line in told if line] + ["", table(rows)])


def table(rows: Sequence[Row]) -> str:
    """The first rows as text, in columns."""
    if not rows:
        return "No rows are left."
    names = list(dict.fromkeys(name for row in rows[:SHOWN_ROWS] for name in row))
    shown = names[:SHOWN_COLUMNS]
    cells = [shown, *([_cell(row.get(name)) for name in shown] for row in rows[:SHOWN_ROWS])]
    widths = [max(len(line[place]) for line in cells) for place in range(len(shown))]
    text = [" | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in cells]
    text.insert(1, "-+-".join("-" * width for width in widths))
    more = [f"… and {counted(len(rows) - SHOWN_ROWS)} more"] if len(rows) > SHOWN_ROWS else []
    hidden = [f"… and {counted(len(names) - SHOWN_COLUMNS, 'column')} more"] if len(names) > SHOWN_COLUMNS else []
    return "\n".join([*text, *more, *hidden])


def _cell(value: Any) -> str:
    text = "" if value is None else value if isinstance(value, str) else lines.dumps(value, str).decode()
    line = " ".join(text.split())
    return line if len(line) <= WIDEST else f"{line[: WIDEST - 1]}…"


def _short(value: Any) -> Any:
    if isinstance(value, str) and len(value) > LONGEST_SAMPLED:
        return value[: LONGEST_SAMPLED - 1] + "…"
    if isinstance(value, dict | list) and len(lines.dumps(value, str)) > LONGEST_SAMPLED * 5:
        return f"… {type(value).__name__} of {len(value)}"
    return value
