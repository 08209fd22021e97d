"""What a JSON value is as a table; where there is doubt, it is said and not guessed.

A list of objects, one object that holds exactly one such list, or a single object (one row). A list of plain values
becomes rows with the one column `value`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from laneway.errors import BadInput
from laneway.lanes.pipeline.checking import checked
from laneway.lanes.pipeline.values import Row

INLINE_BYTES = 16 * 1024 * 1024
LISTS = ("rows", "data", "items", "results")
LISTED = ("rows", "data", "items")
"""Where an earlier result may hold its rows."""


def rows_of(value: Any, name: str = "table", most_bytes: int = INLINE_BYTES) -> list[Row]:
    """The table that a JSON value is; a BadInput if it is none."""
    if isinstance(value, Mapping):
        value = _only_list(value)
    if isinstance(value, list) and value and not any(isinstance(row, Mapping | list) for row in value):
        value = [{"value": one} for one in value]
    return checked(name, value, most_bytes)


def pointed(value: Any) -> str | None:
    """The reference to a stored table that stands in a request in place of rows, if it is one."""
    if isinstance(value, Mapping):
        value = value.get("result_ref") or value.get("artifact")
    return value if isinstance(value, str) else None


def inside(value: Any) -> Any:
    """The rows within what a request brings: the value itself, or the list of an earlier result."""
    if not isinstance(value, Mapping):
        return value
    inner = next((value[key] for key in LISTED if key in value), value)
    return inner if isinstance(inner, list | Mapping) else value


def is_result(value: Mapping[str, Any]) -> bool:
    """Whether an object is an earlier result, and not a row."""
    return pointed(value) is not None or any(isinstance(value.get(key), list) for key in LISTED)


def _only_list(value: Mapping[str, Any]) -> Any:
    lists = [name for name, inner in value.items() if isinstance(inner, list) and inner and _objects(inner)]
    if len(lists) > 1:
        told = ", ".join(f"`{name[:40]}`" for name in lists[:8])
        raise BadInput(f"It holds several lists: {told}.", hint="Say which one with `rows_at`.")
    if lists:
        return value[lists[0]]
    return [] if any(value.get(name) == [] for name in LISTS) else [dict(value)]


def _objects(values: list[Any]) -> bool:
    return all(isinstance(one, Mapping) for one in values[:50])
