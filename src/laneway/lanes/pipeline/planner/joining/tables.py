"""Symbols for a request over several tables: <table>, <key>, and <theirs>, columns of one of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from laneway.lanes.pipeline.planner.grammar import Chart, Edge, Rules
from laneway.lanes.pipeline.planner.names.columns import best
from laneway.lanes.pipeline.planner.names.nouns import rows_by
from laneway.lanes.pipeline.planner.parts.naming import phrase_at
from laneway.lanes.pipeline.planner.schema import Column, Schema
from laneway.lanes.pipeline.planner.spelling import name_words, stem

MAIN = "data"
"""What the table is called that came with the request without a name."""
RULES = Rules()


@dataclass(frozen=True)
class Link:
    """Which tables belong together, how, and by which columns; a name or key that is not said is ''."""

    how: str
    left: str = ""
    right: str = ""
    keys: Mapping[str, Column] | None = None
    shown: tuple[str, ...] = ()
    """Columns of the other table that are put beside ours."""


@RULES.finder("table")
def table(chart: Chart, at: int) -> Iterator[Edge]:
    """The name of a table, in the singular or the plural; of the one without a name, a noun for its rows."""
    token = chart.token(at)
    if token is None or token.kind not in ("word", "quote"):
        return
    known = False
    for name in chart.tables:
        own = name_words(name)[0]
        if token.raw == name:
            known = True
            yield Edge(at + 1, name)
        elif own and (
            name_words(stem(token.text))[0] == own
            or all(stem(chart.text(at + place)) == word for place, word in enumerate(own))
        ):
            known = True
            yield Edge(at + len(own), name)
        elif len(own) == 1 and chart.text(at + 1) and stem(token.text + chart.text(at + 1)) == own[0]:
            # Check-ins are checkins.
            known = True
            yield Edge(at + 2, name)
    for name, schema in chart.tables.items() if not known else ():
        own = name_words(name)[0]
        alone = _joins(chart, at) and stem(token.text) in own and _only(stem(token.text), chart.tables)
        found = rows_by(token.text, schema) if name == MAIN else None
        if alone or (found is not None and (found[0].told or _joins(chart, at))):
            yield Edge(at + 1, name, 0.3)
        elif own and stem(chart.text(at + 1)) == own[-1] and _of_key(schema, stem(token.text)):
            # A meter reading is a reading; but an active product is not any product.
            yield Edge(at + 2, name, 0.2)


def _joins(chart: Chart, at: int) -> bool:
    """Whether the word before says that a table follows."""
    return chart.text(at - 1) in ("join", "merge", "combine", "match", "link", "connect")


def _only(word: str, tables: Mapping[str, Schema]) -> bool:
    """Whether just one of the tables bears the word."""
    return sum(word in name_words(name)[0] for name in tables) == 1


def _of_key(schema: Schema, word: str) -> bool:
    """Whether the rows are of such things, each of which has a key: readings of a meter_id."""
    return any(word == mark.word for column in schema.columns if column.identifies for mark in column.marks)


def bears(schema: Schema, word: str) -> bool:
    """Whether a column of the table is called by the word."""
    return any(word == mark.word for column in schema.columns for mark in column.marks)


@RULES.finder("key")
def key(chart: Chart, at: int) -> Iterator[Edge]:
    """A column that two tables have, as each of them calls it."""
    for size in (3, 2, 1):
        phrase = phrase_at(chart, at, size)
        token = chart.token(at)
        found: dict[str, Column] = {}
        for name, schema in chart.tables.items():
            exact = schema.column(token.raw) if size == 1 and token is not None else None
            fitting = best(phrase, schema) if phrase else []
            if exact is not None:
                found[name] = exact
            elif len(fitting) == 1 and fitting[0][0] < 0.3:
                found[name] = fitting[0][1]
        if found:
            yield Edge(at + size, found)
            return


@RULES.finder("theirs")
def theirs(chart: Chart, at: int) -> Iterator[Edge]:
    """Columns of one table, by name."""
    for name, schema in chart.tables.items():
        end, found = at, list[str]()
        while True:
            one = _column_at(chart, end, schema)
            if one is None:
                break
            found.append(one[0].name)
            end = one[1]
            yield Edge(end, (name, tuple(found)))
            if chart.text(end) not in ("and", ",", "&"):
                break
            end += 1 + (chart.text(end + 1) in ("and", "the"))


def _column_at(chart: Chart, at: int, schema: Schema) -> tuple[Column, int] | None:
    for size in (3, 2, 1):
        phrase = phrase_at(chart, at, size)
        found = best(phrase, schema) if phrase else []
        if len(found) == 1:
            return found[0][1], at + size
    return None
