"""Reads a whole request: clause after clause, every word accounted for, or Refused."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from laneway.lanes.pipeline.planner.ask import Ask, Measure, Step, steps_of
from laneway.lanes.pipeline.planner.clauses import amounts_of_rows, breaks, closers, opening
from laneway.lanes.pipeline.planner.columns import column_at, only
from laneway.lanes.pipeline.planner.conditions import condition
from laneway.lanes.pipeline.planner.dimensions import SUPERLATIVES
from laneway.lanes.pipeline.planner.doubts import negative, one_place, one_subject
from laneway.lanes.pipeline.planner.grouping import best_groups, group_clause, row_superlative
from laneway.lanes.pipeline.planner.joining import Schemas, join_clause, source
from laneway.lanes.pipeline.planner.lexicon import ARTICLES, FILLERS, VAGUE
from laneway.lanes.pipeline.planner.measures import counted, measure
from laneway.lanes.pipeline.planner.nouns import fits, known_noun, noun_at
from laneway.lanes.pipeline.planner.ordering import sort_clause, superlative, top_by
from laneway.lanes.pipeline.planner.phrasing import phrases, words
from laneway.lanes.pipeline.planner.reading import Reader
from laneway.lanes.pipeline.planner.refusal import Refused
from laneway.lanes.pipeline.planner.schema import Schema
from laneway.lanes.pipeline.planner.settling import refuse_lost_columns, settled, show_steps
from laneway.lanes.pipeline.planner.showing import TOLD, computed, dropped_columns, renames, shown_columns
from laneway.lanes.pipeline.planner.spelling import stem
from laneway.lanes.pipeline.planner.ties import Tables, refuse_ties

_AFTER_BUT = words(
    """
    not only with without no under over cheaper sorted ordered that have has just at
    """
)
"""`but` goes on with a condition only before these; else it may take something away."""

_SUMMARIES = phrases(
    """
    summary statistics | summary stats | a summary | summary | summarize | summarise | describe | statistics
    """
)
_OF = phrases(
    """
    of all | of the | of | for the | for | on | the
    """
)
_SAMPLES = phrases(
    """
    a random sample of | random sample of | a sample of | sample of | sample | random | randomly chosen |
    chosen at random | picked at random | at random | randomly selected | randomly
    """
)
_DEDUPLICATES = phrases(
    """
    without duplicates | no duplicates | remove duplicates | remove duplicate rows | deduplicate | deduplicated |
    without duplicate rows | drop duplicates
    """
)


def _narrows(ask: Ask) -> bool:
    """Whether what was to be shown must be settled before this clause."""
    other = ask.distinct is not None or ask.summary is not None
    return ask.grouped or other or bool(ask.columns or ask.renamed or ask.dropped)


def _shown(schema: Schema, shown: list[Step]) -> Schema:
    """The table with the columns that are shown, under the names they are shown by."""
    for step in shown:
        if step["do"] == "select":
            schema = schema.with_columns([column for column in schema.columns if column.name in step["columns"]])
        else:
            names = step["columns"]
            schema = schema.with_columns([replace(one, name=names.get(one.name, one.name)) for one in schema.columns])
    return schema


class Request:
    """One request over some tables while it is read."""

    def __init__(self, reader: Reader, schemas: Schemas, rows: Tables) -> None:
        self.reader, self.schemas, self.rows = reader, schemas, rows
        self.name = source(reader, schemas)
        self.schema = schemas[self.name]
        self.ask = Ask()
        self.tie = ""

    def document(self) -> dict[str, Any]:
        """The plan of the whole request."""
        steps: list[Step] = []
        shown: list[Step] = []
        limited = then = False
        while True:
            self.ask = Ask()
            self._clause()
            following = breaks(self.reader, self.schema) if self.reader else None
            settled(self.ask, self.schema)
            if limited and not then and (self.ask.tests or self.ask.before or self.ask.grouped):
                raise Refused(
                    "It is not plain whether the rows are chosen before or after they are counted off.", "Say `then`."
                )
            if shown and _narrows(self.ask):
                steps += shown
                self.schema = _shown(self.schema, shown)
                shown = []
            made, self.schema = steps_of(self.ask, self.schema)
            if self.ask.implied or self.ask.place is not None:
                refuse_ties(self.name, steps + made, self.rows)
            steps += made
            limited = limited or any(step["do"] in ("limit", "top_k", "sample") for step in made)
            more, self.schema = show_steps(self.ask, self.schema)
            shown += more
            if following is None:
                self._refuse_nothing(steps + shown)
                refuse_lost_columns(steps + shown, {column.name for column in self.schemas[self.name].columns})
                return {"from": self.name, "steps": steps + shown}
            self.reader.at += following[0]
            then = following[1]

    def _refuse_nothing(self, steps: list[Step]) -> None:
        """Something was asked for; Refused if all words were of the kind that says nothing."""
        if not steps and not self.ask.noun and not {"all", "everything"} & {token.text for token in self.reader.tokens}:
            raise Refused("The request asks for nothing.", "Say what you want to see, like: the 5 cheapest.")

    def _clause(self) -> None:
        """One clause, up to its end or to the words that begin the next."""
        opening(self.reader, self.ask)
        while self.reader:
            following = breaks(self.reader, self.schema)
            if following is not None and not self._goes_on():
                if not self.ask.group or self.ask.grouped or self.ask.superlative is not None:
                    break
                # `group by airline and show the average price` is one thing said in two clauses.
                self.reader.at += following[0]
                opening(self.reader, self.ask)
                continue
            if not self._part():
                raise self._lost()
        if self.tie == "or":
            raise Refused("`or` stands at the end of a clause.", "Say what comes after it.")
        self.tie = ""

    def _goes_on(self) -> bool:
        """`…, then by name` belongs to a sort, `and add the customer's name` to a join."""
        mark = self.reader.at
        joined = join_clause(self.reader, self.schema, self.schemas, Ask())
        self.reader.at = mark
        return joined is not None and self.reader.word() != ","

    def _part(self) -> bool:
        """One part of the clause is read; False if the next words are none."""
        reader, schema, ask = self.reader, self.schema, self.ask
        if self.tie != "or":
            joined = join_clause(reader, schema, self.schemas, ask)
            if joined is not None:
                self.schema = joined
                ask.noun, self.tie = ask.noun or "rows", ""
                return True
            for read in (
                renames,
                dropped_columns,
                self._whole,
                counted,
                measure,
                computed,
                best_groups,
                sort_clause,
                shown_columns,
                amounts_of_rows,
                superlative,
                row_superlative,
                group_clause,
                self._by,
            ):
                view = ask.measured(schema) if ask.grouped and read == sort_clause else schema
                if read(reader, view, ask):
                    self.tie = ""
                    return True
        if self.tie != "or" and not ask.noun and self._known() and self._noun():
            return True
        return self._test() or (self.tie != "or" and (self._noun() or closers(reader, schema) or self._small()))

    def _known(self) -> bool:
        """Whether the rows themselves come next, and not a column of theirs that is compared."""
        reader = self.reader
        read = known_noun(reader, self.schema)
        if read is None or read[0].plural or column_at(reader, self.schema)[1] != read[1]:
            return read is not None
        after = reader.word(read[1])
        asked = after == "is" and (
            reader.word(read[1] + 1) == "the" or any(reader.sees(one, read[1] + 1) for one in SUPERLATIVES)
        )
        return asked or after not in TOLD

    def _whole(self, reader: Reader, schema: Schema, ask: Ask) -> bool:
        """`summarize`, `5 random rows`, `distinct cities`, `without duplicates`."""
        return self._summary() or self._sample() or self._distinct()

    def _summary(self) -> bool:
        reader, ask = self.reader, self.ask
        if not reader.takes(*_SUMMARIES):
            return False
        ask.summary = []
        reader.takes(*_OF)
        while True:
            reader.skips(ARTICLES)
            found, size = column_at(reader, self.schema)
            if not found or (noun_at(reader, self.schema) or (None,))[0] is None:
                break
            noun = noun_at(reader, self.schema)
            if noun is not None and noun[0].role == "rows":
                break
            ask.summary.append(only(found, reader.rest(size)))
            reader.at += size
            if not reader.takes(", and", "and", ","):
                break
        reader.takes("column", "columns")
        if ask.summary:
            ask.noun = "column"
        return True

    def _sample(self) -> bool:
        if self.reader.takes(*_SAMPLES):
            self.ask.sample = True
            return True
        return False

    def _distinct(self) -> bool:
        reader, ask = self.reader, self.ask
        if reader.takes(*_DEDUPLICATES):
            ask.distinct = []
            return True
        if not reader.takes("all the distinct", "all distinct", "distinct", "unique", "different", "deduplicated"):
            return False
        reader.takes("values of", "values for", "values in", "combinations of", "pairs of")
        ask.distinct = []
        while True:
            reader.skips(ARTICLES)
            found, size = column_at(reader, self.schema)
            if not found:
                break
            ask.distinct.append(only(found, reader.rest(size)))
            reader.at += size
            mark = reader.at
            if not reader.takes(", and", "and", ",") or not column_at(reader, self.schema)[0]:
                reader.at = mark
                break
        reader.takes("values", "value", "combinations", "pairs")
        ask.noun = "column" if ask.distinct else ask.noun
        return True

    def _by(self, reader: Reader, schema: Schema, ask: Ask) -> bool:
        """`top 5 … by rating`; `by` of a plain listing says an order only for numbers and dates."""
        if reader.word() != "by" or ask.grouped or ask.superlative is not None:
            return False
        mark = reader.at
        reader.at += 1
        reader.skips(ARTICLES)
        found, _ = column_at(reader, schema)
        direct = reader.word() in ("highest", "lowest", "most", "least", "fewest", "largest", "smallest")
        if (not found and not direct) or not (ask.firsts or ask.bottom) or ask.wanted is None or ask.entity is not None:
            reader.at = mark
            return False
        if reader.tokens[mark - 1].text == "limit":
            raise Refused("`limit … by` says no order.", "Say `sorted by`.")
        ask.superlative = top_by(reader, schema, ask)
        return True

    def _test(self) -> bool:
        reader, ask = self.reader, self.ask
        tie, start = self.tie, reader.at
        found = condition(reader, self.schema)
        if found is None:
            return False
        one_place(reader, self.schema, ask, start)
        one_subject(reader, self.schema, ask, found, start)
        if tie == "or" and ask.tests and negative(ask.tests[-1][1]):
            raise Refused(
                "It is not plain whether `not` holds for what comes after `or` too.", "Say `not` with each part."
            )
        if not ask.noun and not ask.tests and tie != "or" and self._noun_follows():
            ask.before.append(found)
        else:
            ask.tests.append((tie, found))
        self.tie = ""
        return True

    def _noun_follows(self) -> bool:
        mark = self.reader.at
        try:
            noun = noun_at(self.reader, self.schema)
        except Refused:
            return False
        finally:
            self.reader.at = mark
        return noun is not None and noun[0].role == "rows"

    def _noun(self) -> bool:
        reader, ask = self.reader, self.ask
        if ask.noun or self.tie or (ask.measures and not self._of()):
            return False
        read = noun_at(reader, self.schema)
        if read is None:
            return False
        noun, size = read
        reader.at += size
        ask.noun, ask.plural = noun.role, noun.plural
        named = stem(reader.word(-1))
        ask.valued = any(column.measure and stem(column.words[-1]) == named for column in self.schema.columns)
        if noun.role == "rows" and reader.takes("counts", "count"):
            ask.counts = True
        if noun.column is not None:
            if ask.counts:
                ask.counts = False
                if noun.column.kind not in ("text", "numeric text") and not noun.column.identifies:
                    raise Refused(
                        f"How many {noun.column.name} may mean a sum or a count of rows.",
                        f"Say: total {noun.column.name}.",
                    )
                if fits(stem(reader.word(-1)), self.schema):
                    raise Refused(
                        f"How many may mean rows or different {noun.column.name}.",
                        "Say: how many rows, or how many different …",
                    )
                ask.measures.append(Measure("count_distinct", noun.column))
            else:
                ask.entity = noun.column
        return True

    def _of(self) -> bool:
        """Whether a word since the last aggregate says that its rows follow."""
        since = self.reader.tokens[self.ask.measured_at : self.reader.at]
        return any(token.text in ("of", "for", "across", "among", "in", "do", "does") for token in since)

    def _small(self) -> bool:
        """A connective or a word that says nothing is read."""
        word = self.reader.word()
        if word == "but" and self.reader.word(1) not in _AFTER_BUT:
            return False
        if word in ("and", "or", ",", "but", "also"):
            if self.tie == "or" or (word == "or" and not (self.ask.tests or self.ask.before)):
                return False
            self.tie = "or" if word == "or" else "and"
            self.reader.at += 1
            return bool(self.reader)
        if word in FILLERS or word in ("ones", "only", "just", "with", "where", "have", "has", "having", ":"):
            if (
                word in ("only", "just", "with", "where", "have", "has", "having")
                and self.reader.token(1) is None
                and word not in ("have", "has")
            ):
                return False
            self.reader.at += 1
            return True
        return False

    def _lost(self) -> Refused:
        word = self.reader.word()
        if word in VAGUE:
            return Refused(f"`{word}` says no number.", "Say what it means, like: price under 200.")
        said = self.reader.rest()
        return Refused(
            f"I do not understand `{said}`.", f"The columns are: {', '.join(c.name for c in self.schema.columns[:12])}."
        )
