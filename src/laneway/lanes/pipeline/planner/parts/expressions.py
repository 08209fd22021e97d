"""Sums over a row, in words or signs: `price times quantity`, `(price - cost) * 2`, `goals per game`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import dropwhile
from typing import Any

from laneway.lanes.pipeline.planner.grammar import Chart, Edge, Rules
from laneway.lanes.pipeline.planner.names.nouns import Rows
from laneway.lanes.pipeline.planner.parts.amounts import Amount
from laneway.lanes.pipeline.planner.parts.bounds import Bound
from laneway.lanes.pipeline.planner.parts.pieces import Made, Renamed, Test, Where, compared
from laneway.lanes.pipeline.planner.phrasing import words
from laneway.lanes.pipeline.planner.refusal import Refused, Unfit
from laneway.lanes.pipeline.planner.schema import Column
from laneway.lanes.pipeline.planner.words.naming import CONVERSIONS, UNITS
from laneway.lanes.pipeline.planner.words.small import FILLERS

RULES = Rules()
Expression = tuple[str, str, str]
"""The text, a name for it, and the signs it is made with."""
COUNTED = words(
    """
    unit quantity seat item piece hour minute day visit person guest page bed bedroom room stop km mile kg passenger
    share head size area weight distance duration game copy credit
    """
)
"""Numbers of these are how many there are; few other ones that come again and again are classes."""
_NO_LABELS = FILLERS | words(
    "average mean median and or not with by per for each every of in from show list give me where than sort sorted add"
    " compute calculate work out make create determine include define keep only rows call called"
)
_PLAIN = re.compile(r"[A-Za-z_]\w*")
_SIGNS = {"times": "*", "multiplied by": "*", "plus": "+", "minus": "-", "divided by": "/", "less": "-", "*": "*",
          "+": "+",
          "-": "-", "/": "/", "x": "*", "over": "/", "multiplied with": "*", "and then divided by": "/",
          "and by": "/"}  # fmt: skip
_SAID = {"*": "times", "+": "plus", "-": "minus", "/": "per"}
RULES.words("sign", {said: (sign, said) for said, sign in _SIGNS.items() if said not in ("over", "less", "and by")})
RULES.words(
    "naming",
    (
        "as",
        "called",
        "named",
        "call it",
        "call that",
        "name it",
        "call this",
        "call the result",
        "naming it",
        "calling it",
    ),
)


def quoted(name: str) -> str:
    """The column's name as an expression writes it."""
    return name if _PLAIN.fullmatch(name) else f"`{name}`"


@RULES.rule("operand", "<measure>")
def column(chart: Chart, column: Column) -> Expression:
    if column.kind != "number":
        raise Unfit
    return quoted(column.name), column.name, ""


@RULES.rule("operand", "<measure> in <unit>", cost=0.05)
def converted(chart: Chart, column: Column, unit: str) -> Expression:
    """`the duration in hours`, of a column that counts minutes."""
    if unit == column.unit:
        return quoted(column.name), column.name, ""
    more, less = CONVERSIONS.get((column.unit, unit)), CONVERSIONS.get((unit, column.unit))
    if more is None and less is None:
        raise Unfit
    sign = f"* {more}" if more is not None else f"/ {less}"
    return f"({quoted(column.name)} {sign})", column.name, "("


RULES.words("unit", {word: unit for word, unit in UNITS.items() if len(word) > 2})


@RULES.rule("operand", "<amount>")
def number(chart: Chart, given: Amount) -> Expression:
    if given.unit:
        raise Unfit
    return str(given.value), str(given.value).replace(".", "_"), ""


@RULES.rule("operand", "{ <sum> }")
def bracketed(chart: Chart, inner: Expression) -> Expression:
    return f"({inner[0]})", inner[1], "("


@RULES.rule("sum", "<operand> <sign> <operand>")
def two(chart: Chart, left: Expression, said: tuple[str, str], right: Expression) -> Expression:
    units = [_unit(chart, one) for one in (left, right)]
    if said[0] in "+-" and units[1] == "%" and units[0] not in ("%", None):
        # The price less a percentage of it.
        whole = _joined((left, right), (said,))
        return f"{left[0]} * (100 {said[0]} {right[0]}) / 100", whole[1], "%"
    _refuse_mixture(chart, (left, right), (said,))
    return _joined((left, right), (said,))


def _unit(chart: Chart, operand: Expression) -> str | None:
    """What a column counts, '' if its name does not say; None of anything but a column."""
    column = chart.schema.column(operand[1]) if not operand[2] else None
    return column.unit if column is not None else None


def _refuse_mixture(chart: Chart, operands: tuple[Expression, ...], said: tuple[tuple[str, str], ...]) -> None:
    """Only what is counted alike is added up; Refused otherwise."""
    units = [unit for one in operands if (unit := _unit(chart, one)) is not None]
    if {sign for sign, _ in said} <= {"*", "/"} or ("%" not in units and len(set(units) - {""}) < 2):
        return
    if len(set(units)) > 1:
        counted = " and ".join(dict.fromkeys(unit for unit in units if unit))
        raise Refused(f"It is not plain how {counted} are added up.", "Write it with signs and brackets.")


