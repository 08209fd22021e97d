"""The other rows: `not from Paris`, `except Furniture`, `skip those without a price`, `anything but forest`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from laneway.lanes.pipeline.planner.grammar import Chart, Edge, Rules
from laneway.lanes.pipeline.planner.names.nouns import NO_NOUNS, Rows
from laneway.lanes.pipeline.planner.parts.bounds import INVERSE
from laneway.lanes.pipeline.planner.parts.naming import Held
from laneway.lanes.pipeline.planner.parts.pieces import Test, Where
from laneway.lanes.pipeline.planner.parts.texts import chosen, equals, within
from laneway.lanes.pipeline.planner.phrasing import phrases
from laneway.lanes.pipeline.planner.refusal import Refused, Unfit
from laneway.lanes.pipeline.planner.schema import Schema

RULES = Rules()
_NOT = phrases(
    """
    not | is not | are not | was not | were not | non | never | do not | does not | did not | but not | that are not |
    which are not | who are not | that is not | have not | has not | outside | outside of
    """
)
_EXCEPT = phrases(
    """
    everything but | all but | anything but | everyone but | everybody but | anyone but | except for | except |
    excluding | other than | apart from | not including |
    besides | exclude all | exclude any | exclude | filter out | leave out | leaving out | ignoring | ignore |
    remove all | remove any | get rid of | skip | skipping | disregard | disregarding | omit | omitting | not counting |
    leave aside | leaving aside |
    without counting | everything except | everyone except | all except | everybody except |
    do not include | do not count | throw out | take out | drop all | drop any | drop | remove | with the exception of
    """
)
RULES.words("not", _NOT)
RULES.words("except", _EXCEPT)
RULES.words(
    "relative",
    phrases(
        "that are | which are | who are | that is | that have | which have | who have | that | which | who | whose |"
        " where | with | for which | in which | having | that has | whoever | whatever | whoever has |"
        " where there is | that were | that was"
    ),
)


@RULES.rule("test", "<_not> [been|be|yet|yet been|have|has|having] [<_relative>] <test>", cost=0.05)
def not_so(chart: Chart, test: Test) -> Test:
    """`not from Paris`, `isn't closed`, `outside Lyon`."""
    if test.negated or test.excepts:
        raise Unfit
    return negated(test, chart.schema)


@RULES.rule("test", "<_except> [all|any|the] <excepted>", cost=0.05)
def excepting(chart: Chart, test: Test) -> Test:
    """`except Furniture`, `ignore products that have no brand`."""
    found = negated(test, chart.schema)
    return Test(found.where, found.first, negated=True, excepts=True)


@RULES.rule(
    "test",
    "(leave|take|leaving|keep) <excepted> out ; (leave|leaving|put|putting) <excepted> (aside|to one side) ;"
    " leave out what <_be> <excepted>",
    cost=0.05,
)
def left_out(chart: Chart, test: Test) -> Test:
    """`leave warranty out`."""
    return excepting(chart, test)


@RULES.rule("test", "without [any|all] <excepted>", cost=0.05)
def lacking(chart: Chart, test: Test) -> Test:
    """`without cancelled ones`; but nothing is without stops under 150."""
    if test.where.get("is") in INVERSE and isinstance(test.where.get("value"), int | float | list):
        raise Unfit
    return excepting(chart, test)


@RULES.rule(
    "test",
    "(anything|everything|all|everyone|everybody) but <values> ; (anything|everything) other than <values> ; "
    "no <values>",
)
def all_but(chart: Chart, held: Held) -> Test:
    """`anything but forest`, `no crime`."""
    return equals(chosen(held, "", chart.schema), held.found, negated=True)


@RULES.rule(
    "test",
    "[<lead>] <text> [is|are|was|were] (anything but|everything but|anything other than|other than|anything except)"
    " <values>",
)
def column_but(chart: Chart, *said: Any) -> Test:
    """`state is anything but closed`."""
    column, held = said[-2:]
    return equals(within(held, column), held.found, negated=True)


@RULES.rule(
    "excepted",
    "<test> ; <_relative> <test> ; <rows> [<_relative>] <test> ; <test> <rows> ; <test> (ones|stuff) ; (people|"
    "everyone|anyone|those|ones|anything|everything|them|rows|the ones) [<_relative>] <test>",
)
def excepted(chart: Chart, *said: Any) -> Test:
    """What is taken away: a condition, and the rows it is of."""
    test = next(one for one in said if isinstance(one, Test))
    if test.excepts:
        raise Unfit
    return test


@RULES.rule("excepted", "<rows> [<_relative>] <test> or <test> ; <_relative> <test> or <test>")
def either(chart: Chart, *said: Any) -> Test:
    """What is taken away if either holds."""
    tests = [one for one in said if isinstance(one, Test)]
    return Test({"or": [test.where for test in tests]})


@RULES.rule("part", "<_term> <rows> { <test> } ; <_term> { <test> } <rows> ; <rows> <_gloss> { <test> }", cost=0.2)
def defined(chart: Chart, *said: Any) -> Any:
    """`healthy trees (no disease observed)`: a word nobody knows, and what it means here."""
    test = next(one for one in said if isinstance(one, Test))
    return test, next(one for one in said if isinstance(one, Rows))


@RULES.finder("term")
def term(chart: Chart, at: int) -> Iterator[Edge]:
    """One word, or two, that nothing in the table tells."""
    if "{" not in chart.texts[at : at + 5]:
        return
    for size in (1, 2):
        tokens = chart.tokens[at : at + size]
        if len(tokens) < size or any(token.kind != "word" or token.text in NO_NOUNS for token in tokens):
            return
        known = any(chart.edges(symbol, at + size - 1) for symbol in ("column", "value", "test", "number", "count"))
        if known or any(edge.value.told for edge in chart.edges("rows", at + size - 1)):
            return
        yield Edge(at + size, "term", 0.1 * size)


@RULES.finder("gloss")
def gloss(chart: Chart, at: int) -> Iterator[Edge]:
    """`we need to reorder`: a clause that nothing in the table tells, up to the bracket that does."""
    if chart.text(at) not in ("we", "i", "that", "which", "who", "to") or "{" not in chart.texts[at : at + 7]:
        return
    end = chart.texts.index("{", at)
    known = any(
        chart.edges(symbol, place) for place in range(at, end) for symbol in ("column", "value", "test", "amount")
    )
    if not known and not {"not", "never", "no", ",", "."} & set(chart.texts[at:end]):
        yield Edge(end, "gloss", 0.2)


def negated(test: Test, schema: Schema) -> Test:
    """The other rows; where an empty cell would be neither, Refused."""
    where = test.where
    if test.first:
        raise Unfit
    return Test(_other(where, schema), negated=not test.negated, texts=test.texts)


def _other(where: Where, schema: Schema) -> Where:
    if "or" in where:
        return {"and": [_other(part, schema) for part in where["or"]]}
    by, name = where.get("is"), where.get("column", "")
    column = schema.column(name)
    opposite = {"null": "not_null", "not_null": "null"}.get(str(by))
    if opposite:
        return {**where, "is": opposite}
    if column is None or column.nulls or column.blanks:
        if column is not None and column.kind == "bool" and by == "==":
            return {**where, "value": not where["value"]}
        told = (
            f"Some rows have no {name}, and `not` may or may not mean them."
            if name
            else "I cannot tell which rows `not` leaves."
        )
        raise Refused(told, "Filter them first, or say what the rows are to have instead.")
    if isinstance(where.get("value"), bool):
        return {**where, "value": not where["value"]}
    if by in ("in", "not_in"):
        return {**where, "is": "not_in" if by == "in" else "in"}
    if by in INVERSE:
        return {**where, "is": INVERSE[by]}
    return {"not": where}
