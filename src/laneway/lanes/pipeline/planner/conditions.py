"""One condition of a request, read from the words that say it; what is not wholly understood is left unread."""

from __future__ import annotations

from laneway.lanes.pipeline.planner.amounts import amount
from laneway.lanes.pipeline.planner.bare import bare_date, bare_number, comparative
from laneway.lanes.pipeline.planner.columns import column_at, only
from laneway.lanes.pipeline.planner.comparing import DATES, INVERSE, Where, compared
from laneway.lanes.pipeline.planner.lexicon import ARTICLES
from laneway.lanes.pipeline.planner.naming import about_column, text_test
from laneway.lanes.pipeline.planner.phrasing import phrases, words
from laneway.lanes.pipeline.planner.reading import Reader
from laneway.lanes.pipeline.planner.refusal import Refused
from laneway.lanes.pipeline.planner.schema import Column, Schema
from laneway.lanes.pipeline.planner.valuing import equals, values_at
from laneway.lanes.pipeline.planner.verbs import verb_test

LIGHT = words(
    """
    that which who whose are is were was be the a an have has had having with where when it they do does did been
    being will only just those ones their i got
    """
)
_POSSESS = words(
    """
    with have has had having got
    """
)
_EXCEPT = phrases(
    """
    everything but | all but | anything but | except for | except | excluding | other than | apart from | but not |
    not including | besides | without
    """
)
_PREPOSITIONS = phrases(
    """
    from | to | in | at | by | on | for | with | of | into | going to | leaving from | leaving | departing from |
    arriving in | arriving at | based in | located in | living in | who live in | who lives in | made by |
    written by | directed by | working in | work in | works in | coming from | flown by | operated by |
    belonging to | assigned to | sold by | sold in | live in | lives in | out of | owned by | shipped to |
    produced by | published by
    """
)
_DIRECTION = {
    "going to": "to",
    "leaving from": "from",
    "leaving": "from",
    "departing from": "from",
    "arriving in": "to",
    "arriving at": "to",
    "coming from": "from",
    "into": "to",
    "out of": "from",
    "shipped to": "to",
}

_LACKS = phrases(
    """
    that are missing | are missing | is missing | missing | lacking | that lack | with missing | with no | no |
    that have no | which have no | who have no | have no | has no | having no | that has no | who has no |
    without any | without an | without a | without | with an empty | with a blank | with empty | with blank |
    that do not have | who do not have | do not have | does not have
    """
)


def condition(reader: Reader, schema: Schema) -> Where | None:
    """The condition that comes next, now read; None (and nothing read) if none does."""
    start = reader.at
    reader.memo["excepts"] = False
    found = _condition(reader, schema)
    if found is None:
        reader.at = start
    return found


def excepted(reader: Reader) -> bool:
    """Whether the condition read last takes rows away by `except` or its like."""
    return bool(reader.memo.get("excepts"))


def _condition(reader: Reader, schema: Schema) -> Where | None:
    direct = _direct(reader, schema)
    if direct is not None:
        return direct
    lead, negated = _lead(reader)
    if lead is None:
        return None
    reader.memo["excepts"] = bool(set(_EXCEPT).intersection(lead))
    possess = bool(_POSSESS.intersection(lead))
    if not negated and possess:
        number = _number_of_column(reader, schema)
        if number is not None:
            return number
    for attempt in (_missing, _truth, about_column, comparative, verb_test, bare_date, bare_number):
        mark = reader.at
        found = attempt(reader, schema, possess)
        if found is not None:
            return _negated(found, schema) if negated else found
        reader.at = mark
    return _valued(reader, schema, negated)


def _direct(reader: Reader, schema: Schema) -> Where | None:
    """Conditions that begin with a small word which others would skip."""
    mark = reader.at
    for attempt in (_missing, _truth):
        found = attempt(reader, schema, False)
        if found is not None:
            return found
        reader.at = mark
    return None


def _lead(reader: Reader) -> tuple[list[str] | None, bool]:
    """The small words before a condition, and whether one of them turns it round."""
    said: list[str] = []
    negated = False
    while True:
        word = reader.word()
        exception = reader.takes(*_EXCEPT)
        if exception or word in ("not", "non"):
            if negated:
                return None, False
            negated = True
            if not exception:
                reader.at += 1
        elif word in LIGHT:
            reader.at += 1
        else:
            return said, negated
        said.append(exception or word)


def _missing(reader: Reader, schema: Schema, possess: bool) -> Where | None:
    """`missing an email`, `without a rating`, `with no stops`."""
    said = reader.takes(*_LACKS)
    if not said:
        return None
    reader.skips(ARTICLES)
    found, size = column_at(reader, schema)
    if not found:
        return None
    column = only(found, reader.rest(size))
    reader.at += size
    reader.takes("value", "values", "set", "date" if column.kind == "date" else "value")
    if column.kind == "bool":
        return compared(column.name, "==", False)
    if column.kind == "number" and "missing" not in said and "lack" not in said and column.zeros:
        if column.nulls:
            raise Refused(
                f"`{said} {column.name}` may mean 0 or nothing at all.", f"Say {column.name} is 0, or missing."
            )
        return compared(column.name, "==", 0)
    return empty(column)


