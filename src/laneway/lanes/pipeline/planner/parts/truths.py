"""What is so or is not: `active`, `with a pool`, `not refundable`, `failed`, `work remotely`, `out of stock`."""

from __future__ import annotations

from collections.abc import Iterator

from laneway.lanes.pipeline.planner.grammar import Chart, Edge, Rules
from laneway.lanes.pipeline.planner.names.columns import best, named
from laneway.lanes.pipeline.planner.names.likeness import same
from laneway.lanes.pipeline.planner.parts.pieces import Test, compared
from laneway.lanes.pipeline.planner.phrasing import pairs, phrases, words
from laneway.lanes.pipeline.planner.refusal import Unfit
from laneway.lanes.pipeline.planner.schema import Column
from laneway.lanes.pipeline.planner.spelling import root, stem

RULES = Rules()
_OPPOSITES = pairs(
    "failed=pass; failing=pass; fail=pass; fails=pass; absent=present; offline=online; dead=alive; lost=won;"
    " closed=open;"
    " disabled=enabled; unavailable=available; domestic=international; used=new; sold=available"
)
"""Words for the other rows of a column of true and false."""
_CHARGES = words("fee cost price charge rate")
RULES.words("take", ["get", "gets", "got", "include", "includes", "offer", "offers", "take", "takes", "need", "needs"])
RULES.words(
    "noted",
    phrases(
        """
        flagged | marked | labelled | labeled | tagged | listed | recorded | known | classified | reported |
        registered
        """
    ),
)


def _is(column: Column, value: bool, *, negated: bool = False) -> Test:
    return Test(compared(column.name, "==", value), negated=negated)


@RULES.rule(
    "test",
    "<truth> ; <verbal> ; not <opposite> ; <_have> [any] <truth> ; <_take> [any] <truth> ;"
    " (in|on|at|under|to|for|by) <truth> ;"
    " <_noted> as [being] <truth> ;"
    " <truth> (ok|okay|allowed|permitted|welcome|possible|included|available|provided|yes|on|enabled|switched"
    " on|turned on) ; <truth> (is|=|==|equals|are|:|was) (true|yes|set)",
)
def so(chart: Chart, column: Column) -> Test:
    """`active`, `with a pool`, `is refundable`."""
    return _is(column, True)


@RULES.rule(
    "test",
    "<opposite> ; <truth> [is|are] (off|disabled|switched off|turned off) ;"
    " <truth> (is|=|==|equals|are|:|was) (false|no) ; <truth> (is|are) not (true|set)",
)
def otherwise(chart: Chart, column: Column) -> Test:
    """`unpaid`, `failed`."""
    return _is(column, False)


@RULES.rule(
    "test",
    "(without|lacking|no|non|with no|not|have no|has no|that have no|never) [any] <truth> ;"
    " <_does> not (have|get|include|offer|take|need) [any] <truth> ;"
    " (is|are|was|were|do|does|did|has|have) not [been|be|being] [any] <truth>",
    cost=0.1,
)
def not_so(chart: Chart, column: Column) -> Test:
    """`not refundable`, `without a pool`, `aren't injured`."""
    return _is(column, False, negated=True)


@RULES.rule(
    "test", "(did|do|does|have|has|had|is|are|was|were) not [been|get|be|being] <verbal> ; (not|never) <verbal>"
)
def not_done(chart: Chart, column: Column) -> Test:
    """`did not pass`."""
    return _is(column, False, negated=True)


@RULES.finder("opposite")
def opposite(chart: Chart, at: int) -> Iterator[Edge]:
    """`inactive`, `unpaid`, `failed`: the other rows of `active`, `paid` and `passed`."""
    word = chart.text(at)
    if not word or word in chart.schema.vocabulary:
        return
    bare = [word.removeprefix(prefix) for prefix in ("in", "un", "non") if word.startswith(prefix) and len(word) > 4]
    truths = [column for column in chart.schema.columns if column.kind == "bool"]
    found = [one for one in truths if len(one.words) <= 2 and any(same(one.words[-1], word) for word in bare)]
    if not found and word in _OPPOSITES:
        found = [one for one in truths if any(root(part) == root(_OPPOSITES[word]) for part in one.words)]
    if len(found) == 1:
        yield Edge(at + 1, found[0])


