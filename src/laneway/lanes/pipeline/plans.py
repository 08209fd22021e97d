"""When two requests are the same: the same words of the same person, about tables with the same columns.

What names a day by its distance from today ("yesterday", "this week") is the same only on the same day.
"""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any
from uuid import UUID

from laneway.domain.conversation import World
from laneway.lanes.pipeline.values import Row

LOOKED_AT = 1000
"""So many rows tell the types of a column."""
OFFERED_AT = 3
"""Asked so often, a request is worth a workflow."""
_POLITE = re.compile(r"\b(please|pls|kindly|thanks|thank you|can you|could you|would you)\b")
_RELATIVE = re.compile(
    r"\b(today|tonight|yesterday|tomorrow|now|currently|recent(?:ly)?|ago|since|this|last|next|past|previous|upcoming|"
    r"current|(?:mon|tues|wednes|thurs|fri|satur|sun)day)\b"
)
_KINDS = {bool: "yes/no", int: "number", float: "number", str: "text", type(None): "null", dict: "object", list: "list"}

Columns = dict[str, dict[str, str]]


def normalised(text: str) -> str:
    """The words that count: in one case and spacing, without courtesies and the marks at their ends."""
    words = _POLITE.sub(" ", unicodedata.normalize("NFKC", text).casefold())
    return " ".join(words.split()).strip(" .,;:!?…")


def columns_of(tables: Mapping[str, Sequence[Row]]) -> Columns:
    """Every table with its columns and the types of their cells."""
    return {name: _columns(rows) for name, rows in sorted(tables.items())}


def request_key(world: World, text: str) -> str:
    """Names what is asked, whatever the tables."""
    return _hashed([str(world), normalised(text)])


def plan_key(world: World, asks: UUID | None, text: str, columns: Columns, today: date) -> str:
    """Names what is asked by whom of which tables; one plan answers it, and nobody's plan answers another."""
    words = normalised(text)
    day = today.isoformat() if of_a_day(words) else ""
    return _hashed([str(world), str(asks), words, columns, day])


def of_a_day(text: str) -> bool:
    """Whether what is asked may be something else tomorrow."""
    return _RELATIVE.search(normalised(text)) is not None


def _columns(rows: Sequence[Row]) -> dict[str, str]:
    kinds: dict[str, set[str]] = {}
    for row in rows[:LOOKED_AT]:
        for name, cell in row.items():
            kinds.setdefault(name, set()).add(_KINDS.get(type(cell), "other"))
    return {name: "|".join(sorted(found - {"null"})) or "null" for name, found in sorted(kinds.items())}


def _hashed(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True, ensure_ascii=False).encode()).hexdigest()