@RULES.rule("sum", "<operand> <sign> <operand> <sign> <operand> ; <operand> <sign> <operand> and by <operand>")
def three(chart: Chart, *parts: Any) -> Expression:
    if len(parts) == 4:
        # `divided by 52 and by the hours`.
        left, said, middle, right = parts
        _refuse_mixture(chart, (left, middle, right), (said, said))
        return _joined((left, middle, right), (said, said))
    left, one, middle, other, right = parts
    if not {one[0], other[0]} & {"*", "/"}:
        _refuse_mixture(chart, (left, middle, right), (one, other))
    return _joined((left, middle, right), (one, other))


@RULES.rule("sum", "<operand> <sign> <operand> <sign> <operand> <sign> <operand>")
def four(chart: Chart, *parts: Any) -> Expression:
    return _joined(parts[::2], parts[1::2])


def _joined(operands: tuple[Expression, ...], said: tuple[tuple[str, str], ...]) -> Expression:
    signs = [sign for sign, _ in said]
    symbolic = all(len(word) == 1 and word != "x" for _, word in said)
    mixed = ({"+", "-"} & set(signs) and {"*", "/"} & set(signs)) or (
        signs.count("/") > 1 and len({w for _, w in said}) > 1
    )
    if len(signs) > 1 and not symbolic and mixed:
        raise Refused(
            "It is not plain what is worked out first.", "Write it with signs and brackets: (price - cost) * 2."
        )
    if all(operand[0].replace(".", "").isdigit() for operand in operands):
        raise Unfit
    texts, names = [operands[0][0]], [operands[0][1]]
    for sign, operand in zip(signs, operands[1:], strict=True):
        texts += [sign, operand[0]]
        names += [_SAID[sign], operand[1]]
    return " ".join(texts), named("_".join(names)), "".join(signs)


def named(text: str) -> str:
    """A name for a column nobody named."""
    return re.sub(r"\W+", "_", text)


@RULES.rule(
    "sum",
    "(multiplying|multiply|multiplies) <operand> (by|and|with) <operand> ; product of <operand> and <operand>",
)
def multiplied(chart: Chart, left: Expression, right: Expression) -> Expression:
    return _joined((left, right), (("*", "times"),))


@RULES.rule(
    "sum",
    "(dividing|divide) <operand> by <operand> ; ratio of <operand> (to|and) <operand> ; "
    "ratio between <operand> and <operand>",
)
def divided(chart: Chart, left: Expression, right: Expression) -> Expression:
    return _joined((left, right), (("/", "divided by"),))


@RULES.rule(
    "sum",
    "(adding|add|adding up) <operand> (and|to|plus) <operand> ; sum of <operand> and <operand> ; "
    "<operand> and <operand> (combined|added together|together|added up)",
)
def added(chart: Chart, left: Expression, right: Expression) -> Expression:
    _refuse_mixture(chart, (left, right), (("+", "plus"),))
    return _joined((left, right), (("+", "plus"),))


@RULES.rule(
    "sum",
    "(difference|gap) between <operand> and <operand> ; difference of <operand> and <operand>",
)
def less(chart: Chart, left: Expression, right: Expression) -> Expression:
    _refuse_mixture(chart, (left, right), (("-", "minus"),))
    return _joined((left, right), (("-", "minus"),))


@RULES.rule("sum", "<measure> as [a] (percentage|percent|%) of <measure> ; <measure> in (percent|%) of <measure>")
def part_of(chart: Chart, part: Column, whole: Column) -> Expression:
    """`the tip as a percentage of the subtotal`."""
    if part.name == whole.name or part.unit != whole.unit:
        raise Unfit
    text = f"100 * {quoted(part.name)} / {quoted(whole.name)}"
    return text, named(f"{part.name}_percent_of_{whole.name}"), "/"


@RULES.rule("sum", "(subtracting|subtract|taking|take|deducting|deduct) <operand> from <operand>")
def taken_from(chart: Chart, right: Expression, left: Expression) -> Expression:
    """`subtracting the discount from the price`."""
    return two(chart, left, ("-", "minus"), right)


@RULES.rule("ratio", "<operand> per <operand>", cost=0.3)
def per(chart: Chart, left: Expression, right: Expression) -> Expression:
    """`goals per game`, `price per hectare`: a division, where the second is a measure, too."""
    if left[1] == right[1] or right[0].replace(".", "").isdigit() or left[0].replace(".", "").isdigit():
        raise Unfit
    divisor = chart.schema.column(right[1])
    if divisor is not None and (divisor.yearly or (divisor.classes and COUNTED.isdisjoint(divisor.words))):
        raise Unfit
    _refuse_across(chart.schema.column(left[1]), divisor)
    return f"{left[0]} / {right[0]}", named(f"{left[1]}_per_{right[1]}"), "/"


