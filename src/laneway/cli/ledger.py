"""`laneway ledger`: tokens and money spent, added up."""

from __future__ import annotations

from datetime import date, datetime
from enum import StrEnum
from typing import Annotated, Any

import typer

from laneway.cli.connection import Json, connect
from laneway.cli.printing import money, print_json, print_table
from laneway.errors import BadInput


class By(StrEnum):
    DAY = "day"
    SCOPE = "scope"
    PROVIDER = "provider"
    MODEL = "model"
    THREAD = "thread"


def ledger(
    by: Annotated[By, typer.Option(help="What to add up by.")] = By.DAY,
    since: Annotated[str | None, typer.Option(help="Only since this date or time, like 2026-01-31.")] = None,
    as_json: Json = False,
) -> None:
    """Show what was spent; a day is a day in UTC."""
    begin = _moment(since) if since else None
    with connect() as client:
        summary = client.ledger(by=by, since=begin)
    if as_json:
        print_json(summary)
        return
    lines = summary["items"]
    rows = [_row(line["key"] or "(none)", line) for line in lines]
    if len(lines) > 1:
        rows.append(_row("TOTAL", _total(lines)))
    titles = (by.upper(), "CALLS", "TOKENS IN", "CACHED", "OUT", "TOTAL", "COST")
    print_table(titles, rows, empty="Nothing has been spent.")


def _moment(text: str) -> str:
    """The time in ISO 8601 with its zone; a bare date begins at midnight UTC, as the ledger's days do."""
    try:
        if len(text) == 10:
            return f"{date.fromisoformat(text)}T00:00:00Z"
        return datetime.fromisoformat(text).astimezone().isoformat()
    except ValueError:
        raise BadInput(f"`{text[:40]}` is not a date or time.", hint="Write it like 2026-01-31.") from None


def _row(key: str, line: dict[str, Any]) -> tuple[str, ...]:
    figures = ("calls", "tokens_input", "tokens_cached", "tokens_output", "tokens_total")
    return key, *(f"{int(line[name]):,}" for name in figures), money(line["cost"])


def _total(lines: list[dict[str, Any]]) -> dict[str, Any]:
    names = ("calls", "tokens_input", "tokens_cached", "tokens_output", "tokens_total", "cost")
    return {name: sum(float(line[name]) for line in lines) for name in names}
