"""Adjectives of degree: which column `cheapest`, `older` or `longest` is about, and in which direction."""

from __future__ import annotations

from collections.abc import Callable

from laneway.lanes.pipeline.planner.grammar import Rules
from laneway.lanes.pipeline.planner.names.columns import best, listed, named
from laneway.lanes.pipeline.planner.names.likeness import related
from laneway.lanes.pipeline.planner.names.owners import names_rows
from laneway.lanes.pipeline.planner.parts.amounts import units_of
from laneway.lanes.pipeline.planner.parts.dates import looks_dated
from laneway.lanes.pipeline.planner.parts.pieced import of_whole_rows
from laneway.lanes.pipeline.planner.parts.pieces import Degree
from laneway.lanes.pipeline.planner.phrasing import words
from laneway.lanes.pipeline.planner.refusal import Refused
from laneway.lanes.pipeline.planner.schema import Column, Schema
from laneway.lanes.pipeline.planner.words.degrees import COMPARATIVES, PLAIN, SUPERLATIVES, TIERS
from laneway.lanes.pipeline.planner.words.naming import LENGTHS, MONEY, TIMES
from laneway.lanes.pipeline.planner.words.verbs import LATER, ORIGINS

RULES = Rules()
RULES.words("degree", {said: Degree(said, *told) for said, told in SUPERLATIVES.items()})
RULES.words("superlative", {said: Degree(said, *told) for said, told in (SUPERLATIVES | PLAIN).items()})
RULES.words("comparative", {said: Degree(said, *told) for said, told in COMPARATIVES.items()})
_PERSONAL = words(
    "hire hired join joined sign signed signup registered registration admission admitted employed member"
)
"""Dates of these are dates in the life of somebody who was born before."""
UNIT_OF = {
    "weight": words("kg g lb t oz"), "height": words("m cm ft mm"), "distance": LENGTHS, "temperature": frozenset("c"),
    "price": MONEY, "value": MONEY, "speed": words("kmh mph"), "depth": words("m cm ft mm"), "salary": MONEY,
}  # fmt: skip
"""The units that go with a dimension."""
BAD = words(
    "late lateness delay overdue wait absence error defect scrap fault complaint loss debt failure downtime"
    " cancellation overrun excess overspend shortfall"
)
"""The more of these, the worse."""
_LATER = words(
    "last next due end until expiry return closed paid deadline finish checkout renewal inspection service"
    " updated modified checked seen visited reviewed"
)
_OVER = words("closed paid finish checkout resolved completed ended")
_ADDED = words("acquired added listed acquisition")
"""Dates of these come after the thing itself."""
_NO_LENGTH = words("age left remaining lead overdue late notice")
"""Numbers of days of these do not say how long something is."""
_LENGTHY = words(
    "duration runtime length time hour minute day night elapsed talk call session trip ride stay wait waiting play"
    " run running"
    " travel race finish lap journey service off work worked lesson delay flight video track"
)
_WRITTEN = words("page word character line chapter")
"""The more of these, the longer a text is."""
_BLOWING = words("wind gust")
"""These are strong or weak, in whatever they are counted."""
Directed = tuple[Column, int]


def directed(degree: Degree, schema: Schema, noun: str = "") -> Directed:
    """The column the adjective is about, and whether more of the one is more (1) or less (-1) of the other."""
    if degree.dimension == "age":
        return _age(degree, schema, noun)
    if degree.dimension == "time":
        return _temporal(degree, schema, noun), degree.sign
    if degree.dimension == "speed":
        return _speed(degree, schema)
    if degree.said in ("best", "worst") and named("rank", schema):
        raise Refused(
            f"`{degree.said}` may be meant by the rank.", "Name the column: with the lowest rank, for example."
        )
    for tier in TIERS[degree.dimension]:
        found = [column for column in _fitting(tier, schema) if column.measure]
        if len(found) > 1 and degree.dimension in ("temperature", "wind"):
            # The warmest is by the maximum, the coldest by the minimum.
            found = [one for one in found if ("maximum" if degree.sign > 0 else "minimum") in one.words] or found
        if found:
            return of_whole_rows(_one(degree, found), schema), degree.sign
    money = [column for column in schema.columns if column.measure and column.money]
    if degree.dimension in ("price", "value") and len(money) == 1:
        return money[0], degree.sign
    return _by_unit(degree, schema), degree.sign


def _by_unit(degree: Degree, schema: Schema) -> Column:
    """The only column in degrees, or the only one that lasts."""
    units = {"temperature": frozenset("c"), "length": TIMES, "shortness": TIMES, "distance": LENGTHS}.get(
        degree.dimension, frozenset()
    )
    found = [column for column in schema.columns if column.measure and units_of(column) & units]
    if len(found) > 1:
        # The warmest is by the maximum, the coldest by the minimum.
        found = [one for one in found if ("maximum" if degree.sign > 0 else "minimum") in one.words] or found
    if any(("minimum" if degree.sign > 0 else "maximum") in one.words for one in found):
        raise _unknown(degree, schema)
    if degree.dimension in ("length", "shortness"):
        found = [column for column in found if _lasts(column, schema)]
    if not found:
        raise _unknown(degree, schema)
    return _one(degree, found)


def _lasts(column: Column, schema: Schema) -> bool:
    """Whether the column says how long a row itself is: not how long something else took, or is left."""
    cores = {mark.word for mark in column.marks if mark.role == "core"}
    return _NO_LENGTH.isdisjoint(column.words) and (
        bool(cores & _LENGTHY) or all(names_rows(one, schema) for one in cores)
    )


