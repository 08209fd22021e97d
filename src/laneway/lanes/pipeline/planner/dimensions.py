"""Adjectives of degree: which column `cheapest`, `older` or `longest` is about, and in which direction."""

from __future__ import annotations

from dataclasses import dataclass

from laneway.lanes.pipeline.planner.columns import candidates, listed
from laneway.lanes.pipeline.planner.refusal import Refused
from laneway.lanes.pipeline.planner.schema import Column, Schema

_TIERS: dict[str, tuple[str, ...]] = {
    "price": ("price fare", "cost fee rent", "nightly_rate daily_rate hourly_rate room_rate", "amount total"),
    "rating": ("rating", "score", "star"),
    "length": ("duration runtime length distance page",),
    "shortness": ("duration runtime length distance page height",),
    "size": ("size area population volume capacity amount total revenue headcount quantity value sqft budget",),
    "weight": ("weight",),
    "height": ("height", "elevation altitude"),
    "speed": ("speed",),
    "temperature": ("temperature",),
    "distance": ("distance",),
    "depth": ("depth",),
    "salary": ("salary", "income"),
    "sales": ("sold", "sale"),
    "popularity": ("popularity", "vote download view like follower"),
    "profit": ("profit",),
    "wealth": ("worth wealth",),
    "population": ("population",),
}
"""The words a column of each dimension goes by; the first line that one column fits decides, two columns never do."""

_SUPERLATIVES = """
cheapest price -|least expensive price -|lowest priced price -|most affordable price -|least costly price -
most expensive price +|priciest price +|dearest price +|costliest price +|most costly price +|highest priced price +
best rated rating +|top rated rating +|highest rated rating +|best reviewed rating +|best rating +
worst rated rating -|lowest rated rating -|worst rating -|least rated rating -
longest length +|lengthiest length +|shortest shortness -
biggest size +|largest size +|greatest size +|smallest size -|tiniest size -
heaviest weight +|lightest weight -|tallest height +
hottest temperature +|warmest temperature +|coldest temperature -|coolest temperature -
closest distance -|nearest distance -|farthest distance +|furthest distance +|deepest depth +|shallowest depth -
highest paid salary +|best paid salary +|lowest paid salary -|worst paid salary -|highest earning salary +
best selling sales +|worst selling sales -|most popular popularity +|least popular popularity -
most profitable profit +|least profitable profit -|richest wealth +|wealthiest wealth +|poorest wealth -
most populous population +|most populated population +|least populated population -|least populous population -
fastest speed +|quickest speed +|slowest speed -
oldest age +|youngest age -|eldest age +
latest time +|newest time +|most recent time +|earliest time -|most recently time +
"""
_COMPARATIVES = """
cheaper price -|less expensive price -|more expensive price +|pricier price +|costlier price +|dearer price +
longer length +|shorter shortness -|bigger size +|larger size +|greater size +|smaller size -|heavier weight +
lighter weight -|taller height +|hotter temperature +|warmer temperature +|colder temperature -|cooler temperature -
closer distance -|nearer distance -|farther distance +|further distance +|older age +|younger age -|faster speed +
slower speed -|better rated rating +|worse rated rating -|higher rated rating +|lower rated rating -
"""


def _table(text: str) -> dict[str, tuple[str, int]]:
    entries = [entry.strip() for line in text.strip().split("\n") for entry in line.split("|")]
    found = {}
    for entry in entries:
        *words, dimension, sign = entry.split()
        found[" ".join(words)] = (dimension, 1 if sign == "+" else -1)
    return dict(sorted(found.items(), key=lambda item: -len(item[0])))


SUPERLATIVES = _table(_SUPERLATIVES)
COMPARATIVES = _table(_COMPARATIVES)


@dataclass(frozen=True)
class Direction:
    """A column and whether more of the adjective is more (1) or less (-1) of it."""

    column: Column
    sign: int

    @property
    def order(self) -> str:
        """How to sort so that the most of it comes first."""
        return "desc" if self.sign > 0 else "asc"


