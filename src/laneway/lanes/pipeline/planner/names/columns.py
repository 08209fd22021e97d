"""Finds the column people mean: by its name, a part of it, an abbreviation, another word for it, its unit, or a slip.

Every column that a phrase fits gets a cost: nothing for its very words, a little for what is left out (a unit, `qty`,
`avg`, `date`), more for another word or a modifier that nobody said. The cheapest is meant; two that are about as
cheap are both in doubt.
"""

from __future__ import annotations

from collections.abc import Callable

from laneway.lanes.pipeline.planner.names.leaving import missing
from laneway.lanes.pipeline.planner.names.likeness import CUT, FORM, MEANT, SAME, alike, beside
from laneway.lanes.pipeline.planner.names.marks import LABELS
from laneway.lanes.pipeline.planner.names.owners import names_rows, row_nouns
from laneway.lanes.pipeline.planner.phrasing import words
from laneway.lanes.pipeline.planner.schema import Column, Schema, entity_word
from laneway.lanes.pipeline.planner.spelling import near, participle, stem
from laneway.lanes.pipeline.planner.words.kinds import PERSONS, TYPICAL
from laneway.lanes.pipeline.planner.words.naming import (
    CONCEPTS,
    DATED,
    KIND_OF_UNIT,
    UNITS,
)

Phrase = tuple[str, ...]
Fits = list[tuple[float, Column]]
ITSELF = 0.03
"""What it costs to name a column by all of its words and no other, in another number or written out."""
CLOSE = 0.15
"""Two columns that fit a phrase as nearly alike as this are both in doubt."""
_HALVES = frozenset((("first", "name"), ("last", "name"), ("given", "name"), ("family", "name"), ("surname",)))
_WHOLE_NAMES = words("full first last display given family user common legal")
_NEVER_FUZZY = words("rows first last price there where which these those three seven eight every other under")


def fits(phrase: Phrase, schema: Schema) -> Fits:
    """Every column that the phrase may name, with its cost, cheapest first."""
    if phrase not in schema.memo:
        glued = len(phrase) == 1 and any(phrase[0] in _glued(column) for column in schema.columns)
        told = glued or all(_telling(word, schema) for word in phrase)
        costs = [(_cost(phrase, column, schema), column) for column in schema.columns] if told else []
        found = [(cost, column) for cost, column in costs if cost is not None]
        found = found or _by_unit(phrase, schema) or _earned(phrase, schema)
        schema.memo[phrase] = sorted(found, key=lambda pair: pair[0])
    known: Fits = schema.memo[phrase]
    return known


def best(phrase: Phrase, schema: Schema, wanted: Callable[[Column], bool] | None = None) -> Fits:
    """The columns that the phrase names best; several where they are about equal.

    With `wanted`, only such columns count, unless another one bears the name much better.
    """
    found = fits(phrase, schema)
    if wanted is not None:
        least = found[0][0] if found else 0.0
        found = [pair for pair in found if wanted(pair[1]) and pair[0] <= least + MEANT + CLOSE]
    if not found:
        return []
    found = [pair for pair in found if not pair[1].made or pair[0] == SAME] or found
    bearing = [pair for pair in found if _bears(phrase, pair[1])]
    found = bearing or found
    near_best = [pair for pair in found if pair[0] <= found[0][0] + CLOSE or _modified(phrase, found[0], pair)]
    if found[0][0] == SAME:
        near_best = [pair for pair in found if pair[0] == SAME]
    elif found[0][0] <= ITSELF:
        near_best = [pair for pair in found if pair[0] <= ITSELF]
    if found[0][0] >= MEANT:
        near_best += [pair for pair in _bearing(phrase, schema, near_best) if wanted is None or wanted(pair[1])]
    if phrase == ("name",) and len(near_best) == 1 and near_best[0][1].words in _HALVES:
        # Half a name is not the name of somebody.
        return [(near_best[0][0], column) for column in schema.columns if column.words in _HALVES]
    if phrase == ("date",) and len(near_best) == 1 and not _own_date(near_best[0][1], schema):
        # Sorted by date may mean the day they joined as well as that of their birth.
        return [(near_best[0][0], column) for column in schema.columns if column.kind == "date"]
    return near_best


def _own_date(column: Column, schema: Schema) -> bool:
    """Whether the column is called just date, or after the rows."""
    return len(column.words) == 1 or any(names_rows(word, schema) for word in column.words)


def named(phrase: str, schema: Schema) -> list[Column]:
    """The columns that these words name best."""
    return [column for _, column in best(tuple(phrase.split()), schema)]