@RULES.rule("test", "<denied>")
def denied(chart: Chart, column: Column) -> Test:
    """`fee not paid`, of a fee_paid."""
    return _is(column, False, negated=True)


@RULES.finder("denied")
def denied_at(chart: Chart, at: int) -> Iterator[Edge]:
    """The words of a column of true and false, with `not` between them."""
    for size in (5, 4, 3):
        said = [word for word in chart.texts[at : at + size] if word not in ("is", "are", "was", "were", "has", "been")]
        if "not" not in said[1:-1] or at + size > chart.size or chart.texts[at + size - 1] not in said:
            continue
        phrase = tuple(stem(word) if word.endswith("s") else word for word in said if word != "not")
        found = best(phrase, chart.schema, lambda column: column.kind == "bool")
        if len(found) == 1 and found[0][0] < 0.2:
            yield Edge(at + size, found[0][1])


@RULES.finder("verbal")
def verbal(chart: Chart, at: int) -> Iterator[Edge]:
    """`pass` and `remotely` are said of columns `passed` and `remote`; `irrigated` of `has_irrigation`."""
    if chart.text(at) in ("work", "works", "working", "paid") and chart.text(at + 1).endswith("ly"):
        at += 1
    word = chart.text(at)
    form = root(word.removesuffix("ly"))
    if len(form) < 3 or word in chart.schema.vocabulary:
        return
    truths = [column for column in chart.schema.columns if column.kind == "bool"]
    cores = {column.name: [root(mark.word) for mark in column.marks if mark.role == "core"] for column in truths}
    found = [column for column in truths if form in cores[column.name]]
    if len(found) == 1 and len(cores[found[0].name]) == 1:
        yield Edge(at + 1, found[0], 0.1)


@RULES.rule("test", "(with|has|have|get|gets|having) free <charge> ; free <charge> ; no <charge>", cost=0.2)
def for_free(chart: Chart, column: Column) -> Test:
    """`with free shipping`, of a shipping_fee."""
    return Test(compared(column.name, "==", 0))


@RULES.finder("charge")
def charge(chart: Chart, at: int) -> Iterator[Edge]:
    """What a fee is for."""
    word = chart.text(at)
    found = [c for c in chart.schema.columns if c.measure and c.zeros and _CHARGES & set(c.words) and word in c.words]
    if len(found) == 1 and word not in _CHARGES:
        yield Edge(at + 1, found[0])


@RULES.rule("test", "out of stock ; not in stock ; sold out ; with (nothing|none) [left] in stock ; with nothing left")
def out_of_stock(chart: Chart) -> Test:
    return _stocked(chart, "==")


@RULES.rule("test", "in stock ; on stock")
def in_stock(chart: Chart) -> Test:
    return _stocked(chart, ">")


@RULES.rule("test", "non stop ; nonstop ; direct", cost=0.1)
def without_stops(chart: Chart) -> Test:
    """`direct flights`, where the stops are counted."""
    found = [column for column in named("stop", chart.schema) if column.measure and column.zeros]
    if len(found) != 1 or "direct" in chart.schema.words | chart.schema.vocabulary.keys():
        raise Unfit
    return Test(compared(found[0].name, "==", 0))


def _stocked(chart: Chart, by: str) -> Test:
    """Where the stock is counted, none of it is out of stock, and some is in stock."""
    found = [column for column in named("stock", chart.schema) if column.kind == "number"]
    told = any("stock" in column.words and column.kind != "number" for column in chart.schema.columns)
    if len(found) != 1 or told or found[0].nulls or (found[0].low or 0) < 0:
        raise Unfit
    return Test(compared(found[0].name, by, 0))
