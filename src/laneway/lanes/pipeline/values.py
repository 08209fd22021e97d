"""What a cell may hold, when two cells are equal, and which comes first; docs/pipelines.md says the same in prose."""

from __future__ import annotations

import math
from collections.abc import Hashable
from typing import Any, Final

Row = dict[str, Any]

NULL: Final = type(None)
PLAIN: Final = frozenset({str, int, float, bool, NULL})
NUMBERS: Final = frozenset({int, float})

KINDS: Final[dict[type, str]] = {
    NULL: "null", bool: "true/false", int: "number", float: "number", str: "text", list: "list", dict: "object",
}  # fmt: skip
"""What people call each type of a cell."""

_RANKS: Final[dict[type, int]] = {NULL: -1, bool: 0, int: 1, float: 1, str: 2, list: 3, dict: 4}


def kind(value: Any) -> str:
    """What people call this cell's type."""
    return KINDS.get(type(value), type(value).__name__)


def identity(value: Any) -> Hashable:
    """The same for equal cells and for no others: 1 is 1.0, true is not 1, "1" is not 1."""
    of = type(value)
    if of is bool:
        return ("true/false", value)
    if of is list:
        return ("list", tuple(map(identity, value)))
    if of is dict:
        return ("object", frozenset((name, identity(part)) for name, part in value.items()))
    return value  # type: ignore[no-any-return]


def rank(value: Any) -> tuple[int, Any]:
    """Sorts cells of all types: true/false, then numbers, texts, lists, objects; nulls before them all."""
    of = type(value)
    if of is list:
        return 3, [rank(part) for part in value]
    if of is dict:
        return 4, [(name, rank(part)) for name, part in sorted(value.items())]
    return _RANKS[of], 0 if value is None else value


def same(left: Any, right: Any) -> bool:
    """Whether two cells are equal."""
    return identity(left) == identity(right)


def mixes_truth(types: set[type]) -> bool:
    """Whether Python alone would take true for 1 among cells of these types."""
    return bool in types and not types.isdisjoint(NUMBERS)


def shown(value: Any, most: int = 40) -> str:
    """A cell as a sentence may quote it."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, int) and value.bit_length() > 256:
        return "a very long number"
    text = f'"{value}"' if isinstance(value, str) else str(value)
    return text if len(text) <= most else f"{text[:most]}…"


def finite(number: float) -> bool:
    """Whether JSON can say this number."""
    return math.isfinite(number)
