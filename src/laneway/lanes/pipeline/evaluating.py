"""An expression's tree turned into a function of a row: nested closures, built once, called for each row."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any, Final

from laneway.lanes.pipeline.expressions import Among, Binary, Call, Choice, Column, Expression, Literal, Unary
from laneway.lanes.pipeline.functions import (
    FUNCTIONS,
    LONGEST_TEXT,
    MOST_BITS,
    CellFault,
    Remarks,
    bounded,
    numeric,
    textual,
)  # fmt: skip
from laneway.lanes.pipeline.values import NUMBERS, identity, kind, same

Evaluated = Callable[[Mapping[str, Any]], Any]

_ARITHMETIC: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "//": operator.floordiv,
    "%": operator.mod,
}  # fmt: skip
_ORDERING: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip


def function_of(tree: Expression, remarks: Remarks) -> Evaluated:
    """What gives the expression's value for a row; what the reader should know is counted in `remarks`."""
    match tree:
        case Literal(value):
            return lambda row: value
        case Column(name):
            return lambda row: row.get(name)
        case Unary(op, part):
            return _unary(op, function_of(part, remarks))
        case Binary(op, left, right):
            return _binary(op, function_of(left, remarks), function_of(right, remarks), remarks)
        case Choice(condition, yes, no):
            return _choice(*(function_of(part, remarks) for part in (condition, yes, no)))
        case Among(part, items):
            return _among(function_of(part, remarks), [function_of(item, remarks) for item in items])
        case Call(name, parts):
            return _call(name, [function_of(part, remarks) for part in parts], remarks)


def _unary(op: str, part: Evaluated) -> Evaluated:
    if op == "not":
        return lambda row: not _truth(part(row))

    def negative(row: Mapping[str, Any]) -> Any:
        value = part(row)
        return None if value is None else -numeric(value, "-")

    return negative


def _truth(value: Any) -> bool:
    if value is None:
        return False
    if type(value) is bool:
        return value
    raise CellFault(f"a condition must be true or false and is a {kind(value)}")


def _binary(op: str, left: Evaluated, right: Evaluated, remarks: Remarks) -> Evaluated:
    if op == "and":
        return lambda row: _truth(left(row)) and _truth(right(row))
    if op == "or":
        return lambda row: _truth(left(row)) or _truth(right(row))
    if op == "==":
        return lambda row: same(left(row), right(row))
    if op == "!=":
        return lambda row: not same(left(row), right(row))
    work = _compared(op) if op in _ORDERING else _reckoned(op, remarks)

    def both(row: Mapping[str, Any]) -> Any:
        first, second = left(row), right(row)
        return None if first is None or second is None else work(first, second)

    return both


def _compared(op: str) -> Callable[[Any, Any], bool]:
    compare = _ORDERING[op]

    def comparison(left: Any, right: Any) -> bool:
        types = type(left), type(right)
        if (types[0] in NUMBERS and types[1] in NUMBERS) or types == (str, str):
            return compare(left, right)
        raise CellFault(f"a {kind(left)} and a {kind(right)} cannot be compared by {op}")

    return comparison


def _reckoned(op: str, remarks: Remarks) -> Callable[[Any, Any], Any]:
    if op == "**":
        return _power
    reckon = _ARITHMETIC[op]

    def result(left: Any, right: Any) -> Any:
        if op == "+" and type(left) is str and type(right) is str:
            return bounded(left + right)
        if type(left) not in NUMBERS or type(right) not in NUMBERS:
            raise CellFault(f"a {kind(left)} and a {kind(right)} cannot be reckoned by {op}")
        if op in ("/", "//", "%") and right == 0:
            remarks["divisions by zero gave null"] += 1
            return None
        try:
            return bounded(reckon(left, right))
        except OverflowError as error:
            raise CellFault("the result is too large a number") from error

    return result


def _power(left: Any, right: Any) -> Any:
    base, exponent = numeric(left, "**"), numeric(right, "**")
    size = base.bit_length() if type(base) is int else 64
    if type(exponent) is int and size * abs(exponent) > MOST_BITS and type(base) is int:
        raise CellFault("the result is too large a number")
    try:
        result = base**exponent
    except (OverflowError, ZeroDivisionError) as error:
        raise CellFault("the result is no number, or too large a one") from error
    if type(result) is complex:
        raise CellFault("the root of a negative number is no number")
    return bounded(result)


def _choice(condition: Evaluated, yes: Evaluated, no: Evaluated) -> Evaluated:
    return lambda row: yes(row) if _truth(condition(row)) else no(row)


def _among(part: Evaluated, items: list[Evaluated]) -> Evaluated:
    return lambda row: identity(part(row)) in {identity(item(row)) for item in items}


def _call(name: str, parts: list[Evaluated], remarks: Remarks) -> Evaluated:
    if name == "is_null":
        return lambda row: parts[0](row) is None
    if name == "coalesce":
        return lambda row: next((value for part in parts if (value := part(row)) is not None), None)
    if name == "concat":
        return lambda row: _concat([part(row) for part in parts], remarks)
    work = FUNCTIONS[name][2]

    def result(row: Mapping[str, Any]) -> Any:
        values = [part(row) for part in parts]
        if None in values:
            return None
        try:
            return bounded(work(remarks, *values))
        except OverflowError as error:
            raise CellFault("the result is too large a number") from error

    return result


def _concat(values: list[Any], remarks: Remarks) -> str:
    texts = [textual(FUNCTIONS["text"][2](remarks, value), "concat") for value in values if value is not None]
    if sum(map(len, texts)) > LONGEST_TEXT:
        raise CellFault(f"the result is a text of more than {LONGEST_TEXT:,} letters")
    return "".join(texts)
