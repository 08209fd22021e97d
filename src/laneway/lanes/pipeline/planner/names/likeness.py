"""Whether a word may be one of a column's name: the same, cut short, in another form, or another word for it."""

from __future__ import annotations

from collections.abc import Callable

from laneway.lanes.pipeline.planner.names.marks import Mark
from laneway.lanes.pipeline.planner.names.owners import row_nouns
from laneway.lanes.pipeline.planner.phrasing import words
from laneway.lanes.pipeline.planner.schema import Column, Schema
from laneway.lanes.pipeline.planner.spelling import name_words, participle, root, shortens, stem
from laneway.lanes.pipeline.planner.words.kinds import PERSONS
from laneway.lanes.pipeline.planner.words.naming import CONCEPTS, DATED, KIND_OF_UNIT, UNITS, WEAK_MODIFIERS
from laneway.lanes.pipeline.planner.words.small import GENERIC

SAME, CUT, FORM, MEANT = 0.0, 0.15, 0.35, 0.5
"""The cost of a word: itself, cut short, in another form, another word for it."""
_RHYTHMS = {"annual": "year", "yearly": "year", "monthly": "month", "weekly": "week", "daily": "day",
            "nightly": "night", "hourly": "hour", "quarterly": "quarter"}  # fmt: skip
_KIND_WORDS = words("name title id code number type kind category group class status")
_STAFFS = words("staff crew faculty")
"""One of these is a member of it."""
_MOMENTS = words("date day time when")


def alike(word: str, mark: Mark, column: Column) -> float | None:
    """What it costs to take the word for this word of the name."""
    if word in (mark.word, mark.raw) or stem(word) == mark.word:
        return SAME
    if word in UNITS and UNITS[word] == UNITS.get(mark.raw, ""):
        return 0.05
    if mark.role in ("stop", "flag", "period"):
        return None
    if mark.role == "tail" and column.kind == "date" and word in _MOMENTS and mark.word in DATED:
        return 0.1
    if mark.role == "unit":
        return SAME if UNITS.get(word, UNITS.get(f"{word}s")) == column.unit and column.unit else None
    if word not in GENERIC and not CONCEPTS.get(word, frozenset()).isdisjoint(CONCEPTS.get(mark.word, frozenset())):
        return MEANT
    if mark.word not in CONCEPTS and mark.word not in UNITS and mark.role == "core" and shortens(mark.word, word):
        return CUT
    if mark.role == "core" and len(root(word)) > 2 and root(word) == root(mark.word):
        if word.endswith(("er", "or", "ee")) != mark.word.endswith(("er", "or", "ee")):
            return None
        acts = participle(mark.word) or mark.word.endswith(("ion", "ment"))
        if (
            word.endswith("ing")
            and mark is column.marks[0]
            and column.marks[-1].role == "core"
            and len(column.marks) > 1
        ):
            # The shipping method is a ship_method.
            return FORM
        if participle(word) and not acts and column.kind not in ("date", "bool") and not column.money:
            # What was borrowed is not its borrower.
            return None
        return FORM
    return None


_KINDS: tuple[tuple[frozenset[str], Callable[[Column], bool], float], ...] = (
    (words("date day time when"), lambda column: column.kind == "date", 0.2),
    (words("year"), lambda column: column.yearly, 0.2),
    (words("number no id code key ref reference"), lambda column: column.identifies, 0.2),
    (words("name"), lambda column: column.kind == "text" and not column.identifies, 0.25),
    (words("type kind category group line field"), lambda column: column.kind == "text", 0.3),
    (words("city town place airport zone"), lambda column: column.kind == "text" and _directs(column), 0.3),
    (words("level score figure count"), lambda column: column.measure, 0.3),
    (words("column field"), lambda column: True, 0.0),
)
"""Words that only say what kind of thing a column holds, where it holds that."""


def _directs(column: Column) -> bool:
    return column.marks[0].word in ("origin", "destination", "from", "to", "source", "departure", "arrival")


def beside(word: str, column: Column, schema: Schema) -> float | None:
    """What a word of the phrase costs that the name does not have; None if it may tell another column apart."""
    if word in _KIND_WORDS and any(mark.role == "tail" and mark.word in _KIND_WORDS - {word} for mark in column.marks):
        # The type of a vessel is not its name.
        return None
    if word == "full" and column.words == ("name",):
        return 0.2
    for known, holds, price in _KINDS:
        if word in known and holds(column):
            return price
    if word == "country" and column.words == ("origin",) and "destination" not in schema.words:
        # The country of origin, of goods that go nowhere.
        return 0.3
    if word in KIND_OF_UNIT.get(column.unit, ()):
        return 0.4 if column.money else 0.2
    if word in WEAK_MODIFIERS and column.measure:
        # A year's price is no month's.
        told = rhythm(column)
        return None if told and told != _RHYTHMS.get(word, told) else 0.25
    if column.owner and name_words(column.owner)[0][-1:] == (word,):
        return 0.05
    if any(own == word or shortens(own, word) or root(own) == root(word) for own in row_nouns(schema)):
        return 0.1
    if word == "member" and column.words[0] in _STAFFS:
        return 0.1
    if word in PERSONS and column.measure and any(participle(mark.word) for mark in column.marks):
        return 0.3
    return None


def rhythm(column: Column) -> str:
    """How often that much is meant, as the name says: night of rate_per_night, month of monthly_fee; or ''."""
    told = [unit for often, unit in _RHYTHMS.items() if often in column.parts]
    told += [unit for unit in set(_RHYTHMS.values()) if "per" in column.parts and unit in column.parts]
    return told[0] if told else ""


def same(word: str, other: str) -> bool:
    """Whether both words are one, or mean the same."""
    return word == other or not CONCEPTS.get(word, frozenset()).isdisjoint(CONCEPTS.get(other, frozenset()))


def related(verb: str, column: Column) -> bool:
    """Whether a word of the column's name comes from the verb: `host` of hosted, `adm_dt` of admitted."""
    form = root(verb)
    return len(form) > 2 and any(
        mark.role in ("core", "stat") and _from(verb, form, mark, column) for mark in column.marks
    )


def _from(verb: str, form: str, mark: Mark, column: Column) -> bool:
    if root(mark.word) == form or alike(form, mark, column) is not None:
        return True
    return not CONCEPTS.get(verb, frozenset()).isdisjoint(CONCEPTS.get(mark.word, frozenset()))
