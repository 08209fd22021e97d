"""The phrase tables of `phrases.toml`, compiled."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path

_TABLES: dict[str, dict[str, str]] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


@cache
def alternatives(table: str) -> str:
    """All phrases of one table, in every language, as one regular expression."""
    return "|".join(_opened(line) for phrases in _TABLES[table].values() for line in phrases.split("\n") if line)


@cache
def phrases(table: str) -> re.Pattern[str]:
    """A pattern that finds the table's phrases where they begin and end with a word."""
    return re.compile(rf"\b(?:{alternatives(table)})\b")


def found(table: str, text: str) -> bool:
    """True if one of the table's phrases is in the text."""
    return phrases(table).search(text) is not None


def _opened(line: str) -> str:
    """The line with the lists it names put in."""
    return re.sub(r"<([a-z][a-z ]*)>", lambda named: _list(named.group(1)), line)


@cache
def _list(name: str) -> str:
    lines = [_opened(line) for line in _TABLES["lists"][name].split("\n") if line]
    return lines[0] if lines[0].startswith("(?!") else f"(?:{'|'.join(lines)})"