def _modified(phrase: Phrase, first: tuple[float, Column], other: tuple[float, Column]) -> bool:
    """Whether both are one thing with different words before it that nobody said: a list_price and a sale_price."""
    if len(phrase) > 1 or other[0] > first[0] + MEANT or first[0] < 0.2:
        return False
    return all(column.words[0] != phrase[0] and column.words[-1] == phrase[0] for column in (first[1], other[1]))


def _bears(phrase: Phrase, column: Column) -> bool:
    """Whether the column is called by one of these very words, and not only by others for them."""
    return any(
        word in (mark.word, mark.raw) for word in phrase for mark in column.marks if mark.role not in ("stop", "flag")
    )


def _bearing(phrase: Phrase, schema: Schema, found: Fits) -> Fits:
    """Another word for it counts only where no column bears the word itself."""
    known = {column.name for _, column in found}
    # The cost of a product is its cost.
    telling = {word for word in phrase if not names_rows(word, schema)} or set(phrase)
    return [
        (found[0][0], column)
        for column in schema.columns
        if column.name not in known and telling <= {mark.word for mark in column.marks}
    ]


def _cost(phrase: Phrase, column: Column, schema: Schema) -> float | None:
    """How far the phrase is from the column's name; None if it does not name it."""
    if phrase in (column.parts, column.spelled) or "".join(phrase) in _glued(column):
        return SAME
    if phrase == column.words and not column.made:
        return ITSELF
    if _nobody_elses(phrase, column, schema) or _a_row(phrase, column, schema) or _such_rows(phrase, column, schema):
        return None
    told = _matched(phrase, column, schema)
    if told is None or (
        phrase[0] in ("departure", "arrival") and len(phrase) == 1 and column.kind == "text" and told[0] >= MEANT
    ):
        # A departure is a time, unless its place is asked for.
        return None
    cost, taken = told
    left = missing(taken, column, schema)
    if left is None:
        return None
    if cost >= CUT and any(mark.word in LABELS for place, mark in enumerate(column.marks) if place not in taken):
        # The environment may be an env_tag, or not: one thing too many to be guessed.
        return None
    if (cost >= MEANT and cost + left > 1.0) or (len(taken) < len(phrase) and left >= 0.6 and cost > 0.15):
        # Another word for it, or a word too many, and then one left out: too far.
        return None
    # A claim is a row rather than its amount.
    a_row = len(phrase) == 1 and left > 0.05 and column.measure and names_rows(phrase[0], schema)
    return cost + left + (0.5 if column.made or a_row else 0.0)


def _a_row(phrase: Phrase, column: Column, schema: Schema) -> bool:
    """Whether the word is what the rows are: an order is a row, not the day it was ordered."""
    if len(phrase) > 1 or column.kind != "date" or participle(phrase[0]):
        return False
    if any(phrase[0] in (mark.word, mark.raw) for mark in column.marks):
        return False
    return phrase[0] in TYPICAL or names_rows(phrase[0], schema)


def _such_rows(phrase: Phrase, column: Column, schema: Schema) -> bool:
    """Whether the words mean rows to which something happened: cancelled orders are no days."""
    return len(phrase) == 2 and column.kind == "date" and participle(phrase[0]) and names_rows(phrase[1], schema)


def _glued(column: Column) -> tuple[str, ...]:
    """The name in one word, as `unitcost` for unit_cost; short ones might be any word."""
    return column.glued if len(column.glued[0]) > 5 else ()


def _nobody_elses(phrase: Phrase, column: Column, schema: Schema) -> bool:
    """Whether a bare `name` would be the name of something else: a `dept_nm` that many rows share is not theirs."""
    if phrase not in (("name",), ("title",), ("id",), ("code",), ("number",)) or len(column.words) < 2:
        return False
    owner = entity_word(column)
    if column.words[0] in _WHOLE_NAMES or names_rows(owner, schema):
        return False
    return not (column.unique or (owner in PERSONS and phrase == ("name",))) or phrase == ("number",)


def _matched(phrase: Phrase, column: Column, schema: Schema) -> tuple[float, set[int]] | None:
    """What the words of the phrase cost together, and which words of the name they are; None if one is foreign."""
    cost, taken = 0.0, set[int]()
    left: list[str] = []
    for word in phrase:
        fitting = [pair for pair in _places(word, column, schema) if pair[1] not in taken]
        if fitting:
            price, place = min(fitting)
            cost += price
            # An abbreviation may stand for several words.
            taken |= {place, *(n for n, mark in enumerate(column.marks) if mark.raw == word)}
        else:
            left.append(word)
    if not any(column.marks[place].role not in ("stop", "flag") for place in taken):
        return None
    if cost >= FORM and any(_borne_elsewhere(word, column, schema) for word in left):
        # The amount shipped is an amount, and not the shipping.
        return None
    for word in left:
        price_beside = beside(word, column, schema)
        if price_beside is None:
            return None
        cost += price_beside
    return cost, taken


