"""Statements of the owner's own, which can only read."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from laneway.web.gateway import Here

router = APIRouter(tags=["sql"])


class Statement(BaseModel):
    model_config = ConfigDict(extra="forbid")

    statement: str = Field(max_length=100_000, description="One statement that reads, such as a SELECT.")


class TableShape(BaseModel):
    columns: list[str]
    rows: list[list[Any]]
    truncated: bool = Field(description="Whether there is more than is shown.")


@router.post("/sql", summary="Read the database with a statement of your own")
async def query(here: Here, asked: Statement) -> TableShape:
    """Nothing can be changed this way; at most 1000 rows come back."""
    found = await here.reader.query(asked.statement)
    return TableShape(
        columns=found.columns, rows=[[plain(cell) for cell in row] for row in found.rows], truncated=found.truncated
    )


def plain(cell: Any) -> Any:
    """The value as JSON can carry it."""
    if cell is None or isinstance(cell, bool | int | str):
        return cell
    if isinstance(cell, Decimal):
        return _number(cell)
    if isinstance(cell, float):
        return cell if math.isfinite(cell) else str(cell)
    if isinstance(cell, datetime) and cell.tzinfo is not None:
        return cell.astimezone(UTC).isoformat().replace("+00:00", "Z")
    if isinstance(cell, datetime | date):
        return cell.isoformat()
    if isinstance(cell, bytes | bytearray | memoryview):
        return "\\x" + bytes(cell).hex()
    if isinstance(cell, dict):
        return {str(key): plain(value) for key, value in cell.items()}
    if isinstance(cell, list | tuple):
        return [plain(value) for value in cell]
    return str(cell)


def _number(value: Decimal) -> int | float | str:
    if not value.is_finite():
        return str(value)
    return int(value) if value == value.to_integral_value() else float(value)
