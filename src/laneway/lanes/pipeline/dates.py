"""Dates are ISO 8601 texts: what counts as one, its day as written, and its instant."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from functools import lru_cache
from typing import Any, NamedTuple

_ISO = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?)?", re.ASCII)


class Moment(NamedTuple):
    """A date that was read."""

    day: date
    """As it is written, in whatever zone it is written in."""
    at: datetime
    """In UTC; what names no zone is taken for UTC, and a day alone for its midnight."""
    whole_day: bool
    written: datetime


@lru_cache(maxsize=65_536)
def moment(text: str) -> Moment | None:
    """The date this text is, if it is one."""
    if not _ISO.fullmatch(text):
        return None
    try:
        written = datetime.fromisoformat(text)
        at = written.replace(tzinfo=UTC) if written.tzinfo is None else written.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return Moment(written.date(), at, len(text) == 10, written)


def moment_of(value: Any) -> Moment | None:
    """The date this cell is, if it is one."""
    return moment(value) if type(value) is str else None