def _fitting(names: str, schema: Schema) -> list[Column]:
    """The columns that bear one of the words, or else those that fit one by another word."""
    phrases = [tuple(word.split("_")) for word in names.split()]
    fitting = {column.name: (cost, column) for phrase in phrases for cost, column in best(phrase, schema)}
    bearing = [column for _, column in fitting.values() if any(set(phrase) <= set(column.words) for phrase in phrases)]
    return bearing or [column for _, column in fitting.values()]


def _one(degree: Degree, found: list[Column]) -> Column:
    if len(found) > 1:
        raise Refused(f"`{degree.said}` may be about {listed(found, ' or ')}.", f"Name the column: by {found[0].name}.")
    return found[0]


def _unknown(degree: Degree, schema: Schema) -> Refused:
    return Refused(f"No column tells which is `{degree.said}`.", f"Name one: {listed(schema.columns)}.")


def _age(degree: Degree, schema: Schema, noun: str) -> Directed:
    """The older, the more years and the earlier the birth; of things without an age, the earlier their date."""
    ages = [column for column in _fitting("age", schema) if column.measure]
    births = [column for column in _fitting("birth", schema) if column.ordered]
    if ages or births:
        return _one(degree, ages + births), degree.sign if ages else -degree.sign
    if degree.said in ("oldest", "youngest", "eldest"):
        found = _temporal(degree, schema, noun)
        if not _PERSONAL.isdisjoint(found.words):
            raise Refused(f"{found.name} does not say how old somebody is.", f"Say: with the earliest {found.name}.")
        return found, -degree.sign
    raise _unknown(degree, schema)


def _speed(degree: Degree, schema: Schema) -> Directed:
    """The faster, the more speed, or the less time."""
    speeds = [column for column in _fitting("speed", schema) if column.measure]
    times = [column for column in _fitting("duration runtime", schema) if column.measure]
    times = times or [column for column in schema.columns if column.measure and column.unit in ("ms", "s", "min", "h")]
    if not speeds and not times:
        raise _unknown(degree, schema)
    return _one(degree, speeds + times), degree.sign if speeds else -degree.sign


def _temporal(degree: Degree, schema: Schema, noun: str) -> Column:
    """The one column of dates, years or times of day; of several, the one of the noun, or the one it all began with."""
    found = [column for column in schema.columns if column.kind in ("date", "time") or column.yearly]
    unsure = [column for column in schema.columns if looks_dated(column) and column not in found]
    if degree.said in ("newest", "latest", "most recent"):
        # Who came last is no question of birth.
        found = [column for column in found if not {"birth", "born"} & set(column.words)] or found
    if not found and not unsure:
        raise _unknown(degree, schema)
    if unsure:
        raise Refused(
            f"`{degree.said}` may be about {listed(found + unsure, ' or ')}, and {unsure[0].name} does not hold dates"
            f" I can"
            " compare.",
            "Name the column, and write dates like 2026-03-31.",
        )
    chosen: tuple[Callable[[Column], bool], ...] = (
        lambda column: related(noun, column),
        lambda column: any(related(one, column) for one in ORIGINS),
        lambda column: not _LATER & set(column.words),
    )
    later = _LATER | (_ADDED if degree.said != "newest" else frozenset())
    if (
        degree.said in ("oldest", "youngest", "newest", "eldest")
        and found
        and all(later & set(one.words) for one in found)
    ):
        raise _unknown(degree, schema)
    if (
        len(found) == 1
        and (LATER | _OVER) & set(found[0].words)
        and not related(noun, found[0])
        and degree.said not in ("soonest", "earliest")
    ):
        raise _unknown(degree, schema)
    for told in chosen:
        fitting = [column for column in found if len(found) > 1 and told(column)]
        if len(fitting) == 1:
            return fitting[0]
    return _one(degree, found)


def agrees(degree: Degree, column: Column, schema: Schema) -> int:
    """The direction of the adjective where the column is named with it: `longest wait`; 0 if it does not go with it."""
    dimension, sign = degree.dimension, degree.sign
    if dimension == "time":
        return sign if column.dated or column.kind == "time" else 0
    if dimension == "age":
        return -sign if column.dated else sign if "age" in column.words else 0
    if not column.measure:
        return 0
    lasts = bool(units_of(column) & TIMES) or not {
        "duration",
        "runtime",
        "time",
        "length",
        "wait",
        "delay",
        "term",
        "distance",
        "stay",
    }.isdisjoint(column.words)
    if dimension in ("length", "shortness"):
        return sign if lasts or column.unit in LENGTHS or _WRITTEN & set(column.words) else 0
    if dimension == "strength" and _BLOWING & set(column.words):
        return sign
    if dimension == "speed":
        return sign if "speed" in column.words else -sign if lasts else 0
    if dimension in ("size", "sheer"):
        return sign
    if dimension == "rating" and not BAD.isdisjoint(column.words):
        return -sign
    if dimension == "rating":
        if column.made:
            return sign
        priced = column in named("price", schema) or column.money
        if lasts or priced:
            raise Refused(
                f"The `{degree.said}` {column.name} may be the highest or the lowest.", "Say highest or lowest."
            )
        return sign
    if UNIT_OF.get(dimension, frozenset()) & {column.unit, column.unit.split("/")[0]}:
        return sign
    fitting = [one for tier in TIERS.get(dimension, ()) for one in _fitting(tier, schema)]
    return sign if column in fitting else 0
