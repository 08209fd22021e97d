"""JSON as agents write it, read strictly and fast."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any, Final, NoReturn, cast

import orjson

Record = dict[str, Any]
BOM = b"\xef\xbb\xbf"


class Malformed(ValueError):
    """The bytes are no strict JSON."""


class TooDeep(Malformed):
    """The JSON is nested deeper than the parser follows."""


class Blank(Malformed):
    """There is nothing but white space."""


_DEPTH: Final = "depth limit exceeded"


def parse(line: bytes) -> Any:
    """The value of one line, without its line break; Malformed says why there is none.

    A byte order mark and white space around the value are no part of it. Of two equal keys the last counts.
    """
    try:
        return orjson.loads(line)
    except orjson.JSONDecodeError as error:
        return _carefully(line, str(error))


def _carefully(line: bytes, why: str) -> Any:
    """What the fast parser refuses although the grammar allows it: a mark in front, half a surrogate, huge numbers."""
    text = line.strip()
    if text.startswith(BOM):
        text = text[len(BOM) :].strip()
    if not text:
        raise Blank
    if why.startswith(_DEPTH):
        raise TooDeep(why)
    try:
        return json.loads(text.decode("utf-8"), parse_constant=_refuse)
    except RecursionError as error:
        raise TooDeep(str(error)) from None
    except ValueError as error:
        raise Malformed(str(error)) from None


def _refuse(constant: str) -> NoReturn:
    raise Malformed(f"{constant} is no number of JSON")


def parsed_text(text: str) -> Any:
    """The value of a JSON text inside a record, or None if it is none."""
    try:
        return orjson.loads(text)
    except (orjson.JSONDecodeError, UnicodeEncodeError):
        return None


def as_record(value: Any) -> Record:
    """The value itself if it is an object, else an empty one."""
    return cast(Record, value) if type(value) is dict else {}


def as_text(value: Any) -> str:
    """The value itself if it is a string, else an empty one."""
    return value if type(value) is str else ""


def as_list(value: Any) -> list[Any]:
    """The value itself if it is a list, else an empty one."""
    return value if type(value) is list else []


def counted(value: Any) -> int:
    """A number of tokens: only an integer from zero on counts."""
    return value if type(value) is int and value >= 0 else 0


def price(value: Any) -> Decimal | None:
    """An amount of dollars, exactly as it is written; None if it is none."""
    known = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1_000_000_000
    return Decimal(str(value)) if known else None
