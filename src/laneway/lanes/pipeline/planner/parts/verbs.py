"""Verbs that stand for columns: `costing under 200`, `waited over 20 days`, `billed by Shieldly`, `report to Lars`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from laneway.lanes.pipeline.planner.grammar import Chart, Edge, Rules
from laneway.lanes.pipeline.planner.names.columns import best, listed, named
from laneway.lanes.pipeline.planner.names.likeness import related
from laneway.lanes.pipeline.planner.names.likeness import rhythm as often
from laneway.lanes.pipeline.planner.names.owners import row_nouns
from laneway.lanes.pipeline.planner.parts.amounts import Amount, fits_unit, units_of
from laneway.lanes.pipeline.planner.parts.bounds import Bound, against, equal, refuse_far, refuse_rhythm
from laneway.lanes.pipeline.planner.parts.dates import dated
from laneway.lanes.pipeline.planner.parts.degrees import directed
from laneway.lanes.pipeline.planner.parts.moments import Span
from laneway.lanes.pipeline.planner.parts.naming import Held
from laneway.lanes.pipeline.planner.parts.pieces import Degree, Test, compared
from laneway.lanes.pipeline.planner.parts.texts import chosen, equals
from laneway.lanes.pipeline.planner.phrasing import pairs, phrases
from laneway.lanes.pipeline.planner.refusal import Doubt, Refusal, Refused, Unfit
from laneway.lanes.pipeline.planner.schema import Column, Schema
from laneway.lanes.pipeline.planner.spelling import participle, plural, root
from laneway.lanes.pipeline.planner.words.naming import TIMES, UNITS
from laneway.lanes.pipeline.planner.words.verbs import ABOVE, DOERS, MEASURING, PLACED

RULES = Rules()
RULES.words("measuring", MEASURING)
RULES.words(
    "lasting",
    phrases("work | works | worked | working | take | takes | took | taking | spend | spent | last | lasts | lasted |"
            " lasting"
            " | run | runs | need | needed | use | used | uses | using | have | has | with | drove | driven | drive |"
            " weigh | weighs"
            " | rented for | hired for | booked for | stayed for | stayed | kept for | gave | gives | give |"
            " yielded | yields | yield | produced | produces | produce"),
)  # fmt: skip
RULES.words(
    "link", ["by", "in", "at", "on", "from", "with", "via", "for", "to", "under", "as", "through", "using", "of"]
)
_MEASURED = ("length", "shortness", "size", "weight", "height", "distance", "depth", "price", "temperature", "speed")


def measured_by(word: str, schema: Schema) -> Column:
    """The one column of numbers that the verb is about, by the first word that tells one; Refused if none is."""
    found: list[Column] = []
    for one in word.split():
        found = found or [column for column in named(one, schema) if column.kind in ("number", "numeric text")]
    word = word.split()[0]
    if not found and word in ("price", "stay"):
        return directed(Degree("cost" if word == "price" else "long stay", word, 1), schema)[0]
    if len(found) != 1:
        said = f"`{word}` may be about {listed(found, ' or ')}." if found else f"No column tells the {word}."
        raise Refused(said, f"Name a column: {listed(schema.columns)}.")
    return found[0]


@RULES.finder("meter")
def meter(chart: Chart, at: int) -> Iterator[Edge]:
    """A verb that a number follows: the column it measures. `waited` is about wait_days, `costs` about a price."""
    word = chart.text(at)
    if not word.isalpha() or word in ("is", "are", "has", "have", "with", "was"):
        return
    if word == "last" and chart.text(at - 1) in ("the", "in", "for", "over"):
        return
    if any(edge.value.told and edge.value.plural for edge in chart.edges("rows", at)):
        # Players under 25 have not played so often.
        return
    own = _called_after(word, chart.schema)
    noun = len(own) == 1 and own[0].words == (word,) and chart.text(at - 1) not in ("that", "which", "who")
    if len(own) == 1 and not noun and (price := _other_price(word, own[0], chart.schema)):
        said = f"`{word}` may be about {own[0].name} or {price.name}."
        yield Edge(at + 1, Doubt(Refusal(said, f"Name the column: {own[0].name}, for example.")), 0.1)
        return
    if len(own) == 1:
        yield Edge(at + 1, own[0], 0.1)
        return
    for edge in chart.edges("measuring", at):
        try:
            yield Edge(edge.end, measured_by(edge.value, chart.schema), 0.1)
        except Refused as refused:
            yield Edge(edge.end, Doubt(refused.refusal), 1.2)


def _other_price(verb: str, column: Column, schema: Schema) -> Column | None:
    """Another column that is the price: what costs 20 has that price, whatever the cost_price beside it."""
    if MEASURING.get(verb, "").split()[:1] != ["price"]:
        return None
    return next((one for one in named("price", schema) if one.measure and one is not column), None)


def _called_after(verb: str, schema: Schema) -> list[Column]:
    """The measures that are called after the verb."""
    form = root(verb)
    if len(form) < 3:
        return []
    return [c for c in schema.columns if c.measure and any(m.role == "core" and root(m.word) == form for m in c.marks)]


@RULES.rule("test", "<meter> [us|it|them|for|at|out at|by] <bound> [<rhythm>]")
def measures(chart: Chart, column: Column, bound: Bound, *rhythm: str) -> Test:
    """`cost more than 10`, `waited over 20 days`."""
    column = _by_unit(chart.schema, column, bound.last)
    refuse_rhythm(column, *rhythm)
    refuse_far(column, bound)
    return against(column, bound)


@RULES.rule("test", "<meter> [for|at|exactly] <amount> [<rhythm>]", cost=0.1)
def measures_just(chart: Chart, column: Column, given: Amount, *rhythm: str) -> Test:
    column = _by_unit(chart.schema, column, given)
    refuse_rhythm(column, *rhythm)
    if not given.unit and not {"price", "rating", "score", "age", "weight"} & set(column.words) and not column.money:
        # The last 3 are not those that last 3.
        raise Unfit
    refuse_far(column, equal(given))
    return against(column, equal(given))


def _by_unit(schema: Schema, column: Column, given: Amount) -> Column:
    """Where the number's unit does not fit the verb's column, but one other: that is meant."""
    if not given.unit or fits_unit(given, column) or not column.unit:
        return column
    found = [other for other in schema.columns if other.measure and fits_unit(given, other)]
    return found[0] if len(found) == 1 else column


@RULES.rule("test", "<_lasting> <bound> [<rhythm>] ; <_lasting> [exactly] <amount> <rhythm>", cost=0.3)
def by_unit(chart: Chart, said: Bound | Amount, *rhythm: str) -> Test:
    """`work fewer than 40 hours a week`, `run between 100 and 120 minutes`: the unit alone tells the column."""
    bound = said if isinstance(said, Bound) else equal(said)
    given = bound.last
    found = [column for column in chart.schema.columns if column.measure and given.unit and fits_unit(given, column)]
    if len(found) > 1 and rhythm:
        found = [column for column in found if often(column) == rhythm[0]]
    if len(found) != 1:
        raise Unfit
    refuse_rhythm(found[0], *rhythm)
    return against(found[0], bound)


RULES.words(
    "gaining",
    phrases(
        "earning | earn | earns | earned | who earn | drawing | draws | receiving | receive | receives | getting |"
        " charging | charge | charges | paying | pay | pays | reaching | showing | reporting | scoring | boasting |"
        " that have | who have | offering | offer | offers | carrying | carry | carries"
    ),
)


@RULES.rule("test", "<_gaining> <number> [of] <bound>", cost=0.1)
def gaining(chart: Chart, column: Column, bound: Bound) -> Test:
    """`earning a salary between 40000 and 50000`: the verb says no more than with."""
    return against(column, bound)


@RULES.rule("test", "<bound> (was|were|is|are|has been|have been) <deed>", cost=-0.1)
def so_much_done(chart: Chart, bound: Bound, verb: str) -> Test:
    """`where more than 9 hours were worked`: of the measures in that unit the one that is called after the verb."""
    given = bound.last
    found = [one for one in _called_after(verb, chart.schema) if given.unit and fits_unit(given, one)]
    if len(found) != 1 or not participle(verb):
        raise Unfit
    return against(found[0], bound)


@RULES.rule("test", "[<_we>] <deed> <comparing> [<unit_word>] than [it was|they were|was|were] <deed>", cost=-0.1)
def more_than_told(chart: Chart, verb: str, by: str, *said: str) -> Test:
    """`we spent more hours than estimated`: two measures in one unit, each called after its verb."""
    one, other = (_called_after(deed, chart.schema) for deed in (verb, said[-1]))
    if len(one) != 1 or len(other) != 1 or one[0] is other[0] or units_of(one[0]) != units_of(other[0]):
        raise Unfit
    if len(said) > 1 and said[0] not in units_of(one[0]):
        raise Unfit
    return Test(compared(one[0].name, by, {"column": other[0].name}))


RULES.words("unit_word", {word: unit for word, unit in UNITS.items() if plural(word) and len(word) > 3})


@RULES.rule("test", "(take|takes|took|taking|need|needs|needed|require|requires) <bound> to <verb>")
def taking(chart: Chart, bound: Bound, column: Column) -> Test:
    """`take less than 30 minutes to cook`: the time of that verb."""
    return against(column, bound)


@RULES.finder("verb")
def verb(chart: Chart, at: int) -> Iterator[Edge]:
    """A verb that one column of times is called after."""
    found = [column for column in _called_after(chart.text(at), chart.schema) if column.unit in TIMES]
    if len(found) == 1:
        yield Edge(at + 1, found[0])


@RULES.rule("test", "<comparative> than <amount>")
def comparative(chart: Chart, degree: Degree, given: Amount) -> Test:
    """`cheaper than 200`, `older than 30`, `longer than 2 hours`, `larger than 20 hectares`."""
    column, sign = _compared_by(chart.schema, degree, given)
    if column.kind != "number" or column.yearly:
        raise Refused(f"`{degree.said} than {given.value}` does not fit {column.name}.", "Name a date instead.")
    return against(column, Bound(">" if sign > 0 else "<", given))


@RULES.rule("test", "<aged> <span>", cost=0.1)
def older_than(chart: Chart, by: str, span: Span) -> Test:
    """`older than 1900`, `from before 1950`: by the date of the thing itself."""
    column, _ = directed(Degree("oldest", "age", 1), chart.schema)
    if not column.dated:
        raise Unfit
    return dated(column, (by, (span,)))


RULES.words("aged", {"older than": "before", "from before": "before", "newer than": "after", "younger than": "after",
                     "from after": "after"})  # fmt: skip
RULES.words("extent", {"long": "length", "tall": "height", "high": "height", "deep": "depth", "heavy": "weight",
                       "wide": "size",
                       "away": "distance", "fast": "speed", "late": "delay", "delayed": "delay",
                       "overdue": "delay"})  # fmt: skip


@RULES.rule("test", "[<_be>] <bound> <extent>")
def extending(chart: Chart, bound: Bound, dimension: str) -> Test:
    """`between 5 and 10 km long`."""
    if not bound.last.unit:
        raise Unfit
    return against(_compared_by(chart.schema, Degree(dimension, dimension, 1), bound.last)[0], bound)


def _compared_by(schema: Schema, degree: Degree, given: Amount) -> tuple[Column, int]:
    a_year = not given.unit and isinstance(given.value, int) and 1900 <= given.value <= 2100
    if degree.dimension == "age" and a_year and not (named("age", schema) or named("birth", schema)):
        # A wine older than 2018 is one of an earlier year.
        raise Unfit
    if given.unit and given.unit != "yr" and degree.dimension in _MEASURED:
        found = [column for column in schema.columns if column.measure and fits_unit(given, column)]
        if len(found) == 1:
            return found[0], degree.sign
    return directed(degree, schema)


@RULES.finder("deed")
def deed(chart: Chart, at: int) -> Iterator[Edge]:
    """What was done, as a word: `billed`, `hosted`, `teaches`."""
    if chart.text(at) == "last" and participle(chart.text(at + 1)):
        at += 1
    word = chart.text(at)
    if word.isalpha() and len(word) > 3 and (participle(word) or word.endswith("s") or word in DOERS):
        yield Edge(at + 1, word)


def about(verb: str, link: str, column: Column) -> bool:
    """Whether the column says who or what the verb was done by, with or to."""
    doers = next((who for known, who in DOERS.items() if verb == known or root(known) == root(verb)), frozenset[str]())
    return related(verb, column) or (link != "to" and not doers.isdisjoint(column.words))


@RULES.rule("test", "<deed> <link> <values> ; <deed> <values> ; <deed> <link> <_column> <values>")
def done_by(chart: Chart, verb: str, *said: Any) -> Test:
    """`hosted by Mara`, `paid in cash`, `sent with Rapido`: a value of the column that the verb is about."""
    held: Held = said[-1]
    link = said[0] if len(said) > 1 else ""
    columns = [column for column in held.columns if about(verb, link, column)]
    of_rows = any(root(noun) == root(verb) for noun in row_nouns(chart.schema))
    if not columns and (of_rows or (verb in PLACED and link in ("in", "at", "on", "from"))):
        columns = [chosen(held, link, chart.schema)] if link in ("from", "to") else list(held.columns)
    if len(columns) != 1 or (not link and not participle(verb)):
        raise Unfit
    return equals(columns[0], held.found)


RULES.words("past", pairs("drove=driven; wrote=written; flew=flown; sang=sung; drew=drawn; grew=grown; saw=seen"))


@RULES.rule("test", "<values> <deed> [us|it|them|for|to us] ; <values> <past>", cost=0.1)
def did(chart: Chart, held: Held, verb: str) -> Test:
    """`everything Shieldly billed us`, `courses Stein teaches`."""
    columns = [column for column in held.columns if about(verb, "by", column) and column.kind == "text"]
    if len(columns) != 1:
        raise Unfit
    return equals(columns[0], held.found)


@RULES.rule("test", "(report|reports|reporting|reported) [directly] to <values> ; (managed|supervised|led) by <values>")
def reporting(chart: Chart, held: Held) -> Test:
    """`report to Lars`: the one column of managers says so."""
    columns = [column for column in held.columns if not ABOVE.isdisjoint(column.words)]
    if len(columns) != 1:
        raise Unfit
    return equals(columns[0], held.found)


@RULES.rule("test", "(called|named|titled|entitled) <values>")
def called(chart: Chart, held: Held) -> Test:
    """`called Anna`, `named "Blue Lamp"`."""
    names = [column for word in ("name", "title") for _, column in best((word,), chart.schema)]
    found = [column for column in held.columns if column in names or column.words[-1] in ("name", "title")]
    if len(found) != 1:
        raise Refused("No single column holds names.", f"Name one: {listed(chart.schema.columns)}.")
    return equals(found[0], held.found)
