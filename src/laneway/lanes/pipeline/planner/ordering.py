"""Order in words: `sorted by price descending then name`, `cheapest`, `top 5 by rating`, `newest first`."""

from __future__ import annotations

from laneway.lanes.pipeline.planner.ask import Ask
from laneway.lanes.pipeline.planner.columns import column_at, listed, only, takes_column
from laneway.lanes.pipeline.planner.dimensions import SUPERLATIVES, Direction, direction, looks_dated, yearly
from laneway.lanes.pipeline.planner.phrasing import phrases
from laneway.lanes.pipeline.planner.reading import Reader
from laneway.lanes.pipeline.planner.refusal import Refused
from laneway.lanes.pipeline.planner.schema import Column, Schema

SORTS = phrases(
    """
    sorted by | sort by | ordered by | order by | ranked by | rank by | arranged by | in order of | sort them by |
    order them by | sorting by | ordering by | sorted on | sort on | sort it by | arrange by | rank them by |
    sort the results by | sort results by | arrange them by | sorted according to
    """
)
_DOWN = phrases(
    """
    in descending order | descending order | descending | desc | decreasing | from highest to lowest |
    highest to lowest | from high to low | high to low | highest first | largest first | biggest first |
    from largest to smallest | largest to smallest | from biggest to smallest | from most to least |
    greatest first | most first | high first | from z to a | z to a | in reverse order | reversed |
    in reverse alphabetical order | in reverse | from top to bottom | highest on top | highest at the top |
    starting with the highest | starting with the largest | with the highest first | the highest first
    """
)
_UP = phrases(
    """
    in ascending order | ascending order | ascending | asc | increasing | from lowest to highest |
    lowest to highest | from low to high | low to high | lowest first | smallest first | from smallest to largest |
    smallest to largest | least first | low first | from a to z | a to z | alphabetically | in alphabetical order |
    from least to most | starting with the lowest | with the lowest first | the lowest first | lowest on top
    """
)
_NEW = phrases(
    """
    newest first | latest first | most recent first | from newest to oldest | newest to oldest | recent first |
    most recent on top
    """
)
_OLD = phrases(
    """
    oldest first | earliest first | from oldest to newest | oldest to newest | chronologically |
    in chronological order
    """
)

_SORT_VERBS = phrases(
    """
    sorted | sort | ordered | order | arranged | ranked | sort them | order them | in
    """
)
_THENS = phrases(
    """
    and then by | , and then by | , then by | then by | and then | , then | then | and by | , and | and | , by | ,
    """
)


def order_word(reader: Reader, column: Column | None = None) -> str:
    """`asc` or `desc` if the next words say so, now read; '' otherwise."""
    reader.takes("in") if reader.word(1) in ("descending", "ascending") and not reader.sees("in descending order") and (
        not reader.sees("in ascending order")
    ) else ""
    if reader.takes(*_DOWN):
        return "desc"
    if reader.takes(*_UP):
        return "asc"
    dated = column is not None and (column.kind in ("date", "time") or yearly(column))
    if dated and reader.takes(*_NEW):
        return "desc"
    if dated and reader.takes(*_OLD):
        return "asc"
    return ""


def sort_clause(reader: Reader, schema: Schema, ask: Ask) -> bool:
    """A whole `sorted by …` is read; False if none comes next."""
    mark = reader.at
    early = ""
    if not reader.takes(*SORTS):
        verb = reader.takes(*_SORT_VERBS)
        early = order_word(reader) if verb else ""
        behind = bool(early) and bool(reader.takes("order by", "order of", "by", "of", "on"))
        if verb and early and not behind and verb != "in" and reader.word() not in ("by",):
            return _default_sort(reader, schema, ask, early, mark)
        if not (verb and early and behind):
            reader.at = mark
            return _adjective_order(reader, schema, ask)
    if ask.keys:
        raise Refused("The order is said twice.", "Say `sorted by` once, with `then` between the columns.")
    _keys(reader, schema, ask, early)
    return True


def _default_sort(reader: Reader, schema: Schema, ask: Ask, order: str, mark: int) -> bool:
    """`sorted alphabetically`, `sorted chronologically`: the column is plain only if there is one."""
    reader.at = mark
    raise Refused("It is not said by which column to sort.", f"Name one: {listed(schema.columns)}.")


