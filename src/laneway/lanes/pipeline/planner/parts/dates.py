"""Conditions on dates: `in 2025`, `before March 2026`, `hired since 2020`, `whose contract ends in 2025`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

from laneway.lanes.pipeline.planner.grammar import Chart, Edge, Rules
from laneway.lanes.pipeline.planner.names.columns import listed
from laneway.lanes.pipeline.planner.names.likeness import related
from laneway.lanes.pipeline.planner.names.owners import row_nouns
from laneway.lanes.pipeline.planner.parts.moments import Span
from laneway.lanes.pipeline.planner.parts.naming import Held
from laneway.lanes.pipeline.planner.parts.pieces import Test, Where, compared
from laneway.lanes.pipeline.planner.parts.texts import chosen, equals
from laneway.lanes.pipeline.planner.phrasing import meanings, words
from laneway.lanes.pipeline.planner.refusal import Doubt, Refusal, Refused, Unfit
from laneway.lanes.pipeline.planner.schema import Column, Schema
from laneway.lanes.pipeline.planner.spelling import participle, root
from laneway.lanes.pipeline.planner.words.verbs import ALIKE, BEGUN, DATED_BY, ENDS, LATER, STARTS

RULES = Rules()
DATES = meanings(
    """
    since: on or after | in or after | no earlier than | not before | starting from | since | as of | from and after |
        not earlier than
    through: on or before | in or before | no later than | not after | up to and including | through | not later than
    before: from before | before | earlier than | prior to | ahead of
    after: from after | after | later than | more recent than | following
    in: during | within | in | on | in the year | dated | of | from | for | throughout | at any time in
    """
)
_OPEN = meanings(
    """
    since: or later | or newer | or after | and later | and after | or more recent | onwards | onward | and onwards |
        and newer | on | and on
    through: or earlier | or older | or before | and earlier | and before | and older
    """
)
RULES.words("when", DATES)
RULES.words("onwards", _OPEN)
Dating = tuple[str, tuple[Span, ...]]
"""How a date is compared, and with which spans."""


def looks_dated(column: Column) -> bool:
    """Whether its name says it holds dates, whatever it holds."""
    return column.kind == "date text" or column.words[-1:] in (
        ("date",),
        ("datetime",),
        ("timestamp",),
        ("birthday",),
        ("at",),
    )


def dated(column: Column, dating: Dating) -> Test:
    """The column lies before, after, since, through or in one of the spans."""
    by, spans = dating
    if not column.dated and not (column.kind == "number" and column.years):
        raise Refused(f"{column.name} does not hold dates I can compare.", "Write dates like 2026-03-31 in the table.")
    each = [_compared(column, by, span.of(column)) for span in spans]
    return Test(each[0] if len(each) == 1 else {"or": each})


def _compared(column: Column, by: str, span: Span) -> Where:
    if column.kind != "date":
        return _in_years(column, by, span)
    first, after = {"date": span.first.isoformat()}, {"date": span.after.isoformat()}
    match by:
        case "before":
            return compared(column.name, "<", first)
        case "after":
            return compared(column.name, ">=", after)
        case "since":
            return compared(column.name, ">=", first)
        case "through":
            return compared(column.name, "<", after)
    return {"and": [compared(column.name, ">=", first), compared(column.name, "<", after)]}


def _in_years(column: Column, by: str, span: Span) -> Where:
    whole = (span.first.month, span.first.day, span.after.month, span.after.day) == (1, 1, 1, 1)
    if not whole:
        raise Refused(f"{column.name} holds years only.", "Ask for whole years.")
    first, last = span.first.year, span.after.year - 1
    if by == "in":
        return compared(column.name, "==", first) if first == last else compared(column.name, "between", [first, last])
    signs = {"before": "<", "after": ">", "since": ">=", "through": "<="}
    return compared(column.name, signs[by], last if by in ("after", "through") else first)


@RULES.rule(
    "dating",
    "(taking place|took place|take place|takes place|held|happening|happened|occurring|occurred|scheduled) <dating>",
)
def taking_place(chart: Chart, dating: Dating) -> Dating:
    """`that took place in May`: says only that there is a date."""
    return dating


@RULES.rule("dating", "<when> <span>")
def on(chart: Chart, by: str, span: Span) -> Dating:
    """`since March 2025`, `in 2024`."""
    return by, (span,)


@RULES.rule("dating", "[in|from|on|dated|of] <span> <onwards>")
def onwards(chart: Chart, span: Span, by: str) -> Dating:
    """`2018 or later`, `from 2020 on`."""
    return by, (span,)


@RULES.rule(
    "dating",
    "(in|during|on|from|of|for) [either] <span> (or|and|,) [in|on|from] <span> ; (in|during|on|from|of|"
    "for) <span> , <span> (or|and) <span>",
    cost=0.05,
)
def several(chart: Chart, *spans: Span) -> Dating:
    """`in 2018 or 2019`."""
    return "in", spans


@RULES.rule(
    "dating",
    "(between|from|from between) <span> (and|to|through|until|till|-) <span> ; in the range <span> (to|-) <span>",
)
def between(chart: Chart, low: Span, high: Span) -> Dating:
    """`between March and May 2025`, both included."""
    if high.after <= low.first and not (low.open or high.open):
        raise Refused("The second date is before the first.", "Give the earlier date first.")
    if low.open and not high.open:
        low = Span(
            low.first.replace(year=high.first.year),
            low.after.replace(year=high.first.year + (low.after.year - low.first.year)),
        )
    return "in", (Span(low.first, high.after, low.open or high.open),)


@RULES.rule("dating", "(between|from) <day> [of] (and|to|through|until|till|-) <span> ; on <day> (to|-) <span>")
def between_days(chart: Chart, day: int, high: Span) -> Dating:
    """`from 27 to 29 May 2025`: days of one month, both included."""
    last = high.after - timedelta(days=1)
    if last != high.first or not day < last.day:
        raise Unfit
    return "in", (replace(high, first=high.first.replace(day=day)),)


@RULES.finder("day")
def day(chart: Chart, at: int) -> Iterator[Edge]:
    """A number that may be a day of a month: 27, 3rd."""
    token = chart.tokens[at]
    if token.kind == "number" and token.text.isdigit() and 1 <= int(token.text) <= 31:
        yield Edge(at + 1 + (chart.text(at + 1) in ("st", "nd", "rd", "th")), int(token.text))


@RULES.rule("test", "<dated> [is|was|are|were|lies|falls|date|that is|which is] <dating> ; <dated> (is|was|=|:) <just>")
def told(chart: Chart, column: Column, dating: Dating) -> Test:
    """`hire date before 2016`."""
    return dated(column, dating)


@RULES.rule("just", "<span>")
def just(chart: Chart, span: Span) -> Dating:
    return "in", (span,)


@RULES.rule("test", "[become|becomes|became|becoming] <event> [date|dates] <dating>")
def happened(chart: Chart, column: Column, dating: Dating) -> Test:
    """`hired since 2022`, `departing in April 2025`."""
    return dated(column, dating)


@RULES.rule("test", "<event> <link> <values> <dating> ; <event> <dating> <link> <values>", cost=0.1)
def happened_there(chart: Chart, column: Column, *said: Any) -> Test:
    """`shipped to Hamburg in November 2024`: when, and where or by whom."""
    dating = next(one for one in said if isinstance(one, tuple))
    held = next(one for one in said if isinstance(one, Held))
    link = next(one for one in said if isinstance(one, str))
    place = equals(chosen(held, link, chart.schema), held.found)
    return Test({"and": [place.where, dated(column, dating).where]})


@RULES.rule("test", "<event> <just>", cost=0.3)
def happened_then(chart: Chart, column: Column, dating: Dating) -> Test:
    """`opened Feb 2025`."""
    return dated(column, dating)


@RULES.rule("test", "<dating>", cost=0.5)
def bare(chart: Chart, dating: Dating) -> Test:
    """`in 2025`: of the one column of dates."""
    columns = chart.schema.columns
    found = [column for column in columns if column.dated or looks_dated(column)]
    if len(found) != 1:
        said = f"The date may be about {listed(found, ' or ')}." if found else "No column holds dates."
        raise Refused(said, f"Name a column: {listed(columns)}.")
    if _may_be_number(chart.schema, dating):
        raise Unfit
    if LATER & set(found[0].words):
        raise Refused(f"The date need not be the {found[0].name}.", f"Name the column: {found[0].name} in …")
    test = dated(found[0], dating)
    return Test(test.where, bare=True)


def _may_be_number(schema: Schema, dating: Dating) -> bool:
    """Whether two years may as well be numbers of a column that measures something."""
    span = dating[1][0]
    years = (span.after - span.first).days > 366
    return years and any(c.spans(span.first.year) for c in schema.columns if c.measure and not c.yearly)


def moments_of(verb: str, schema: Schema) -> list[Column]:
    """The columns that say when something was done."""
    dates = [column for column in schema.columns if column.dated]
    found = [column for column in dates if related(verb, column)]
    for other in _DATED.get(root(verb), ()) if not found else ():
        found += [column for column in dates if related(other, column) and column not in found]
    if not found and verb in BEGUN:
        own = ("created", "opened", "ordered", *row_nouns(schema))
        found = [column for column in dates if any(related(one, column) for one in own)]
    for other in ALIKE.get(root(verb), ()) if not found else ():
        found += [column for column in dates if related(other, column) and column not in found]
    years = [column for column in dates if column.words in (("year",), ("model", "year"))]
    if (
        not found
        and len(years) == 1
        and verb in ("built", "made", "released", "published", "launched", "founded", "produced")
    ):
        found = years
    return found


@RULES.finder("event")
def event(chart: Chart, at: int) -> Iterator[Edge]:
    """A verb that says when: the column of its dates; in doubt if there are several."""
    start = at
    if chart.text(at) in ("last", "first", "originally", "initially", "newly", "recently") and participle(
        chart.text(at + 1)
    ):
        at += 1
    verb = chart.text(at)
    if not verb or not verb.isalpha() or verb in ("is", "are", "was", "were", "has", "have"):
        return
    if (
        not participle(verb)
        and any(edge.value.told for edge in chart.edges("rows", at))
        and chart.token(at + 1)
        and chart.tokens[at + 1].kind == "number"
    ):
        # Order 1001 was not ordered then.
        return
    if verb in _COMING and chart.text(at + 1) == "back":
        # What came back was returned.
        verb, at = "returned", at + 1
    particle = chart.text(at + 1) if chart.text(at + 1) in ("up", "out", "off", "in") else ""
    whole = f"{root(verb)}{particle}" if particle else ""
    if whole and not (verb in _PARTICLED or any(whole in column.words for column in chart.schema.columns)):
        particle = whole = ""
    if not particle and verb in _COMING and chart.text(at + 1) in ("in", "out") and chart.edges("dating", at + 2):
        # What came in did so on its date_in.
        turned = [one for one in chart.schema.columns if one.dated and chart.text(at + 1) in one.parts]
        particle, whole = (chart.text(at + 1), turned[0].words[-1]) if len(turned) == 1 else ("", "")
    end = at + 1 + bool(particle)
    columns = [column for column in chart.schema.columns if column.dated and whole and whole in column.words]
    columns = columns or _ending(f"{verb} {particle}".strip(), chart.schema)
    if not columns and (participle(verb) or root(verb) in _HAPPENING or root(verb) in _DATED):
        columns = moments_of(verb, chart.schema)
    if chart.text(start) in ("last", "first") and len(columns) > 1:
        columns = [column for column in columns if chart.text(start) in column.words] or columns
    if not columns:
        return
    if len(columns) == 1:
        yield Edge(end, columns[0], 0.1)
        return
    refusal = Refusal(
        f"`{verb}` may be about {listed(columns, ' or ')}.", f"Name a column: {listed(chart.schema.columns)}."
    )
    yield Edge(end, Doubt(refusal), 0.3)


@RULES.rule(
    "column",
    "(date|day|year|time) [that|when|on which|in which] (it|they|he|she) [was|were|is|are|got|has been|have been]"
    " <event> [on|in] ; (date|day|year|time) of being <event>",
    cost=0.1,
)
def day_of(chart: Chart, column: Column) -> Column:
    """`the date it was last patched`, `the year they were formed`."""
    return column


_DATED = {root(verb): others for verb, others in DATED_BY.items()}
_PARTICLED = words("signed sign run runs taken picked sent dropped logged checked")
_COMING = words("came come comes coming went go goes going brought handed")
_HAPPENING = frozenset(map(root, words(
    "depart leave arrive land start begin end expire finish close open launch ship deliver sign join register publish"
    " release hire pay order create update book visit admit discharge"
)))  # fmt: skip


def _ending(verb: str, schema: Schema) -> list[Column]:
    """`runs out`, `ends`, `starts`: the columns of ends or beginnings."""
    marks = "end until expiry expire expiration" if verb in ENDS else "start begin since" if verb in STARTS else ""
    wanted = frozenset(marks.split())
    return [column for column in schema.columns if column.dated and not wanted.isdisjoint(column.words)]


@RULES.rule("test", "<dated> [that|which] <ends> <dating>")
def ends(chart: Chart, column: Column, verb: str, dating: Dating) -> Test:
    """`contract ends in 2025`: the column of the noun is itself one of ends."""
    if column not in _ending(verb, chart.schema):
        raise Unfit
    return dated(column, dating)


RULES.words("ends", (*ENDS, *STARTS))


@RULES.rule(
    "test",
    "<dated> [is|was|are|were] (after|later than|past) <dated> ; <event> (after|later than|past) <dated>",
)
def later(chart: Chart, one: Column, other: Column) -> Test:
    """`paid after their due date`."""
    return _side_by_side(one, ">", other)


@RULES.rule(
    "test",
    "<dated> [is|was|are|were] (before|earlier than|ahead of) <dated> ; <event> (before|earlier than|ahead of) <dated>",
)
def earlier(chart: Chart, one: Column, other: Column) -> Test:
    return _side_by_side(one, "<", other)


@RULES.rule(
    "test",
    "<moment> [on] same day [as] [they were|it was|they|it] <moment> ; <moment> and <moment> on same day ;"
    " <moment> (is same as|equals|is equal to|is same day as|matches|is on same day as) <moment> ;"
    " <moment> and <moment> are (same|equal|same day)",
)
def same_day(chart: Chart, one: Column, other: Column) -> Test:
    """`closed the same day they were opened`."""
    if len(str(one.low)) > 10:
        raise Unfit
    return _side_by_side(one, "==", other)


def _side_by_side(one: Column, by: str, other: Column) -> Test:
    if one.name == other.name or one.kind != "date" or other.kind != "date" or len(str(one.low)) != len(str(other.low)):
        raise Unfit
    return Test(compared(one.name, by, {"column": other.name}))
