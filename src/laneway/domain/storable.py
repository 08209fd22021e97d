"""Makes any text fit to be stored: what a database or UTF-8 cannot hold becomes the replacement character."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


def storable(value: Any) -> Any:
    """The same value without NUL characters and lone surrogates, however deep they lie."""
    if isinstance(value, str):
        text = value.replace("\0", _REPLACEMENT)
        return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, Mapping):
        return {storable(key): storable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [storable(item) for item in value]
    return value