def _adjective_order(reader: Reader, schema: Schema, ask: Ask) -> bool:
    """`cheapest first`, `sorted from cheapest to most expensive`, `newest first`."""
    mark = reader.at
    if _measure_order(reader, schema, ask) or _column_order(reader, schema, ask):
        return True
    reader.at = mark
    reader.takes("sorted", "sort", "ordered", "order", "with the", "the")
    ranged = bool(reader.takes("from"))
    said = reader.takes(*SUPERLATIVES)
    if said and (reader.takes("first", "at the top", "on top") or (ranged and _to_opposite(reader, said))):
        if ask.keys:
            raise Refused("The order is said twice.", "Say it once.")
        found = direction(said, *SUPERLATIVES[said], schema)
        ask.keys.append((found.column, found.order))
        return True
    reader.at = mark
    return False


def _measure_order(reader: Reader, schema: Schema, ask: Ask) -> bool:
    """`average price per airline, highest first`: by the one thing that is worked out."""
    if len(ask.all_measures()) != 1 or ask.keys:
        return False
    reader.takes(",", "sorted", "ordered")
    order = order_word(reader)
    if not order or reader.word() in ("by", "of"):
        return False
    ask.keys.append((Column(ask.all_measures()[0].called(), "number"), order))
    return True


def _column_order(reader: Reader, schema: Schema, ask: Ask) -> bool:
    """`biggest amount first`, `latest departure first`."""
    reader.takes(",", "with the", "the")
    word = reader.word()
    order = {
        "biggest": "desc",
        "highest": "desc",
        "largest": "desc",
        "most": "desc",
        "latest": "desc",
        "newest": "desc",
        "lowest": "asc",
        "smallest": "asc",
        "least": "asc",
        "fewest": "asc",
        "earliest": "asc",
    }.get(word, "")
    if not order:
        return False
    found, size = column_at(reader, schema, 1)
    if not found or reader.word(size + 1) != "first" or ask.keys:
        return False
    column = sortable(only(found, word))
    if not column.ordered or (
        word in ("latest", "newest", "earliest") and column.kind == "number" and not yearly(column)
    ):
        return False
    reader.at += size + 2
    ask.keys.append((column, order))
    return True


def _to_opposite(reader: Reader, said: str) -> bool:
    mark = reader.at
    if reader.takes("to"):
        other = reader.takes(*SUPERLATIVES)
        if other and SUPERLATIVES[other][1] == -SUPERLATIVES[said][1]:
            return True
    reader.at = mark
    return False


def _keys(reader: Reader, schema: Schema, ask: Ask, early: str) -> None:
    """Every column to sort by, each with its own direction."""
    linked = False
    while True:
        reader.takes("the", "their", "its")
        bare = bool(ask.keys) and ask.keys[-1][1] == "asc" and linked
        before = reader.at
        _key(reader, schema, ask, early)
        if (
            bare
            and ask.keys[-1][1] == "desc"
            and not {t.text for t in reader.tokens[:before]} & {"ascending", "asc", "lowest"}
        ):
            raise Refused(
                "It is not plain whether the direction holds for one column or for both.",
                "Say it with each, or `then`.",
            )
        mark = reader.at
        linked = reader.word() == "and" and reader.word(1) not in ("then", "by")
        if not reader.takes(*_THENS):
            return
        found, size = column_at(reader, schema)
        if (
            not found
            or reader.word(size) in ("is", "over", "under", "above", "below", "between", "of")
            or _starts_clause(reader)
        ):
            reader.at = mark
            return


def _starts_clause(reader: Reader) -> bool:
    return reader.word() in (
        "show",
        "list",
        "only",
        "give",
        "take",
        "keep",
        "group",
        "count",
        "sort",
        "limit",
        "filter",
    )


