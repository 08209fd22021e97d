"""What the rows of a table are called, as far as the table itself tells."""

from __future__ import annotations

from collections.abc import Callable

from laneway.lanes.pipeline.planner.phrasing import words
from laneway.lanes.pipeline.planner.schema import Column, Schema, entity_words
from laneway.lanes.pipeline.planner.spelling import name_parts, name_words, plural, shortens
from laneway.lanes.pipeline.planner.words.kinds import KIN, TYPICAL, UNTELLING
from laneway.lanes.pipeline.planner.words.naming import CONCEPTS

UNTOLD = words("data table rows input sheet csv json t df x tbl result records main")
"""Names of tables that say nothing about what their rows are."""


def row_nouns(schema: Schema) -> frozenset[str]:
    """What this table's rows are most likely called; empty if nothing tells."""
    if "row nouns" not in schema.memo:
        schema.memo["row nouns"] = _row_nouns(schema)
    found: frozenset[str] = schema.memo["row nouns"]
    return found


def _row_nouns(schema: Schema) -> frozenset[str]:
    own, parts = name_words(schema.name)[0], name_parts(schema.name)
    if own and schema.name.lower() not in UNTOLD and (plural(parts[-1]) or own[-1] in TYPICAL):
        return frozenset((own[-1],))
    return key_nouns(schema) | _told(
        schema, lambda column: column.kind == "text" and column.words[-1] in ("name", "title")
    )


def key_nouns(schema: Schema) -> frozenset[str]:
    """What the rows are called by the name of the table or of their key: hardly anything else then."""
    own, parts = name_words(schema.name)[0], name_parts(schema.name)
    if own and schema.name.lower() not in UNTOLD and (plural(parts[-1]) or own[-1] in TYPICAL):
        return frozenset((own[-1],))
    return _told(schema, lambda column: column.identifies)


def _told(schema: Schema, names: Callable[[Column], bool]) -> frozenset[str]:
    # A key that is one word, like `sku`, says nothing about what its rows are called.
    keys = [column for column in schema.columns if column.unique and names(column) and len(column.words) > 1]
    return frozenset[str]().union(*map(entity_words, keys)) - UNTELLING


def names_rows(word: str, schema: Schema) -> bool:
    """Whether the table's rows are most likely called so, in full or cut short: `candidate` of cand_no."""
    return any(own == word or shortens(own, word) for own in row_nouns(schema))


def heads(word: str, schema: Schema) -> bool:
    """Whether several columns tell of such a thing: `car` of car_class and car_model; goals_for tells of no goal."""
    headed = _headed(word, schema)
    return len(headed) > 1 and any(not column.measure for column in headed)


def shared(word: str, schema: Schema) -> bool:
    """Whether several rows may be of one such thing: of a car, if each has many rentals."""
    headed = _headed(word, schema)
    return len(headed) > 1 and not any(column.unique for column in headed) and not names_rows(word, schema)


def _headed(word: str, schema: Schema) -> list[Column]:
    return [column for column in schema.columns if len(column.words) > 1 and column.words[0] == word]


def kin(word: str, other: str) -> bool:
    """Whether both are words for one kind of thing."""
    if word == other or shortens(other, word):
        return True
    if any(word in family and any(other == one or shortens(other, one) for one in family) for family in KIN):
        return True
    return not CONCEPTS.get(word, frozenset()).isdisjoint(CONCEPTS.get(other, frozenset()))
