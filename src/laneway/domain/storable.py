"""What can be stored: texts that a database and UTF-8 can hold, numbers that JSON has, nothing without a bottom."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

DEEPEST = 64
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


class NotStorable(ValueError):
    """What is wrong with a value, and the way to the part of it that is wrong."""

    path: tuple[str | int, ...] = ()


def check_storable(value: Any, depth: int = 0) -> None:
    """Returns only if PostgreSQL can keep the value as JSON; NotStorable says what it cannot keep, and where."""
    if depth > DEEPEST:
        raise NotStorable("is nested too deeply")
    if isinstance(value, dict):
        for key in value:
            check_storable(key, depth + 1)
        _check_parts(value.items(), depth)
    elif isinstance(value, list):
        _check_parts(enumerate(value), depth)
    elif isinstance(value, str) and not _clean(value):
        raise NotStorable("holds a NUL or half a character")
    elif isinstance(value, float) and not math.isfinite(value):
        raise NotStorable("holds a number that is not finite")


def _check_parts(parts: Iterable[tuple[str | int, Any]], depth: int) -> None:
    for name, part in parts:
        try:
            check_storable(part, depth + 1)
        except NotStorable as wrong:
            wrong.path = (name, *wrong.path)
            raise


def _clean(text: str) -> bool:
    if "\x00" in text:
        return False
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
