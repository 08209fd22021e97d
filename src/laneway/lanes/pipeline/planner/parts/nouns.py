"""Nouns of the grammar: <rows> of the table, and <things> that a column names."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from laneway.lanes.pipeline.planner.grammar import LIGHT, Chart, Edge, Rules
from laneway.lanes.pipeline.planner.names.columns import best
from laneway.lanes.pipeline.planner.names.nouns import (
    ATTRIBUTES,
    Rows,
    Things,
    events_only,
    is_key_noun,
    names_all,
    only_some,
    rows_by,
    told_apart,
    unsure,
)
from laneway.lanes.pipeline.planner.names.owners import heads, names_rows, row_nouns
from laneway.lanes.pipeline.planner.parts.dates import bare
from laneway.lanes.pipeline.planner.parts.moments import Span
from laneway.lanes.pipeline.planner.parts.naming import named_at
from laneway.lanes.pipeline.planner.parts.pieces import Filler
from laneway.lanes.pipeline.planner.phrasing import words
from laneway.lanes.pipeline.planner.refusal import Unfit
from laneway.lanes.pipeline.planner.schema import Column, entity_word
from laneway.lanes.pipeline.planner.spelling import name_words, participle, plural, stem
from laneway.lanes.pipeline.planner.words.small import GENERIC

RULES = Rules()
_VERBS = words(
    "leave show return run order sort list rank group count report record fine well match test call play visit stay"
    " talk vote"
    " claim transfer stream shift grade score plant field race exhibit sample stock rent lease loan bill charge book"
    " post"
)
"""Nouns that are verbs where a clause begins."""
_BEFORE_DETAILS = words("with without having has have had for by per to from in on at and or than no not")
"""Behind these a noun that nobody knows says something of the rows, and is not the rows."""
_OBJECTS = words("out off up me us the all them it by only away aside a an every each any these those")


@RULES.finder("rows")
def rows(chart: Chart, at: int) -> Iterator[Edge]:
    """A noun for the rows: their name, a word of its kind, or any plural that names nothing else."""
    word, token = chart.text(at), chart.token(at)
    if token is None or token.kind != "word" or not word:
        return
    if (
        word in _VERBS
        and chart.text(at + 1) in _OBJECTS
        and (not at or chart.text(at - 1) in (",", ".", ";", "and", "then", ":", "{", "but", "?"))
    ):
        # `leave out …` at the beginning of a clause is no leave.
        return
    own = name_words(chart.schema.name)[0]
    if len(own) > 1 and all(stem(chart.text(at + place)) == part for place, part in enumerate(own)):
        yield Edge(at + len(own), Rows(plural(chart.text(at + len(own) - 1)), True, own[-1]))
    single = stem(word)
    some = only_some(word, chart.schema) if single != "one" else []
    columns = [column for _, column in best((single,), chart.schema)]
    # Where each row has a runner, the runners are all of them, whatever their clubs are called.
    called = bool(columns) and is_key_noun(single, columns, chart.schema)
    if not names_all(single, chart.schema) and (some or (told_apart(single, chart.schema) and not called)):
        return
    repeated = [column for column in some if not column.unique]
    if repeated:
        yield Edge(at + 1, unsure(word, repeated[0]), -0.3)
        return
    found = rows_by(word, chart.schema)
    if single in ATTRIBUTES and (not plural(word) or (columns and not names_rows(single, chart.schema))):
        # The titles of books are a column, though a title may be a book.
        return
    if columns:
        tables = {word for name in (chart.schema.name, *chart.schema.others) for word in name_words(name)[0][-1:]}
        joined = bool(chart.schema.others) and single in tables
        one = chart.text(at - 1) == "which" and chart.text(at + 1) in ("had", "has")
        events = events_only(single, word, columns, one=one) and word not in chart.schema.vocabulary
        if joined or events or is_key_noun(single, columns, chart.schema):
            yield Edge(at + 1, Rows(plural(word), True, single))
        elif found is not None and single == "day":
            yield Edge(at + 1, found[0], found[1])
        elif (
            found is not None
            and found[0].told
            and single not in {word for c in columns if not c.unique for word in (c.words[-1], entity_word(c))}
        ):
            yield Edge(at + 1, found[0], found[1] + 0.2)
        return
    if found is None or (not found[0].told and at and token.raw[0].isupper()):
        # A capital in the middle belongs to somebody's name, and no row has it.
        return
    if single in chart.schema.singulars and not (found[0].told and _own_noun(single, chart)):
        # Where some are nurses, the nurses are these.
        return
    if not found[0].told and (
        chart.text(at - 1) in _BEFORE_DETAILS or not (found[0].plural or _singled_out(chart, at))
    ):
        return
    yield Edge(at + 1, found[0], found[1])


def _own_noun(single: str, chart: Chart) -> bool:
    """Whether the rows themselves are called so, by the table or its key, and not only of such a kind."""
    return single in GENERIC or single in row_nouns(chart.schema)


def _singled_out(chart: Chart, at: int) -> bool:
    """Whether the word before makes a singular likely: `cheapest laptop`, `which laptop`."""
    before = chart.text(at - 1)
    return before.endswith("est") or before in (
        "expensive",
        "recent",
        "rated",
        "paid",
        "popular",
        "which",
        "selling",
        "every",
        "each",
    )


@RULES.rule("part", "<every_row>", cost=-0.1)
def every(chart: Chart, noun: Rows) -> Rows:
    """`show me every server`: all of them."""
    return noun


@RULES.finder("every_row")
def every_row(chart: Chart, at: int) -> Iterator[Edge]:
    """`every` and a noun for a row, where the request begins."""
    if chart.text(at) != "every" or (at and chart.text(at - 1) not in _BEGINNINGS):
        return
    for edge in chart.edges("rows", at + 1):
        if edge.value.told and not edge.value.plural:
            yield Edge(edge.end, replace(edge.value, plural=True), edge.cost)


@RULES.rule("part", "<agents>", cost=-0.2)
def done_by_rows(chart: Chart, noun: Rows) -> Rows:
    """`awards won by shows from …`: the rows did it, each for its own part."""
    return noun


@RULES.finder("agents")
def agents(chart: Chart, at: int) -> Iterator[Edge]:
    """`by` and a plural for the rows, behind what was done."""
    if chart.text(at) != "by" or not participle(chart.text(at - 1)):
        return
    start = at + 1 + (chart.text(at + 1) in LIGHT)
    yield from (edge for edge in chart.edges("rows", start) if edge.value.told and edge.value.plural)


_BEGINNINGS = words("show me us give list find get need want display see return")


@RULES.rule("rows", "<modifier> <rows>", cost=0.2)
def compound(chart: Chart, modifier: str, noun: Rows) -> Rows | None:
    """`meter readings`, `exam results`: the noun with a word of a column before it."""
    return noun if noun.told else None


@RULES.finder("modifier")
def modifier(chart: Chart, at: int) -> Iterator[Edge]:
    """A word that the name of the table or of a column bears, or another noun for the rows."""
    single = stem(chart.text(at))
    if not single or single in ("the", "of", "one") or len(single) < 3:
        return
    if chart.text(at) != single or single in chart.schema.singulars or participle(single):
        return
    own = set(name_words(chart.schema.name)[0]) | row_nouns(chart.schema)
    if single in own or any(_compounded(single, column) for column in chart.schema.columns):
        yield Edge(at + 1, single)


def _compounded(word: str, column: Column) -> bool:
    """Whether the word is only a part of what the column is called, and says nothing of the rows itself."""
    words = [mark.word for mark in column.marks if mark.role in ("core", "stat", "tail")]
    return column.kind in ("text", "date", "numeric text") and len(words) > 1 and word == words[0]


@RULES.finder("things")
def things(chart: Chart, at: int) -> Iterator[Edge]:
    """A noun that names the things of a column: airlines, of a column airline."""
    for size, phrase in named_at(chart, at)[0]:
        found = best(phrase, chart.schema, _names_things) if size <= 3 else []
        columns = [column for _, column in found]
        last = chart.text(at if chart.text(at + 1) == "of" else at + size - 1)
        if not columns or (
            size == 1 and (is_key_noun(stem(last), columns, chart.schema) or events_only(stem(last), last, columns))
        ):
            continue
        if len(columns) > 1 or ("_" in last and last == chart.schema.name.lower()):
            # Written as the table is, it means the table: project_tasks are no projects.
            continue
        called = bool(ATTRIBUTES & {stem(last), columns[0].words[-1] if len(columns[0].words) == 1 else ""})
        yield Edge(at + size, Things(columns[0], plural(last), called), found[0][0] * 0.5)


@RULES.rule("part", "(of|by|for|from) <owner_noun>", cost=-0.3)
def of_owners(chart: Chart, noun: str) -> Filler:
    """`results of students who …`: each row is of one, and what follows is said of it."""
    return Filler("owners")


@RULES.finder("owner_noun")
def owner_noun(chart: Chart, at: int) -> Iterator[Edge]:
    """Beings of whom several columns tell, before what is said of them."""
    word = chart.text(at)
    told = plural(word) and heads(stem(word), chart.schema) and not names_rows(stem(word), chart.schema)
    if told and chart.text(at + 1) in ("who", "that", "which", "with", "whose"):
        yield Edge(at + 1, word)


def _names_things(column: Column) -> bool:
    return column.kind in ("text", "numeric text", "date text") or column.identifies or column.classes


@RULES.rule("part", "<span> <rows>", cost=0.3)
def then_rows(chart: Chart, span: Span, noun: Rows) -> Any:
    """`June records`, `March 2024 orders`: a month right before the noun for the rows."""
    if not noun.told or not 28 <= (span.after - span.first).days <= 31:
        # 2021 films may be so many, and a day is no more than a name.
        raise Unfit
    return bare(chart, ("in", (span,))), noun
