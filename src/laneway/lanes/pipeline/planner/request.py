"""Reads a whole request: of all ways to account for its words, the least far-fetched that means something, or Refused.

The grammar finds what each stretch of words may be, covers.py puts such parts side by side until no word is left over,
and meaning/ says what they come to together. Two readings that are about as good must give the same rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from laneway.lanes.pipeline.plan import plan_of, sentence
from laneway.lanes.pipeline.planner.covers import Piece, covers
from laneway.lanes.pipeline.planner.grammar import Chart
from laneway.lanes.pipeline.planner.joining.readings import Joined, Unnamed, looked_up, readings
from laneway.lanes.pipeline.planner.language import LANGUAGE
from laneway.lanes.pipeline.planner.meaning.ask import Ask
from laneway.lanes.pipeline.planner.meaning.conditions import doubtful, refuse_two_subjects
from laneway.lanes.pipeline.planner.meaning.gathering import Gathering
from laneway.lanes.pipeline.planner.meaning.hollow import refuse_hollow
from laneway.lanes.pipeline.planner.meaning.needs import refuse_lost_columns, refuse_split_days
from laneway.lanes.pipeline.planner.meaning.ordering import first_by
from laneway.lanes.pipeline.planner.meaning.settling import settled
from laneway.lanes.pipeline.planner.meaning.steps import steps_of
from laneway.lanes.pipeline.planner.names.columns import ITSELF, best, listed
from laneway.lanes.pipeline.planner.parts.pieces import Made, Step
from laneway.lanes.pipeline.planner.reading import Token
from laneway.lanes.pipeline.planner.refusal import Refused, Unfit
from laneway.lanes.pipeline.planner.schema import Column, Schema
from laneway.lanes.pipeline.planner.ties import (
    Tables,
    refuse_divided,
    refuse_other_first,
    refuse_repeats,
    refuse_shared_bests,
    refuse_ties,
    same_rows,
)
from laneway.lanes.pipeline.planner.words.small import VAGUE

Schemas = Mapping[str, Schema]
CLOSE = 0.15
"""A reading that costs only so much more is as good as the best, and must come to the same rows."""
MOST_READINGS = 80


def document(tokens: list[Token], schemas: Schemas, tables: Tables) -> dict[str, Any]:
    """The plan of the request over these tables; Refused if it is not plain."""
    if len(schemas) == 1:
        return Request(tokens, next(iter(schemas.values())), tables).document()
    try:
        return _over(readings(tokens, schemas), schemas, tables)
    except Unnamed:
        found = [plan for name in schemas if (plan := _understood(tokens, schemas, tables, name)) is not None]
        if len(found) != 1:
            raise
        return found[0]


def _understood(tokens: list[Token], schemas: Schemas, tables: Tables, main: str) -> dict[str, Any] | None:
    """The plan of the request if it begins with this table; None if it is not plain then."""
    try:
        return _over(readings(tokens, schemas, main), schemas, tables)
    except Refused:
        return None


def _over(ways: Iterator[Joined], schemas: Schemas, tables: Tables) -> dict[str, Any]:
    """The plan over the first way to put the tables together in which the request is plain."""
    refused: Refused | None = None
    for joined in ways:
        if not joined.tokens:
            return {"from": joined.schema.name, "steps": joined.steps}
        try:
            found = Request(joined.tokens, joined.schema, tables, joined.steps, joined.shown).document()
        except Refused as why:
            refused = refused or why
            continue
        if not joined.shown or looked_up(found, joined, tables):
            return found
    raise refused or Refused("It is not said which table is meant.", f"Name one of: {', '.join(schemas)}.")


class Request:
    """One request over one table, after the joins that were settled before."""

    def __init__(
        self,
        tokens: list[Token],
        schema: Schema,
        tables: Tables,
        joins: list[Step] | None = None,
        shown: tuple[str, ...] = (),
    ) -> None:
        self.tables, self.name, self.joins, self.shown = tables, schema.name, joins or [], shown
        self.chart = Chart(LANGUAGE, tokens, schema)
        self.made = self._made()
        if self.made:
            schema = schema.with_columns([*schema.columns, *(Column(name, "number", made=True) for name in self.made)])
            self.chart = Chart(LANGUAGE, tokens, schema)
        self.schema = schema.with_columns([one for one in schema.columns if not one.made])

    def _made(self) -> list[str]:
        """The names of columns that the request works out itself, so that it may speak of them."""
        found: dict[str, None] = {}
        for at in range(self.chart.size):
            for symbol in ("part", "item"):
                for edge in self.chart.edges(symbol, at):
                    parts = edge.value if isinstance(edge.value, tuple) else (edge.value,)
                    made = [part.name for part in parts if isinstance(part, Made) and part.given]
                    found |= dict.fromkeys(name for name in made if not self._borne(name))
        return list(found)

    def _borne(self, name: str) -> bool:
        """Whether a column is called just so: a rate that is worked out is no price, though a price may be a rate."""
        found = best(tuple(name.split("_")), self.chart.schema)
        return len(found) == 1 and found[0][0] <= ITSELF

    def document(self) -> dict[str, Any]:
        """The plan of the whole request."""
        best: tuple[float, dict[str, Any]] | None = None
        refused: tuple[float, Refused] | None = None
        for number, (cost, pieces) in enumerate(covers(self.chart)):
            if number > MOST_READINGS or (best is not None and cost > best[0] + CLOSE):
                break
            try:
                found = self._meaning(pieces)
            except Unfit:
                continue
            except Refused as why:
                refused = refused or (cost, why)
                continue
            if best is None and refused is not None and refused[0] < cost - 0.05:
                raise refused[1]
            if best is None:
                best = cost, found
            elif found != best[1] and not same_rows(best[1], found, self.tables):
                raise _ambiguous(best[1], found)
        if best is not None:
            return best[1]
        raise refused[1] if refused is not None else self._lost()

    def _meaning(self, pieces: list[Piece]) -> dict[str, Any]:
        """The plan of one way to read the request."""
        schema, steps = self.schema, list[Step]()
        refuse_hollow(self.chart, pieces)
        asks = Gathering(self.chart, pieces, list(self.joins)).clauses()
        for ask in asks:
            settled(ask, schema)
            refuse_two_subjects(ask, schema)
            made, schema = steps_of(ask, schema)
            steps += made
            self._look(ask, schema, steps)
        _refuse_nothing(asks, steps)
        refuse_lost_columns(steps, {column.name for column in self.schema.columns}, self.made)
        refuse_split_days(steps, self.schema, self.chart.texts)
        if self.shown and not any(step["do"] in ("select", "group_by", "pivot", "summarize") for step in steps):
            # The other table only told which rows are meant.
            steps.append({"do": "select", "columns": list(self.shown)})
        return {"from": self.name, "steps": steps}

    def _look(self, ask: Ask, schema: Schema, steps: list[Step]) -> None:
        """Returns only if the rows leave it plain what the clause means."""
        if ask.once and ask.things is not None:
            refuse_repeats(self.name, steps, ask.things.name, self.tables)
        if ask.things is not None and ask.distinct is not None and not ask.things.unique:
            refuse_divided(self.name, steps, ask.things.name, doubtful(ask), self.tables)
        if ask.group and not ask.grouped:
            refuse_shared_bests(self.name, steps, self.tables)
        if ask.head == "first" and (column := first_by(ask, schema)) is not None:
            refuse_other_first(self.name, steps, column.name, self.tables)
        if ask.implied or ask.place is not None:
            refuse_ties(self.name, steps, self.tables, valued=ask.valued)

    def _lost(self) -> Refused:
        chart = self.chart
        word = chart.text(chart.furthest)
        if word in VAGUE:
            return Refused(f"`{word}` says no number.", "Say what it means, like: price under 200.")
        said = chart.said(chart.furthest, chart.furthest + 4)
        return Refused(f"I do not understand `{said}`.", f"The columns are: {listed(self.schema.columns)}.")


def _refuse_nothing(asks: list[Ask], steps: list[Step]) -> None:
    """Something was asked for; Refused if all words were of the kind that says nothing."""
    if steps:
        return
    rows = asks[0].rows
    if rows is None:
        raise Refused("The request asks for nothing.", "Say what you want to see, like: the 5 cheapest.")
    if not rows.told:
        raise Refused(f"I do not know what `{rows.word}` are here.", "Say `rows`, or name a column.")


def _ambiguous(one: dict[str, Any], other: dict[str, Any]) -> Refused:
    said = [sentence(plan_of(document)).partition(": ")[2].rstrip(".") for document in (one, other)]
    return Refused(
        f"This may mean two things: {said[0]}; or: {said[1]}.", "Say it in other words, or one thing at a time."
    )