def _borne_elsewhere(word: str, column: Column, schema: Schema) -> bool:
    """Whether another measure is called by the word."""
    return any(other is not column and other.measure and word in other.words for other in schema.columns)


def _places(word: str, column: Column, schema: Schema) -> list[tuple[float, int]]:
    """Which words of the name the word may be, and what that costs."""
    known: dict[str, list[tuple[float, int]]] = schema.memo.setdefault(("places", word), {})
    if column.name not in known:
        options = [(alike(word, mark, column), place) for place, mark in enumerate(column.marks)]
        known[column.name] = [(price, place) for price, place in options if price is not None]
    return known[column.name]


def _telling(word: str, schema: Schema) -> bool:
    """Whether any column has to do with the word."""
    key = ("telling", word)
    if key not in schema.memo:
        schema.memo[key] = any(
            _places(word, column, schema) or beside(word, column, schema) is not None for column in schema.columns
        )
    return bool(schema.memo[key])


_UNIT_PHRASES = {"square metre": "m2", "square meter": "m2", "square foot": "ft2", "square feet": "ft2",
                 "kilowatt hour": "kwh",
                 "square kilometre": "km2", "square kilometer": "km2", "cubic metre": "m3"}  # fmt: skip


def _by_unit(phrase: Phrase, schema: Schema) -> Fits:
    """`hectares` for area_ha: what is counted in them, where no column bears the word."""
    unit = UNITS.get(phrase[0], UNITS.get(f"{phrase[0]}s", "")) if len(phrase) == 1 and len(phrase[0]) > 1 else ""
    unit = unit or _UNIT_PHRASES.get(" ".join(map(stem, phrase)), "")
    found = [column for column in schema.columns if column.measure and unit and column.unit.split("/")[0] == unit]
    if found:
        return [(0.6, column) for column in found]
    kinds = [
        c
        for c in schema.columns
        if c.measure and len(phrase) == 1 and phrase[0] in _PLAIN_KINDS and _kind_of(phrase[0], c)
    ]
    return [(0.7, column) for column in kinds]


def _earned(phrase: Phrase, schema: Schema) -> Fits:
    """The revenue of orders is their total, where one column of money is called so and none by the word itself."""
    if phrase not in (("revenue",), ("turnover",), ("spend",), ("spending",)) or row_nouns(schema).isdisjoint(
        ("order", "sale")
    ):
        return []
    found = [one for one in schema.columns if one.measure and one.money and _TOTALS & set(one.words)]
    plain = len(found) == 1 and set(found[0].words) <= _TOTALS | {"order", "sale"}
    return [(0.6, found[0])] if plain else []


_TOTALS = words("total amount")
_PLAIN_KINDS = words(
    "weight mass distance mileage consumption usage temperature area speed power memory storage energy voltage"
)


def _kind_of(word: str, column: Column) -> bool:
    """Whether what is measured in the column's unit is called so: a consumption in kWh, a weight in kilograms."""
    units = {column.unit, *(UNITS.get(part, "") for part in column.parts if len(part) > 1)} - {""}
    return any(word in KIND_OF_UNIT.get(unit, ()) for unit in units)


def slips(phrase: Phrase, schema: Schema) -> list[Column]:
    """The columns whose words these are but for one slip of the finger."""
    if any(word in CONCEPTS or word in _NEVER_FUZZY or participle(word) for word in phrase):
        return []
    return [column for column in schema.columns if column.words and _slipped(phrase, column.words)]


def _slipped(phrase: Phrase, own: Phrase) -> bool:
    own = tuple(word for word in own if word not in DATED) or own if len(phrase) < len(own) else own
    return len(phrase) == len(own) and all(a == b or near(a, b) for a, b in zip(phrase, own, strict=True))


def listed(columns: tuple[Column, ...] | list[Column], between: str = ", ") -> str:
    """Their names, so that a person can pick one."""
    if not columns:
        return "none, for the table is empty"
    names = [column.name if column.name.strip() else f'"{column.name}"' for column in columns[:12]]
    return between.join(names) + (" …" if len(columns) > 12 else "")
