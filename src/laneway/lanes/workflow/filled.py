"""Whether a node's type can work with what references have put into its settings: that is known only when it runs."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from laneway.errors import BadInput
from laneway.lanes.workflow.schema import schema

_WORDS = {
    "object": "an object",
    "array": "a list",
    "string": "a text",
    "integer": "a whole number",
    "number": "a number",
}


def check_filled(node_type: str, written: Mapping[str, Any], filled: Mapping[str, Any]) -> None:
    """Returns only if every setting that was filled is of a kind that the type takes there, or null."""
    for name, value in filled.items():
        kinds = _kinds(node_type, name) if value is not None and value != written[name] else ()
        if kinds and not any(_is(value, kind) for kind in kinds):
            # Only its kind is told: the value may be a secret.
            wanted = " or ".join(_WORDS[kind] for kind in kinds)
            raise BadInput(f"`{name}` was filled with {_kind(value)}.", hint=f"Let it lead to {wanted}.")


@lru_cache(maxsize=256)
def _kinds(node_type: str, name: str) -> tuple[str, ...]:
    """What a setting may be instead of a reference; nothing where any value is made into what is needed."""
    choices = schema()["$defs"].get(node_type, {}).get("properties", {}).get(name, {}).get("anyOf", ())
    return tuple(one["type"] for one in choices if "type" in one)


def _is(value: Any, kind: str) -> bool:
    match kind:
        case "object":
            return isinstance(value, Mapping)
        case "array":
            return isinstance(value, list)
        case "string":
            return isinstance(value, str)
    if isinstance(value, str):
        # Forms and tables hold numbers as texts.
        return (value.replace(".", "", 1) if kind == "number" else value).isdecimal() and value.isascii()
    return isinstance(value, int | float) and not isinstance(value, bool)


def _kind(value: Any) -> str:
    if isinstance(value, bool):
        return "true or false"
    found = next((kind for kind in ("object", "array", "string") if _is(value, kind)), "number")
    return _WORDS[found]
