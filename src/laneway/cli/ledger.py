"""`laneway ledger`: tokens and money spent, added up."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime
from enum import StrEnum
from typing import Annotated, Any

import typer

from laneway.cli.connection import Json, connect
from laneway.cli.printing import money, plain, print_json, print_table
from laneway.errors import BadInput


class By(StrEnum):
    DAY = "day"
    MONTH = "month"
    SCOPE = "scope"
    PROVIDER = "provider"
    MODEL = "model"
    PRINCIPAL = "principal"
    THREAD = "thread"
    LANE = "lane"
    JOB = "job"


def ledger(
    by: Annotated[By, typer.Option(help="What to add up by.")] = By.DAY,
    since: Annotated[str | None, typer.Option(help="Only since this date or time, like 2026-01-31.")] = None,
    saved: Annotated[
        bool, typer.Option("--saved", help="Instead, compare it with asking the strong model for everything.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Show what was spent; a day is a day in UTC."""
    begin = _moment(since) if since else None
    if saved:
        return _compare(by, begin, as_json)
    with connect() as client:
        summary = client.ledger(by=by, since=begin)
    if as_json:
        return print_json(summary)
    lines = summary["items"]
    rows = [_row(_key(line), line) for line in lines]
    if len(lines) > 1:
        rows.append(_row("TOTAL", _total(lines)))
    titles = (by.upper(), "CALLS", "TOKENS IN", "CACHED", "OUT", "TOTAL", "COST", "RESERVED")
    return print_table(titles, rows, empty="Nothing has been spent.")


def _moment(text: str) -> str:
    """The time in ISO 8601 with its zone; a bare date begins at midnight UTC, as the ledger's days do."""
    try:
        if len(text) == 10:
            return f"{date.fromisoformat(text)}T00:00:00Z"
        return datetime.fromisoformat(text).astimezone().isoformat()
    except ValueError:
        raise BadInput(f"`{text[:40]}` is not a date or time.", hint="Write it like 2026-01-31.") from None


def _compare(by: By, since: str | None, as_json: bool) -> None:
    if by is not By.DAY:
        raise BadInput("`--saved` is one sum and knows no `--by`.", hint="Leave one of them out.")
    with connect() as client:
        found = client.saved(since=since)
    if as_json:
        return print_json(found)
    if not found["calls"] and not found["judged_locally"]:
        return print("Nothing has been spent or judged.")
    print_table((f"AGAINST {found['compared_with']}", "HOW MANY", "COST"), _sides(found), empty="")
    return print("", *_remarks(found), sep="\n")


def _sides(found: dict[str, Any]) -> list[tuple[str, str, str]]:
    share = "" if found["share"] is None else f"{found['share']:.0%}"
    return [
        ("Spent", _many(found["calls"], "call"), money(found["spent"])),
        ("The same calls there", _many(found["calls"], "call"), money(found["all_strong"])),
        ("Judged without a model", _many(found["judged_locally"], "message"), money(found["avoided"])),
        ("SAVED", share, ("-" if found["saved"] < 0 else "") + money(abs(found["saved"]))),
    ]


def _remarks(found: dict[str, Any]) -> Iterator[str]:
    size = f"{found['judgement_tokens_input']:,} tokens in and {found['judgement_tokens_output']:,} out"
    basis = "the median of those a model made" if found["judgement_basis"] == "median" else "as no model made one yet"
    yield f"A judgement without a model counts as {size}, {basis}."
    if found["instead_of"]:
        yield f"{plain(found['instead_of'])} has no price, so the comparison is with the strong model of the settings."
    if found["unsettled"]:
        are, count = ("is", "counts its") if found["unsettled"] == 1 else ("are", "count their")
        yield f"{_many(found['unsettled'], 'call')} {are} not settled and {count} worst case on both sides."
    if found["unpriced"]:
        was, count = ("was", "counts") if found["unpriced"] == 1 else ("were", "count")
        yield f"{_many(found['unpriced'], 'call')} {was} made at a price nobody knows and {count} as free."


def _many(count: int, noun: str) -> str:
    return f"{count:,} {noun}" + ("" if count == 1 else "s")


def _key(line: dict[str, Any]) -> str:
    """The key, and what people call it."""
    return f"{line['key']} ({line['name']})" if line["name"] else line["key"] or "(none)"


def _row(key: str, line: dict[str, Any]) -> tuple[str, ...]:
    figures = ("calls", "tokens_input", "tokens_cached", "tokens_output", "tokens_total")
    return key, *(f"{int(line[name]):,}" for name in figures), money(line["cost"]), money(line["reserved"])


def _total(lines: list[dict[str, Any]]) -> dict[str, Any]:
    names = ("calls", "tokens_input", "tokens_cached", "tokens_output", "tokens_total", "cost", "reserved")
    return {name: sum(float(line[name]) for line in lines) for name in names}
