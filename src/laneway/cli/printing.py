"""Output for people and for programs: tables, local times, money; or JSON as the server sent it."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

Row = Mapping[str, Any]
WIDE = 240
"""Columns assumed when nobody looks: a pipe must not cut ids in half."""

_CONTROLS = {code: None for code in (*range(32), *range(127, 160)) if chr(code) not in "\n\t"}


def print_json(value: object) -> None:
    """The value is on standard output as JSON, times in UTC as they came."""
    print(json.dumps(value, ensure_ascii=False, indent=2, default=str))


def print_table(titles: Sequence[str], rows: Iterable[Sequence[object]], *, empty: str, wrapped: str = "") -> None:
    """The rows are on standard output as a table, or the sentence `empty`; only the column `wrapped` may break."""
    from rich.table import Table
    from rich.text import Text

    lines = [[plain("" if cell is None else cell) for cell in row] for row in rows]
    if not lines:
        print(empty)
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in titles:
        table.add_column(title, no_wrap=title != wrapped, overflow="fold" if title == wrapped else "ellipsis")
    for line in lines:
        # As Text, or what a user wrote in brackets would be taken for a style.
        table.add_row(*(Text(cell) for cell in line))
    console().print(table)


def console() -> Console:
    """Standard output as Rich sees it; wide when it is not a terminal."""
    from rich.console import Console

    return Console(highlight=False, width=None if sys.stdout.isatty() else WIDE)


def plain(value: object) -> str:
    """The value as text that cannot command a terminal."""
    return str(value).translate(_CONTROLS)


def one_line(text: object, longest: int = 80) -> str:
    """The beginning of a text, on one line."""
    line = " ".join(plain(text).split())
    return line if len(line) <= longest else line[: longest - 1] + "…"


def local(moment: str | None, *, precise: bool = False) -> str:
    """A UTC time of the API in the reader's zone; empty if there is none."""
    if not moment:
        return ""
    here = datetime.fromisoformat(moment).astimezone()
    return here.strftime("%H:%M:%S.") + f"{here.microsecond // 1000:03}" if precise else f"{here:%Y-%m-%d %H:%M:%S}"


def money(amount: object) -> str:
    """An amount of dollars, with as many places as small sums need."""
    value = float(str(amount or 0))
    return f"${value:.2f}" if value == 0 or value >= 10 else f"${value:.4f}"


def lasting(milliseconds: float | None) -> str:
    """A duration as people say it."""
    if milliseconds is None:
        return ""
    if milliseconds < 1000:
        return f"{milliseconds:.0f} ms"
    seconds = milliseconds / 1000
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"


def between(began: str | None, ended: str | None) -> str:
    """How long it took from one UTC time to another; empty while one of them is missing."""
    if not began or not ended:
        return ""
    return lasting((datetime.fromisoformat(ended) - datetime.fromisoformat(began)).total_seconds() * 1000)


def more(page: Mapping[str, Any], command: str) -> None:
    """If the list goes on, standard error says how to see the rest."""
    if page.get("next"):
        print(f"There are more: {command} --before {page['next']}", file=sys.stderr)
