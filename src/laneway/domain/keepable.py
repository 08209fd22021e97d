"""Makes what others wrote fit to be kept and shown: bounded, without secrets, and without what no database holds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from laneway.domain.redaction import redacted
from laneway.domain.storable import storable

LONGEST = 4_000
"""Characters of one text."""
_MARGIN = 200
"""Read past the end, so that a secret the cut goes through is still recognised."""
_MOST, _DEEPEST = 50, 8


def keepable(value: Any) -> Any:
    """The same value with long texts cut, long lists ended, deep nesting left out, and secrets replaced."""
    return _bounded(redacted(storable(_bounded(value, LONGEST + _MARGIN))), LONGEST)


def _bounded(value: Any, longest: int, depth: int = 0) -> Any:
    if isinstance(value, str):
        return value if len(value) <= longest else value[:longest]
    if isinstance(value, Mapping | list | tuple) and depth >= _DEEPEST:
        return "…"
    if isinstance(value, Mapping):
        return {str(key)[:200]: _bounded(item, longest, depth + 1) for key, item in list(value.items())[:_MOST]}
    if isinstance(value, list | tuple):
        return [_bounded(item, longest, depth + 1) for item in value[:_MOST]]
    return value


def texts_in(value: Any) -> Iterator[str]:
    """Every text in the arguments or the outcome of a call, which are never nested deeply here."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping | list):
        for item in value.values() if isinstance(value, Mapping) else value:
            yield from texts_in(item)
