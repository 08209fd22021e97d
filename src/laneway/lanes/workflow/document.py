"""A workflow document is plain JSON with bounds: what comes from outside is read strictly, or refused in a sentence."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from laneway.errors import BadInput, TooLarge

Document = dict[str, Any]
"""{"nodes": [...], "edges": [...], "metadata"?: {...}, "triggers"?: [...]}; never changed in place."""

MOST_BYTES = 1_000_000
"""Largest document, as compact JSON."""
DEEPEST = 64
"""Deepest nesting of lists and objects."""
AGENTS_PER_PATCH = 5
"""Most nodes of type agent that one patch may bring in."""


def read(text: str | bytes, *, most_bytes: int = MOST_BYTES) -> Any:
    """The JSON value of a text: double keys, numbers without a value and too deep nesting are refused."""
    if len(text) > most_bytes:
        raise TooLarge(f"The JSON has {len(text)} bytes; {most_bytes} are allowed.", hint="Send less at a time.")
    value = strict(text)
    bounded(value, most_bytes=most_bytes)
    return value


class NotJson(BadInput):
    """A text is no JSON at all; it may be something else."""


def strict(text: str | bytes) -> Any:
    """The JSON value of a text, however large: double keys and numbers without a value are refused."""
    try:
        return json.loads(text, object_pairs_hook=_object, parse_constant=_no_number, parse_float=_number)
    except RecursionError:
        raise _too_deep() from None
    except BadInput:
        raise
    except ValueError as error:
        raise NotJson(f"This is not JSON: {error}.", hint="Send one JSON value.") from None


def bounded(value: Any, *, most_bytes: int = MOST_BYTES) -> int:
    """The size of a JSON value in bytes; what is too deep, too large or no JSON is refused."""
    size = weight(value, most=most_bytes)
    if size > most_bytes:
        raise TooLarge(
            f"The document is larger than {most_bytes} bytes.", hint="Keep large values outside and refer to them."
        )
    return size


def weight(value: Any, *, most: int = MOST_BYTES) -> int:
    """About how many bytes a value takes as JSON; stops counting a little above `most`."""
    total, stack = 0, [(value, 1)]
    while stack and total <= most:
        item, depth = stack.pop()
        if depth > DEEPEST:
            raise _too_deep()
        total += _own_weight(item)
        if isinstance(item, dict):
            stack.extend((each, depth + 1) for each in item.values())
        elif isinstance(item, list):
            stack.extend((each, depth + 1) for each in item)
    return total


def copied(value: Any) -> Any:
    """The same JSON value, sharing no list and no object with the first."""
    if isinstance(value, dict):
        return {key: copied(each) for key, each in value.items()}
    if isinstance(value, list):
        return [copied(each) for each in value]
    return value


def equal(one: Any, other: Any) -> bool:
    """Whether two JSON values are equal: 1 is 1.0, but true is not 1."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(equal(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(equal, one, other))
    return (type(one) is type(other) or _numbers(one, other)) and bool(one == other)


def whole_number(value: Any) -> int | None:
    """The whole number that a value is, None if it is none: 3.0 is one in JSON, and true is not."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def fingerprint(document: Any) -> str:
    """A hash that two documents share exactly when they hold the same values under the same names."""
    text = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _numbers(one: Any, other: Any) -> bool:
    return isinstance(one, int | float) and isinstance(other, int | float)


def _own_weight(item: Any) -> int:
    if isinstance(item, str):
        return _text_weight(item)
    if isinstance(item, dict):
        return 2 + sum(_text_weight(key) + 2 for key in item)
    if isinstance(item, list):
        return 2 + len(item)
    if isinstance(item, float) and (item != item or item in (float("inf"), float("-inf"))):
        raise BadInput("The document holds a number that is too large for JSON.", hint="Use a smaller number.")
    if item is None or isinstance(item, int | float):
        return 8
    raise BadInput(f"The document holds a {type(item).__name__}, which is no JSON.", hint="Use JSON values only.")


def _text_weight(text: Any) -> int:
    if not isinstance(text, str):
        raise BadInput(f"The key {text!r} of an object is no text.", hint="Use texts as keys.")
    # PostgreSQL stores neither; refused here, the answer says so instead of an error out of the database.
    if "\x00" in text or any("\ud800" <= sign <= "\udfff" for sign in text if sign > "\ud7ff"):
        raise BadInput("A text holds a character that cannot be stored.", hint="Leave out \\u0000 and lone surrogates.")
    return len(text) + 2


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise BadInput(f'The key "{twice[:60]}" stands twice in one object.', hint="Keep one of the two.")
    return found


def _no_number(name: str) -> Any:
    raise BadInput(f"{name} is no JSON number.", hint="Use null or a number.")


def _number(text: str) -> float:
    value = float(text)
    if value in (float("inf"), float("-inf")):
        raise BadInput(f"The number {text[:40]} is too large for JSON.", hint="Use a smaller number.")
    return value


def _too_deep() -> TooLarge:
    return TooLarge(f"The JSON is nested deeper than {DEEPEST} levels.", hint="Make it flatter.")
