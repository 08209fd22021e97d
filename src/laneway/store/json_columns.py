"""How JSON goes to the database and comes back: many times as fast as by the standard library, and as exactly."""

from __future__ import annotations

import json
from typing import Any

import orjson
from psycopg.types.json import Json, set_json_loads

from laneway.domain.long_numbers import has_long_number
from laneway.domain.storable import storable


def read_fast() -> None:
    """Every connection that is made from now on reads its JSON by `loads`."""
    set_json_loads(loads)


def loads(text: str | bytes) -> Any:
    """The value; whole numbers stay whole however long they are."""
    raw = text.encode() if isinstance(text, str) else text
    return json.loads(raw) if has_long_number(raw) else orjson.loads(raw)


def in_order(value: Any) -> Json:
    """A value for a json column: keys stay in the order they have, which jsonb would sort; numbers stay as long."""
    return Json(value, dumps=_dumps)


def _dumps(value: Any) -> bytes:
    try:
        raw = orjson.dumps(value)
    except TypeError:
        # orjson has no whole numbers beyond 64 bits, and no halves of characters.
        raw = json.dumps(storable(value), allow_nan=False).encode()
    # Unlike jsonb, a json column takes a NUL, and then fails everyone who looks into it.
    return json.dumps(storable(value), allow_nan=False).encode() if b"\\u0000" in raw else raw
