"""Reads fields of hostile JSON: what is missing or of another type is simply empty."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from laneway.domain.storable import storable

Json = dict[str, Any]
_LONGEST_AGE = 4_102_444_800
"""Seconds until the year 2100; what lies beyond is no time a message was sent at."""


def text(value: object, key: str, most: int = 4_194_304) -> str:
    """The text (or number, as text) under the key, fit to be stored and not longer than `most`."""
    found = value.get(key) if isinstance(value, dict) else None
    if isinstance(found, bool) or not isinstance(found, str | int | float):
        return ""
    return str(storable(str(found)))[:most]


def inner(value: object, key: str) -> Json:
    """The object under the key."""
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, dict) else {}


def each(value: object, key: str) -> list[Json]:
    """The objects in the list under the key."""
    found = value.get(key) if isinstance(value, dict) else None
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def flag(value: object, key: str) -> bool:
    """Whether the key says true, and nothing like it."""
    return isinstance(value, dict) and value.get(key) is True


def moment(value: object, key: str) -> datetime | None:
    """The time under the key, which counts seconds."""
    digits = text(value, key, 12)
    if not digits.isdecimal() or not digits.isascii() or int(digits) > _LONGEST_AGE:
        return None
    return datetime.fromtimestamp(int(digits), UTC)