def empty(column: Column) -> Where:
    """The column says nothing: null, not there, or a text without a letter."""
    null = compared(column.name, "null")
    return {"or": [null, compared(column.name, "==", "")]} if column.blanks else null


def _truth(reader: Reader, schema: Schema, possess: bool) -> Where | None:
    """A column of true and false by its name alone: `active`, `not refundable`, `in stock`, `with breakfast`."""
    mark = reader.at
    wanted = True
    while (word := reader.word()) in (
        "that",
        "which",
        "who",
        "are",
        "is",
        "were",
        "was",
        "not",
        "non",
        "with",
        "have",
        "has",
    ):
        wanted = wanted is not (word in ("not", "non"))
        reader.at += 1
    reader.takes("a", "an")
    if reader.takes("out of"):
        found, size = _in_words(reader, schema)
        wanted = not wanted
    else:
        found, size = column_at(reader, schema)
        if not found:
            found, size = _opposite(reader, schema)
            wanted = not wanted if found else wanted
    if len(found) != 1 or found[0].kind != "bool" or reader.word(size) in ("is", "=", "==", "equals"):
        reader.at = mark
        return None
    said = reader.word(size - 1)
    if said in schema.vocabulary:
        raise Refused(f"`{said}` is a column and a value too.", f"Say {found[0].name} is true, for example.")
    reader.at += size
    return compared(found[0].name, "==", wanted)


def _in_words(reader: Reader, schema: Schema) -> tuple[list[Column], int]:
    words = ("in", reader.word())
    found = [column for column in schema.columns if column.kind == "bool" and column.words[-2:] == words]
    return found, 1


def _opposite(reader: Reader, schema: Schema) -> tuple[list[Column], int]:
    """`inactive` and `unpaid` are the other rows of `active` and `paid`."""
    word = reader.word()
    for prefix in ("in", "un", "non"):
        bare = word.removeprefix(prefix)
        if bare != word and len(bare) > 2 and word not in schema.vocabulary:
            found = [c for c in schema.columns if c.kind == "bool" and c.words[-1:] == (bare,) and len(c.words) <= 2]
            if found:
                return found, 1
    return [], 0


def _number_of_column(reader: Reader, schema: Schema) -> Where | None:
    """`with 2 stops`: a number and the column it is of."""
    mark = reader.at
    given = amount(reader, frozenset(w for c in schema.columns for w in (*c.words, *(f"{w}s" for w in c.words))))
    if given is not None:
        found, size = column_at(reader, schema)
        if len(found) == 1 and found[0].kind == "number":
            reader.at += size
            return compared(found[0].name, "==", given.in_unit(found[0].unit, found[0].name))
    reader.at = mark
    return None


def _valued(reader: Reader, schema: Schema, negated: bool) -> Where | None:
    """A value of the table, alone or behind a small word: `from Paris`, `in the Sales department`, `red`."""
    said = reader.takes(*_PREPOSITIONS)
    lead = _DIRECTION.get(said, said)
    if not negated and reader.takes("not"):
        negated = True
    reader.takes("either")
    reader.skips(ARTICLES)
    named = text_test(reader, schema, said) if said else None
    if named is not None:
        return named
    if said in ("in", "of", "with", "from", "by", "on") and not negated:
        mark = reader.at
        columns, _ = column_at(reader, schema)
        if len(columns) == 1 and columns[0].kind == "text":
            told = about_column(reader, schema, False)
            if told is not None:
                return told
        reader.at = mark
    read = values_at(reader, schema, lead)
    if read is None:
        return None
    column, found = read
    _trailing_column(reader, schema, column)
    return equals(column, found, negated=negated)


def _trailing_column(reader: Reader, schema: Schema, column: Column) -> None:
    """`the Sales department`, `high priority`: the column's own word behind its value is read with it."""
    columns, size = column_at(reader, schema)
    if len(columns) == 1 and columns[0].name == column.name and reader.word(size) not in ("is", "are"):
        reader.at += size


def _negated(found: Where, schema: Schema) -> Where:
    """The other rows; where an empty cell would be neither, Refused."""
    by = found.get("is")
    if by in INVERSE and not found.get("ignore_case"):
        column = schema.column(found["column"])
        if by == "==" and column is not None and column.nulls:
            raise Refused(f"Some rows have no {column.name}, and `not` may or may not mean them.", "Filter them first.")
        return {**found, "is": INVERSE[by]}
    if by in ("null", "not_null"):
        return {**found, "is": "not_null" if by == "null" else "null"}
    column = schema.column(found["column"]) if "column" in found else None
    if column is None or column.nulls:
        raise Refused("I cannot tell which rows `not` leaves.", "Say what the rows are to have instead.")
    return {"not": found}


__all__ = ["DATES", "condition", "empty"]
