"""The functions an expression may call: what each takes, and what it makes of it. There are no others."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable
from decimal import ROUND_HALF_UP, Decimal
from typing import Any, Final

from laneway.lanes.pipeline.dates import Moment, moment
from laneway.lanes.pipeline.values import kind, shown

LONGEST_TEXT = 100_000
MOST_BITS = 4096
_NUMBER: Final = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,3})?", re.ASCII)

Remarks = Counter[str]
"""What a reader should know, and of how many rows it is true."""


class CellFault(ValueError):
    """A cell is of a kind that this cannot be done with."""


def numeric(value: Any, what: str) -> Any:
    """The value, which must be a number."""
    if type(value) is int or type(value) is float:
        return value
    raise CellFault(f"{what} needs a number and got the {kind(value)} {shown(value)}")


def textual(value: Any, what: str) -> str:
    """The value, which must be a text."""
    if type(value) is str:
        return value
    raise CellFault(f"{what} needs a text and got the {kind(value)} {shown(value)}")


def whole(value: Any, what: str) -> int:
    """The value, which must be a whole number of a sensible size."""
    if type(value) is int and abs(value) <= 1_000_000:
        return value
    raise CellFault(f"{what} needs a whole number and got {shown(value)}")


def bounded(value: Any) -> Any:
    """The value, unless it grew beyond all measure."""
    if type(value) is float and not math.isfinite(value):
        raise CellFault("the result is too large a number")
    if type(value) is int and value.bit_length() > MOST_BITS:
        raise CellFault("the result is too large a number")
    if type(value) is str and len(value) > LONGEST_TEXT:
        raise CellFault(f"the result is a text of more than {LONGEST_TEXT:,} letters")
    return value


def _round(_: Remarks, number: Any, digits: Any = 0) -> Any:
    value, places = numeric(number, "round"), whole(digits, "round")
    if not -300 <= places <= 300:
        raise CellFault("round takes from -300 to 300 digits")
    if type(value) is int and places >= 0:
        return value
    # Halves go away from zero, as people round; of a float its shortest decimal is rounded, the one that is shown.
    step = Decimal(1).scaleb(-places)
    exact = Decimal(value) if type(value) is int else Decimal(repr(value))
    if exact.adjusted() + places > 2000:
        return value
    rounded = (exact / step).to_integral_value(ROUND_HALF_UP) * step if places < 0 else _quantized(exact, places)
    return int(rounded) if places <= 0 else float(rounded)


def _quantized(exact: Decimal, places: int) -> Decimal:
    sign, digits, exponent = exact.as_tuple()
    if not isinstance(exponent, int) or -exponent <= places:
        return exact
    shifted = int("".join(map(str, digits)))
    divisor = 10 ** (-exponent - places)
    half_up = (shifted * 2 + divisor) // (2 * divisor)
    return Decimal((sign, tuple(map(int, str(half_up))), -places))


def _number(remarks: Remarks, value: Any) -> Any:
    if type(value) is bool:
        return int(value)
    if type(value) is not str:
        return numeric(value, "number")
    text = value.strip()
    if _NUMBER.fullmatch(text) and len(text) <= 400:
        plain = text.lstrip("+-").isdigit()
        found = int(text) if plain else float(text)
        if plain or math.isfinite(found):
            return found
    remarks["texts that are no numbers gave null"] += 1
    return None


def _text(_: Remarks, value: Any) -> str:
    if type(value) is str:
        return value
    if type(value) in (list, dict):
        raise CellFault(f"text cannot show the {kind(value)} {shown(value)}")
    return repr(value) if type(value) in (int, float) else shown(value)


def _dated(make: Callable[[Moment], Any]) -> Callable[..., Any]:
    def part(remarks: Remarks, value: Any) -> Any:
        read = moment(textual(value, "a date function"))
        if read is None:
            remarks["texts that are no dates gave null"] += 1
            return None
        return make(read)

    return part


def _days(remarks: Remarks, start: Any, end: Any) -> Any:
    days = [_dated(lambda read: read.day)(remarks, one) for one in (start, end)]
    return None if None in days else (days[1] - days[0]).days


def _left(_: Remarks, text: Any, count: Any) -> str:
    return textual(text, "left")[: max(0, whole(count, "left"))]


def _right(_: Remarks, text: Any, count: Any) -> str:
    letters = max(0, whole(count, "right"))
    return textual(text, "right")[-letters:] if letters else ""


def _middle(_: Remarks, text: Any, start: Any, count: Any = LONGEST_TEXT) -> str:
    first = max(1, whole(start, "substring")) - 1
    return textual(text, "substring")[first : first + max(0, whole(count, "substring"))]


def _replace(_: Remarks, text: Any, old: Any, new: Any) -> str:
    here, out, put = (textual(one, "replace") for one in (text, old, new))
    if not out:
        raise CellFault("replace needs a text to look for")
    if len(here) + here.count(out) * (len(put) - len(out)) > LONGEST_TEXT:
        raise CellFault(f"the result is a text of more than {LONGEST_TEXT:,} letters")
    return here.replace(out, put)


def _part(_: Remarks, text: Any, separator: Any, number: Any) -> Any:
    by, place = textual(separator, "part"), whole(number, "part")
    if not by:
        raise CellFault("part needs a separator")
    parts = textual(text, "part").split(by)
    return parts[place - 1] if 1 <= place <= len(parts) else None


def _length(_: Remarks, value: Any) -> int:
    return len(value) if type(value) is list else len(textual(value, "length"))


def _extreme(name: str, best: Callable[..., Any]) -> Callable[..., Any]:
    def of(_: Remarks, *values: Any) -> Any:
        if all(type(value) is str for value in values):
            return best(values)
        return best([numeric(value, name) for value in values])

    return of


def _square_root(_: Remarks, value: Any) -> float:
    if numeric(value, "sqrt") < 0:
        raise CellFault(f"sqrt needs a number that is not below 0 and got {shown(value)}")
    return math.sqrt(value)


def _on_text(name: str, make: Callable[..., Any]) -> Callable[..., Any]:
    return lambda _, *values: make(*(textual(value, name) for value in values))


def _on_number(name: str, make: Callable[[Any], Any]) -> Callable[..., Any]:
    return lambda _, value: make(numeric(value, name))


FUNCTIONS: Final[dict[str, tuple[int, int, Callable[..., Any]]]] = {
    "abs": (1, 1, _on_number("abs", abs)),
    "ceil": (1, 1, _on_number("ceil", math.ceil)),
    "floor": (1, 1, _on_number("floor", math.floor)),
    "round": (1, 2, _round),
    "sqrt": (1, 1, _square_root),
    "min": (1, 20, _extreme("min", min)),
    "max": (1, 20, _extreme("max", max)),
    "number": (1, 1, _number),
    "text": (1, 1, _text),
    "lower": (1, 1, _on_text("lower", str.lower)),
    "upper": (1, 1, _on_text("upper", str.upper)),
    "trim": (1, 1, _on_text("trim", str.strip)),
    "title": (1, 1, _on_text("title", str.title)),
    "length": (1, 1, _length),
    "left": (2, 2, _left),
    "right": (2, 2, _right),
    "substring": (2, 3, _middle),
    "replace": (3, 3, _replace),
    "part": (3, 3, _part),
    "contains": (2, 2, _on_text("contains", lambda text, part: part in text)),
    "starts_with": (2, 2, _on_text("starts_with", str.startswith)),
    "ends_with": (2, 2, _on_text("ends_with", str.endswith)),
    "year": (1, 1, _dated(lambda read: read.written.year)),
    "month": (1, 1, _dated(lambda read: read.written.month)),
    "day": (1, 1, _dated(lambda read: read.written.day)),
    "hour": (1, 1, _dated(lambda read: read.written.hour)),
    "minute": (1, 1, _dated(lambda read: read.written.minute)),
    "weekday": (1, 1, _dated(lambda read: read.day.isoweekday())),
    "quarter": (1, 1, _dated(lambda read: (read.day.month + 2) // 3)),
    "date": (1, 1, _dated(lambda read: read.day.isoformat())),
    "days_between": (2, 2, _days),
}
"""Name → least parts, most parts, what it does. Where a part is null, the result is null."""

NULL_AWARE: Final = {"coalesce": (1, 20), "is_null": (1, 1), "concat": (1, 20), "if": (3, 3)}
"""Those that look at nulls themselves."""

TAKES: Final = {name: (least, most) for name, (least, most, _) in FUNCTIONS.items()} | NULL_AWARE
