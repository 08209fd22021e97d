"""JSON of many megabytes, read and written piece by piece.

Whoever reads or writes it at once keeps the interpreter to himself meanwhile, even in a thread, and the server stands
still. Between two pieces others go on.
"""

from __future__ import annotations

import json
import re
from typing import Any

import orjson

DEPTH = 2
"""Lists and objects so deep are taken apart: {"rows": [row, row, …]}."""
MANY = 500
"""Members of a list that are written at once."""
_SPACE = re.compile(r"[ \t\n\r]*")
_decoder = json.JSONDecoder()


def loads(content: bytes) -> Any:
    """The value of a JSON text, as json.loads gives it."""
    text = content.decode()
    try:
        value, end = _read(text, _SPACE.match(text, 0).end(), DEPTH)  # type: ignore[union-attr]
    except ValueError:
        end = -1
    # What is no JSON is told of by the reader that everybody knows.
    return value if end >= 0 and not text[end:].strip() else json.loads(text)


def _read(text: str, at: int, depth: int) -> tuple[Any, int]:
    """The value that begins at this place, and where it ends."""
    begin = text[at : at + 1]
    if not depth or begin not in ("[", "{"):
        return _decoder.raw_decode(text, at)
    items: list[Any] = []
    pairs: dict[str, Any] = {}
    end = "]" if begin == "[" else "}"
    at = _behind(text, at + 1)
    while text[at : at + 1] != end:
        if begin == "{":
            key, at = _decoder.raw_decode(text, at)
            if not isinstance(key, str):
                raise ValueError(at)
            pairs[key], at = _read(text, _behind(text, at, ":"), depth - 1)
        else:
            item, at = _read(text, at, depth - 1)
            items.append(item)
        at = _behind(text, at)
        if text[at : at + 1] != end:
            at = _behind(text, at, ",")
            if text[at : at + 1] == end:
                raise ValueError(at)
    return (items if begin == "[" else pairs), at + 1


def _behind(text: str, at: int, mark: str = "") -> int:
    """The first place that is no space, behind the mark that must stand there."""
    at = _SPACE.match(text, at).end()  # type: ignore[union-attr]
    if not mark:
        return at
    if text[at : at + 1] != mark:
        raise ValueError(at)
    return _SPACE.match(text, at + 1).end()  # type: ignore[union-attr]


def dumps(value: Any, depth: int = DEPTH) -> bytes:
    """The value as JSON; what JSON has no word for is its text."""
    if isinstance(value, list) and len(value) > MANY:
        parts = (_at_once(value[at : at + MANY])[1:-1] for at in range(0, len(value), MANY))
        return b"[" + b",".join(parts) + b"]"
    if isinstance(value, dict) and depth and all(isinstance(key, str) for key in value):
        return b"{" + b",".join(_at_once(key) + b":" + dumps(one, depth - 1) for key, one in value.items()) + b"}"
    return _at_once(value)


def _at_once(value: Any) -> bytes:
    try:
        return orjson.dumps(value, default=str, option=orjson.OPT_NON_STR_KEYS)
    except TypeError:
        # orjson has no whole numbers beyond 64 bits.
        return json.dumps(value, default=str, ensure_ascii=False).encode()