def direction(said: str, dimension: str, sign: int, schema: Schema) -> Direction:
    """The column the adjective is about; Refused if none or several can be meant."""
    if dimension == "age":
        return _age(said, sign, schema)
    if dimension == "time":
        return Direction(_temporal(said, schema), sign)
    if dimension == "speed":
        return _speed(said, sign, schema)
    if dimension == "rating" and said in ("best", "worst") and _fitting("rank ranking", schema):
        raise Refused(f"`{said}` may be meant by the rank.", "Name the column: with the lowest rank, for example.")
    for tier in _TIERS[dimension]:
        found = [column for column in _fitting(tier, schema) if column.measure]
        if found:
            return Direction(_one(said, found), sign)
    raise _unknown(said, schema)


def _fitting(words: str, schema: Schema) -> list[Column]:
    found: dict[str, Column] = {}
    named = [tuple(word.split("_")) for word in words.split()]
    for word in named:
        found |= {column.name: column for column in candidates(word, schema) if set(word) <= set(column.words)}
    if not found:
        for word in named:
            found |= {column.name: column for column in candidates(word, schema)}
    return list(found.values())


def _one(said: str, found: list[Column]) -> Column:
    if len(found) > 1:
        raise Refused(f"`{said}` may be about {listed(found, ' or ')}.", f"Name the column: by {found[0].name}.")
    return found[0]


def _unknown(said: str, schema: Schema) -> Refused:
    return Refused(f"No column tells which is `{said}`.", f"Name one: {listed(schema.columns)}.")


def _age(said: str, sign: int, schema: Schema) -> Direction:
    """The older, the more years and the earlier the birth; of things without an age, the earlier their date."""
    ages = [column for column in _fitting("age", schema) if column.measure]
    births = [column for column in _fitting("birth", schema) if column.ordered]
    if ages or births:
        column = _one(said, ages + births)
        return Direction(column, sign if ages else -sign)
    if said in ("oldest", "youngest", "eldest"):
        return Direction(_temporal(said, schema), -sign)
    raise _unknown(said, schema)


def _speed(said: str, sign: int, schema: Schema) -> Direction:
    """The faster, the more speed, or the less time."""
    speeds = [column for column in _fitting("speed", schema) if column.measure]
    times = [column for column in _fitting("duration runtime", schema) if column.measure]
    column = _one(said, speeds + times) if speeds or times else None
    if column is None:
        raise _unknown(said, schema)
    return Direction(column, sign if speeds else -sign)


def _temporal(said: str, schema: Schema) -> Column:
    """The one column of dates, years or times of day."""
    found = [column for column in schema.columns if column.kind in ("date", "time") or yearly(column)]
    unsure = [column for column in schema.columns if looks_dated(column) and column not in found]
    if not found or unsure:
        raise (
            _unknown(said, schema)
            if not found and not unsure
            else Refused(
                f"`{said}` may be about {listed(found + unsure, ' or ')}"
                + (f", and {unsure[0].name} does not hold dates I can compare." if unsure else "."),
                "Name the column, and write dates like 2026-03-31.",
            )
        )
    return _one(said, found)


def looks_dated(column: Column) -> bool:
    """Whether its name says it holds dates, whatever it holds."""
    return (
        column.kind == "date text"
        or column.words[-1:] in (("date",), ("datetime",), ("timestamp",), ("birthday",))
        or column.words[-1:] == ("at",)
    )


def yearly(column: Column) -> bool:
    """Whether it holds years as numbers."""
    named = "year" in column.words or column.words[-1:] in (("founded",), ("vintage",), ("born",), ("released",))
    if column.low is None:
        return column.kind == "number" and column.words == ("year",)
    return column.kind == "number" and named and column.low > 1000 and column.high < 2999
