"""A Markdown table as lines of equal width, for a font that has them."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

from markdown_it.token import Token

WIDEST_COLUMN = 60


def table(rest: Iterator[Token]) -> str:
    """The table as text; its tokens have been taken from `rest`."""
    rows: list[list[str]] = []
    for token in rest:
        if token.type == "table_close":
            break
        if token.type == "tr_open":
            rows.append([])
        elif token.type == "inline":
            rows[-1].append(_words(token))
    columns = max(map(len, rows), default=0)
    widths = [max((width(row[n]) for row in rows if n < len(row)), default=0) for n in range(columns)]
    widths = [min(wide, WIDEST_COLUMN) for wide in widths]
    lines = [_line(row, widths) for row in rows]
    return "\n".join([lines[0], "-+-".join("-" * wide for wide in widths), *lines[1:]])


def width(text: str) -> int:
    """How many columns the text takes in a font of equal widths."""
    return sum(0 if unicodedata.combining(char) else 1 + (unicodedata.east_asian_width(char) in "WF") for char in text)


def _line(row: list[str], widths: list[int]) -> str:
    return " | ".join(cell + " " * (wide - width(cell)) for cell, wide in zip(row, widths, strict=False)).rstrip()


def _words(token: Token) -> str:
    """What a cell says, without marks; the target of a link stands behind its words."""
    said: list[str] = []
    targets: list[str] = []
    for child in token.children or []:
        if child.type == "image":
            said.append("".join(each.content for each in child.children or []))
            said.append(f" ({child.attrs.get('src', '')})")
        elif child.type == "link_open":
            targets.append(str(child.attrs.get("href", "")))
        elif child.type == "link_close":
            target = targets.pop()
            said.append("" if said and said[-1] == target else f" ({target})")
        else:
            said.append(child.content or (" " if child.type.endswith("break") else ""))
    return "".join(said)