def _key(reader: Reader, schema: Schema, ask: Ask, early: str) -> None:
    said = reader.takes(*SUPERLATIVES)
    if said and not column_at(reader, schema)[0]:
        reader.takes("first")
        found = direction(said, *SUPERLATIVES[said], schema)
        ask.keys.append((found.column, found.order))
        return
    if said:
        raise Refused(f"`{said}` does not go with a sort.", "Say ascending or descending.")
    column = sortable(takes_column(reader, schema))
    # `sorted by price, highest first`
    comma = reader.word() == "," and reader.word(1) in (
        "highest",
        "lowest",
        "descending",
        "ascending",
        "newest",
        "oldest",
        "largest",
        "smallest",
        "biggest",
        "latest",
        "most",
        "low",
        "high",
        "desc",
        "asc",
        "from",
    )
    mark = reader.at
    reader.at += comma
    order = order_word(reader, column)
    if comma and not order:
        reader.at = mark
    if order and early:
        raise Refused("The direction is said twice.", "Say ascending or descending once.")
    order = order or early or _named_order(reader, column, schema) or "asc"
    if any(column.name == known.name for known, _ in ask.keys):
        raise Refused(f"{column.name} is sorted by twice.", "Name it once.")
    ask.keys.append((column, order))


def _named_order(reader: Reader, column: Column, schema: Schema) -> str:
    """`by price, cheapest first`: an adjective of the same column."""
    mark = reader.at
    reader.takes(",", "with the", "from", "(")
    said = reader.takes(*SUPERLATIVES)
    if said and (reader.takes("first") or _to_opposite(reader, said)):
        found = direction(said, *SUPERLATIVES[said], schema)
        if found.column.name != column.name:
            raise Refused(f"`{said}` is about {found.column.name}, not {column.name}.", "Say ascending or descending.")
        return found.order
    reader.at = mark
    return ""


def sortable(column: Column) -> Column:
    """The column, if its order is the one people mean."""
    if column.kind == "numeric text":
        raise Refused(f"{column.name} holds numbers written as text.", "Turn them into numbers first.")
    if column.kind in ("mixed", "nested", "bool", "empty", "date text"):
        raise Refused(f"{column.name} cannot be put in an order people mean.", "Sort by another column.")
    if column.kind == "text":
        if looks_dated(column):
            raise Refused(f"{column.name} holds dates I cannot compare.", "Write dates like 2026-03-31 in the table.")
        texts = [form for forms in column.values.values() for form in forms]
        if sorted(texts) != sorted(texts, key=str.casefold) and len({t.casefold() for t in texts}) == len(texts):
            raise Refused(
                f"{column.name} mixes capitals, which sort before all small letters.", "Sort by another column."
            )
    return column


def superlative(reader: Reader, schema: Schema, ask: Ask) -> bool:
    """`cheapest`, `most recent`, `highest paid`: an adjective that says the order; False if none comes next."""
    said = next((phrase for phrase in SUPERLATIVES if reader.sees(phrase)), "")
    if not said:
        return False
    mark = reader.at
    reader.takes(said)
    found, size = column_at(reader, schema)
    if found and len(said.split()) == 1 and any(column.ordered for column in found):
        column = only([column for column in found if column.ordered], reader.rest(size))
        single = column.measure or column.kind in ("date", "time")
        if single and not _row_word(reader, schema, size):
            reader.at = mark
            return False
    if ask.superlative is not None:
        raise Refused("Two superlatives cannot both decide.", "Say one, and `sorted by` for the other.")
    ask.superlative = direction(said, *SUPERLATIVES[said], schema)
    reader.memo["superlative"] = True
    return True


def _row_word(reader: Reader, schema: Schema, size: int) -> bool:
    """Whether the words are the rows' own name rather than a column."""
    from laneway.lanes.pipeline.planner.nouns import noun_at

    noun = noun_at(reader, schema)
    return noun is not None and noun[0].role == "rows" and noun[1] == size


def top_by(reader: Reader, schema: Schema, ask: Ask) -> Direction:
    """The column behind `top 5 … by`, now read: the highest first unless said otherwise."""
    if reader.takes("highest", "most", "largest", "biggest", "greatest"):
        order = "desc"
    elif reader.takes("lowest", "least", "fewest", "smallest"):
        order = "asc"
    else:
        order = ""
    column = takes_column(reader, schema)
    if not column.ordered or column.identifies or {"rank", "ranking", "place", "position"} & set(column.words):
        raise Refused(f"{column.name} says nothing about which is on top.", "Name a column of numbers or dates.")
    order = order_word(reader, column) or order
    if ask.bottom:
        if order:
            raise Refused("The direction is said twice.", "Say `bottom` or the direction, not both.")
        order = "asc"
    return Direction(column, -1 if order == "asc" else 1)