def _refuse_across(dividend: Column | None, divisor: Column | None) -> None:
    """Returns unless the two are of different tables: rows of one are rather counted for each number of the other."""
    if dividend is None or divisor is None or dividend.owner == divisor.owner:
        return
    raise Refused(
        f"`per {divisor.name}` may mean groups or a division.",
        f"Say: grouped by {divisor.name}; or: divided by {divisor.name}.",
    )


@RULES.rule("item", "<sum> ; { <sum> }", cost=0.2)
def worked_out(chart: Chart, made: Expression) -> Made:
    return Made(made[1], made[0], added=False, given=False)


@RULES.rule("item", "<ratio>")
def a_ratio(chart: Chart, made: Expression) -> Made:
    return Made(made[1], made[0], added=False, given=False)


@RULES.rule(
    "item",
    "<label> [<_per_row>] { <sum> } ; <label> [<_per_row>] { <ratio> } ; <label> , <sum> ; <label> = <sum> ;"
    " <label> = <ratio> ; "
    "<label> : <sum> ; <label> [,] (which is|that is|meaning|i . e .|being|calculated as|defined as|"
    "computed as) <sum>",
    cost=0.1,
)
def labelled(chart: Chart, name: str, made: Expression) -> Made:
    """`free seats (max seats minus enrolled)`: words that are told what they mean."""
    return Made(name, made[0], added=False)


@RULES.rule("per_row", "(of|for) (each|every|all) <rows> ; per <rows>")
def per_row(chart: Chart, noun: Rows) -> str:
    """`usage of each meter (…)`: of every row."""
    if not noun.told:
        raise Unfit
    return "row"


@RULES.rule("test", "<label> { <sum> } <bound>", cost=0.2)
def label_bound(chart: Chart, name: str, made: Expression, bound: Bound) -> Test:
    """`total time (prep plus cook) under 45 minutes`."""
    return Test(
        compared(name, bound.by, bound.value(None)), ({"do": "compute", "column": name, "expression": made[0]},)
    )


@RULES.rule("test", "<bound> <label> { <sum> }", cost=0.2)
def bound_label(chart: Chart, bound: Bound, name: str, made: Expression) -> Test:
    """`more than 2 guests (adults plus children)`."""
    return label_bound(chart, name, made, bound)


_COLUMN_WORDS = words("new extra additional another further calculated column field called named")
"""A new column yearly_fee is called yearly_fee."""


@RULES.finder("label")
def label(chart: Chart, at: int) -> Iterator[Edge]:
    """One to four words before a sign that says what they mean."""
    for size in range(1, 5):
        tokens = chart.tokens[at : at + size]
        if len(tokens) < size or any(token.kind != "word" or token.text in _NO_LABELS for token in tokens):
            return
        if chart.edges("value", at + size - 1) or any(edge.value.plural for edge in chart.edges("rows", at + size - 1)):
            # Won leads are none that are worked out.
            return
        if chart.text(at + size) in (
            "{",
            "=",
            "of",
            "per",
            "for",
            ",",
            ":",
            "which",
            "that",
            "meaning",
            "being",
            "calculated",
            "defined",
            "computed",
        ):
            told = list(dropwhile(_COLUMN_WORDS.__contains__, (token.text for token in tokens)))
            if told:
                yield Edge(at + size, "_".join(told), 0.1 * size)


@RULES.rule(
    "item",
    "<sum> [{|,|-] <_naming> <name> [}] ; <ratio> [{|,|-] <_naming> <name> [}] ; <name> = <sum> ; <name> { <sum> } ; "
    "<name> (which is|that is|meaning|i e|as|being) <sum> ; <name> : <sum>",
)
def worked_out_as(chart: Chart, *said: Any) -> Made:
    """`price times quantity as total`, `hourly_rate, which is …`."""
    made = next(one for one in said if isinstance(one, tuple))
    name = next(one for one in said if isinstance(one, str))
    return Made(name, made[0], added=False)


@RULES.rule("item", "<column> (as|called|named) <name>")
def as_named(chart: Chart, column: Column, name: str) -> Renamed:
    return Renamed(column, name)


def as_expression(where: Where) -> str:
    """A condition as an expression says it."""
    for word in ("and", "or"):
        if word in where:
            return "(" + f" {word} ".join(as_expression(part) for part in where[word]) + ")"
    if "not" in where:
        return f"not {as_expression(where['not'])}"
    column, by = quoted(where["column"]), where["is"]
    value: Any = where.get("value")
    match by:
        case "null" | "not_null":
            return f"is_null({column})" if by == "null" else f"not is_null({column})"
        case "in" | "not_in":
            return f"{'' if by == 'in' else 'not '}{column} in ({', '.join(map(_literal, value))})"
        case "between":
            return f"({column} >= {_literal(value[0])} and {column} <= {_literal(value[1])})"
        case "contains" | "starts_with" | "ends_with":
            return f"{by}(lower({column}), {_literal(str(value).lower())})"
    return f"{column} {by} {_literal(value)}"


def _literal(value: Any) -> str:
    if isinstance(value, dict):
        return quoted(value["column"]) if "column" in value else _literal(value["date"])
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        if "'" in value:
            raise Unfit
        return f"'{value}'"
    return str(value)
