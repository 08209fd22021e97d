"""Conditions: CEL texts that are true, false, or erred; an error is neither.

The engine is `cel-expr-python`. It gives errors back as values, so a result counts only when it is a boolean by type;
it takes time for what it is handed, so it is handed only the fields an expression names; and it knows no
double * int, which JSON numbers need, so those four operations are added.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from cel_expr_python import cel

from laneway.errors import BadInput
from laneway.lanes.workflow.expression_text import Path, named, plain, reckoned

LONGEST = 2_000
"""Longest expression, in characters."""
MOST_VALUES = 200_000
"""Most values an expression is handed."""
KEPT = 1_024
"""Compiled expressions kept for the next time."""
COMPARE = "Compare it with something, such as $.price < 100."
EDGE_NAMES = ("output", "ctx")
"""What the condition of an edge may speak of."""
ROW_NAMES = ("item", *EDGE_NAMES)
"""What the condition of a filter node may speak of: `item` and `output` are the row."""


@dataclass(frozen=True)
class Erred:
    """An expression that could not be worked out, and why: neither true nor false."""

    why: str


class BadCondition(BadInput):
    """An expression does not compile, or can never be true or false."""

    code = "condition"


@dataclass(frozen=True)
class Expression:
    """A compiled expression: `reads` says which fields it is handed."""

    text: str
    type: str
    reads: Mapping[str, list[Path] | None]
    program: Any = field(repr=False, compare=False)

    def result(self, **values: Any) -> Any:
        """The value as plain JSON, or Erred."""
        try:
            handed = {name: _pruned(values.get(name), paths) for name, paths in self.reads.items()}
            found = self.program.eval(data=handed)
        except (RuntimeError, ValueError, TypeError, OverflowError) as error:  # RecursionError is a RuntimeError
            return Erred(_said(str(error)))
        if found.type() == cel.Type.ERROR or found.type() == cel.Type.UNKNOWN:
            return Erred(_said(str(found.value())))
        return found.plain_value()


@dataclass(frozen=True)
class Condition:
    """A compiled condition."""

    text: str
    expression: Expression

    def value(self, output: Any, ctx: Mapping[str, Any] | None = None, **more: Any) -> bool | Erred:
        """True, False, or Erred with the reason."""
        found = self.expression.result(output=output, ctx=dict(ctx or {}), **more)
        if isinstance(found, bool | Erred):
            return found
        return Erred(f"The result is {_kind(found)}, not true or false.")


def compiled(text: str, names: tuple[str, ...] = EDGE_NAMES) -> Condition:
    """The condition, ready to be asked; BadCondition says what is wrong with it."""
    found = expression(text, names)
    if found.type not in ("BOOL", "DYN"):
        raise BadCondition(
            f"The condition {_quoted(text)} gives {_type_name(found.type)}, not true or false.",
            hint=COMPARE,
        )
    if reckoned(plain(text)):
        # The checker says only that it may be any kind of number, or a text.
        raise BadCondition(
            f"The condition {_quoted(text)} works something out that is not true or false.", hint=COMPARE
        )
    return Condition(text, found)


@lru_cache(maxsize=KEPT)
def expression(text: str, names: tuple[str, ...] = EDGE_NAMES, called: str = "condition") -> Expression:
    """The expression, ready to be worked out over values of these names; BadCondition says what is wrong with it."""
    if not text.strip():
        raise BadCondition(f"The {called} is empty.", hint=f"Leave it out, or write one such as {_EXAMPLES[called]}.")
    if len(text) > LONGEST:
        raise BadCondition(f"The {called} has {len(text)} characters; {LONGEST} are allowed.", hint="Shorten it.")
    source = plain(text)
    try:
        checked = _env(names, True).compile(source)
        # Checked above; compiled without types so that numbers compare across whole and broken ones.
        program = _env(names, False).compile(source, disable_check=True)
    except (RuntimeError, ValueError, TypeError) as error:
        raise _refused(text, str(error), names, called) from None
    return Expression(text, str(checked.return_type().name()), named(source, names), program)


def _refused(text: str, error: str, names: tuple[str, ...], called: str) -> BadCondition:
    known = " and ".join(f"`{name}`" for name in names)
    if "undeclared reference to" in error:
        name = error.split("undeclared reference to", 1)[1].split("'")[1]
        return BadCondition(
            f"The {called} {_quoted(text)} speaks of {_quoted(name)}, which is unknown.",
            hint=f"Use {known}; a field of {_FIRST[names[0]]} is $.field or {names[0]}.field.",
        )
    return BadCondition(
        f"The {called} {_quoted(text)} is not valid CEL: {_said(error)}.",
        hint=f"Mend it; {_EXAMPLES[called]} is a valid one.",
    )


_EXAMPLES = {"condition": "$.price < 100 && $.stock > 0", "expression": "$.price * 2"}
_FIRST = {"output": "the result", "item": "the row"}


@lru_cache(maxsize=16)
def _env(names: tuple[str, ...], checking: bool) -> Any:
    """One environment to check in, with every mixture of numbers declared; one to work in, with what CEL lacks."""
    variables = dict.fromkeys(names, cel.Type.DYN)
    return cel.NewEnv(variables=variables, extensions=[cel.CelExtension("numbers", _numbers(checking))])


_MIXED: dict[str, tuple[str, Callable[[Any, Any], Any]]] = {
    "_+_": ("add", operator.add),
    "_-_": ("subtract", operator.sub),
    "_*_": ("multiply", operator.mul),
    "_/_": ("divide", operator.truediv),
}
_COMPARED: dict[str, tuple[str, Callable[[Any, Any], Any]]] = {
    "_<_": ("less", operator.lt),
    "_<=_": ("less_equals", operator.le),
    "_>_": ("greater", operator.gt),
    "_>=_": ("greater_equals", operator.ge),
    "_==_": ("equals", operator.eq),
    "_!=_": ("not_equals", operator.ne),
}


def _numbers(checking: bool) -> list[Any]:
    found = [_mixed(sign, *how, cel.Type.DOUBLE) for sign, how in _MIXED.items()]
    # Comparing across number types is built in when working, and only the checker does not know it.
    return found + ([_mixed(sign, *how, cel.Type.BOOL) for sign, how in _COMPARED.items()] if checking else [])


def _mixed(sign: str, name: str, work: Callable[[Any, Any], Any], result: Any) -> Any:
    double, whole = cel.Type.DOUBLE, cel.Type.INT

    def worked(one: Any, other: Any) -> Any:
        return work(float(one), float(other))

    return cel.FunctionDecl(
        sign,
        [
            cel.Overload(f"{name}_double_int64", result, [double, whole], impl=worked),
            cel.Overload(f"{name}_int64_double", result, [whole, double], impl=worked),
        ],
    )


def _pruned(value: Any, paths: list[Path] | None) -> Any:
    """Of a value only what the paths name; the shape above them stays."""
    budget = [MOST_VALUES]
    if paths is None or not isinstance(value, Mapping):
        return _handed(value, budget)
    kept: dict[str, Any] = {}
    for name in dict.fromkeys(path[0] for path in paths):
        if name in value:
            below = [path[1:] for path in paths if path[0] == name]
            whole = any(not path for path in below)
            kept[name] = _handed(value[name], budget) if whole else _pruned(value[name], below)
    return kept


def _handed(value: Any, budget: list[int]) -> Any:
    """The value as the engine takes it: a whole number beyond 64 bits is handed as a broken one."""
    budget[0] -= 1
    if budget[0] < 0:
        raise ValueError(f"The condition reads more than {MOST_VALUES} values. Name a field with fewer.")
    if isinstance(value, Mapping):
        return {str(key): _handed(each, budget) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_handed(each, budget) for each in value]
    if isinstance(value, int) and not isinstance(value, bool) and not -(2**63) <= value < 2**63:
        return float(value)
    return value


def _said(error: str) -> str:
    """The engine's words in one line, without its codes and its picture."""
    line = error.strip().splitlines()[0] if error.strip() else "no reason given"
    for noise in ("INVALID_ARGUMENT: ", "ERROR: ", "UNKNOWN: ", "NOT_FOUND: ", "<input>:"):
        line = line.replace(noise, "")
    return line.split(" (in container")[0].removesuffix(" [INVALID_ARGUMENT]").rstrip(".")[:300]


def _quoted(text: str) -> str:
    return f'"{text if len(text) <= 80 else text[:77] + "…"}"'


def _type_name(name: str) -> str:
    names = {"INT": "a number", "UINT": "a number", "DOUBLE": "a number", "STRING": "a text", "NULL": "null"}
    return names.get(name, "a list" if name.startswith("LIST") else "an object" if name.startswith("MAP") else name)


def _kind(value: Any) -> str:
    names = {dict: "an object", list: "a list", str: "a text", type(None): "null"}
    return names.get(type(value), "a number")
