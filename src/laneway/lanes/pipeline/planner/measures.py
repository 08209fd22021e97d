"""Aggregates in words: `average price`, `total of amount`, `number of orders`, `how many`, `highest price`."""

from __future__ import annotations

from laneway.lanes.pipeline.planner.ask import Ask, Measure
from laneway.lanes.pipeline.planner.columns import column_at, only
from laneway.lanes.pipeline.planner.lexicon import ARTICLES
from laneway.lanes.pipeline.planner.nouns import noun_at
from laneway.lanes.pipeline.planner.phrasing import phrases
from laneway.lanes.pipeline.planner.reading import Reader
from laneway.lanes.pipeline.planner.refusal import Refused
from laneway.lanes.pipeline.planner.schema import Column, Schema

WORDS = {
    "average": "mean",
    "mean": "mean",
    "avg": "mean",
    "total": "sum",
    "sum": "sum",
    "minimum": "min",
    "min": "min",
    "maximum": "max",
    "max": "max",
    "median": "median",
    "combined": "sum",
    "overall": "sum",
}
EXTREMES = {"highest": "max", "lowest": "min", "largest": "max", "smallest": "min", "greatest": "max"}
COUNTS = phrases(
    """
    the total number of | the number of | how many different | how many distinct | how many unique |
    number of different | number of distinct | number of unique | how many | total number of | number of |
    total count of | count of | count how many | counts of | amount of | count up | count
    """
)


def measure(reader: Reader, schema: Schema, ask: Ask) -> bool:
    """An aggregate that comes next is read into the request; False (and nothing read) if none does."""
    mark = reader.at
    dos = _dos(reader)
    if not dos:
        return False
    if reader.takes("number of"):
        pass
    reader.takes("of all", "of the", "of")
    reader.skips(ARTICLES | {"all"})
    column = _column(reader, schema, mark)
    if column is None:
        reader.at = mark
        return dos == ["sum"] and _total_rows(reader, schema, ask)
    for do in dos:
        ask.measures.append(Measure(do, checked(do, column)))
    ask.measured_at = reader.at
    _same_for_more(reader, schema, ask, dos)
    _named(reader, ask)
    return True


def _dos(reader: Reader) -> list[str]:
    """`average`, or `average and maximum`: what is to be worked out."""
    if reader.word() not in WORDS:
        return []
    found = [WORDS[reader.word()]]
    reader.at += 1
    while True:
        mark = reader.at
        if reader.takes(", and", "and", ",") and reader.word() in WORDS:
            word, ahead = reader.word(), reader.word(1)
            found.append(WORDS[word])
            reader.at += 1
            del ahead
        else:
            reader.at = mark
            return found


def _column(reader: Reader, schema: Schema, mark: int) -> Column | None:
    """The column worked on; a word that both makes the aggregate and belongs to a column's name decides nothing."""
    found, size = column_at(reader, schema)
    if not found:
        noun = noun_at(reader, schema)
        if noun is not None and noun[0].role == "rows":
            behind, more = column_at(reader, schema, noun[1])
            if behind:
                found, size = behind, more
                reader.at += noun[1]
    if not found:
        return None
    said = " ".join(token.raw for token in reader.tokens[reader.at : reader.at + size])
    here = reader.at
    reader.at = mark
    whole, wide = column_at(reader, schema)
    reader.at = here + size
    if whole and wide > 1 and wide > here - mark and whole != found:
        raise Refused(
            f"`{reader.tokens[mark].raw} {said}` may be {whole[0].name} or be worked out of {found[0].name}.",
            f"Say `sum of {found[0].name}` or `sum of {whole[0].name}`.",
        )
    return only(found, said)


def checked(do: str, column: Column) -> Column:
    """The column, if this can be worked out of it."""
    if do in ("mean", "sum", "median"):
        if column.kind == "numeric text":
            raise Refused(f"{column.name} holds numbers written as text.", "Turn them into numbers first.")
        if column.kind != "number":
            raise Refused(f"{column.name} does not hold numbers.", "Ask for a column of numbers.")
        if column.identifies:
            raise Refused(f"{column.name} names things; its numbers measure nothing.", "Ask for another column.")
    if do in ("min", "max") and not column.ordered:
        raise Refused(f"{column.name} has no lowest and highest that I can compare.", "Ask for numbers or dates.")
    return column


def _same_for_more(reader: Reader, schema: Schema, ask: Ask, dos: list[str]) -> None:
    """`average price and rating`: the same of another column."""
    while True:
        mark = reader.at
        if not reader.takes(", and", "and", ","):
            return
        if reader.word() in WORDS or reader.word() in EXTREMES or reader.sees("number of") or reader.word() == "the":
            reader.at = mark
            return
        found, size = column_at(reader, schema)
        after = reader.word(size)
        if (
            len(found) != 1
            or found[0].kind != "number"
            or after in ("is", "over", "under", "above", "below", "between", ">", "<")
        ):
            reader.at = mark
            return
        reader.at += size
        ask.measured_at = reader.at
        for do in dos:
            ask.measures.append(Measure(do, checked(do, found[0])))


def _named(reader: Reader, ask: Ask) -> None:
    """`… as revenue`: the result's own name."""
    if reader.word() in ("as", "called", "named") and len(ask.measures) >= 1:
        token = reader.token(1)
        if token is not None and token.kind in ("word", "quote"):
            reader.at += 2
            ask.measures[-1].name = token.raw


def _total_rows(reader: Reader, schema: Schema, ask: Ask) -> bool:
    """`total orders`: how many rows."""
    if reader.word() != "total":
        return False
    mark = reader.at
    reader.at += 1
    noun = noun_at(reader, schema)
    if noun is None or noun[0].role != "rows" or not noun[0].plural:
        reader.at = mark
        return False
    reader.at += noun[1]
    ask.counts, ask.noun = True, "rows"
    return True


def counted(reader: Reader, schema: Schema, ask: Ask) -> bool:
    """`how many …` and its like are read, with what is counted; False if nothing of it comes next."""
    mark = reader.at
    said = reader.takes(*COUNTS)
    if not said:
        return False
    if ask.noun and not said.startswith(("how", "the")):
        reader.at = mark
        return False
    reader.takes("of the", "of", "all the", "all", "the")
    different = any(word in said for word in ("different", "distinct", "unique")) or bool(
        reader.takes("different", "distinct", "unique")
    )
    ask.counts = True
    if different:
        found, size = column_at(reader, schema)
        if not found:
            reader.at = mark
            return False
        column = only(found, reader.rest(size))
        reader.at += size
        ask.counts = False
        ask.measures.append(Measure("count_distinct", column))
        ask.noun = "column"
    return True


def count_of_rows(reader: Reader, schema: Schema) -> bool:
    """`number of flights`, `flights`: the rows of a group are meant, now read; False if not."""
    mark = reader.at
    reader.takes("the")
    numbered = bool(reader.takes("total number of", "number of", "count of", "amount of"))
    noun = noun_at(reader, schema) if reader else None
    if noun is not None and noun[0].role == "rows":
        reader.at += noun[1]
        return True
    if not numbered and reader.takes("count"):
        return True
    reader.at = mark
    return False
