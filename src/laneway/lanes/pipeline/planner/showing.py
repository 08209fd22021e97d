"""Columns in words: which are shown, left out, renamed, or worked out anew."""

from __future__ import annotations

from laneway.lanes.pipeline.planner.amounts import count
from laneway.lanes.pipeline.planner.ask import Ask
from laneway.lanes.pipeline.planner.clauses import degree_next
from laneway.lanes.pipeline.planner.columns import column_at, only, takes_column
from laneway.lanes.pipeline.planner.computing import default_name, expression
from laneway.lanes.pipeline.planner.conditions import condition
from laneway.lanes.pipeline.planner.lexicon import ARTICLES
from laneway.lanes.pipeline.planner.nouns import fits, noun_at, row_nouns
from laneway.lanes.pipeline.planner.phrasing import phrases, words
from laneway.lanes.pipeline.planner.reading import Reader
from laneway.lanes.pipeline.planner.refusal import Refused
from laneway.lanes.pipeline.planner.schema import Column, Schema
from laneway.lanes.pipeline.planner.spelling import plural, stem

_SHOW = phrases(
    """
    only show me | only show | show only | only the columns | only the | only | just show | just the | just |
    showing only | showing | with only the columns | with just | with only | with the columns | the columns |
    columns | keep only | but only show | but only the | displaying
    """
)
_BESIDES = phrases(
    """
    , and | and | , | as well as | plus | along with | together with
    """
)
_DROPS = phrases(
    """
    drop the columns | drop the column | drop | remove the columns | remove the column | remove | hide the columns |
    hide | omit | leave out | all columns except | all columns but | everything except | everything but |
    every column except | without the column | without the columns | excluding the column | exclude the column |
    all the columns except | without the
    """
)
_ADDS = phrases(
    """
    add a new column called | add a column called | add a new column named | add a column named | add a new column |
    add a column | add the column | add column | add a | add | create a column called | create a new column |
    create a column | compute the | compute | calculate the | calculate | with a column | include | plus a column
    """
)
TOLD = words(
    """
    is contains containing includes starts starting begins ends ending = == equals :
    """
)
COMPARES = words(
    """
    is are was were over under above below between contains containing starts starting ends more less greater at
    exactly equals = == > < >= <= before after since in not higher lower times plus minus divided * / + - multiplied
    per first descending ascending
    """
)


def shown_columns(reader: Reader, schema: Schema, ask: Ask) -> bool:
    """`only show name and price`, `name and price of …`, `just the names`; False if no list of columns comes next."""
    mark = reader.at
    marked = bool(reader.takes(*_SHOW))
    if ask.columns or ask.measures:
        reader.at = mark
        return False
    reader.takes("the columns", "columns", "their", "the", "its")
    read = _list(reader, schema, ask, marked)
    if read is None or not _accepted(reader, schema, ask, read, marked):
        reader.at = mark
        return False
    ask.columns = read
    return True


def _list(reader: Reader, schema: Schema, ask: Ask, marked: bool) -> list[tuple[Column, str]] | None:
    found: list[tuple[Column, str]] = []
    _skip_owner(reader, schema)
    while True:
        reader.takes("their", "the", "its")
        columns, size = column_at(reader, schema)
        if not columns or _of_rows(reader, schema, columns, size, marked or bool(found)):
            return found or None
        said = " ".join(token.raw for token in reader.tokens[reader.at : reader.at + size])
        if len(columns) > 1 and not found and not marked:
            return None
        reader.at += size
        column = only(columns, said)
        if column.name in {known.name for known, _ in found}:
            raise Refused(f"{column.name} is named twice.", "Name each column once.")
        found.append((column, _renamed(reader, column)))
        mark = reader.at
        if not reader.takes(*_BESIDES):
            return found
        if not column_at(reader, schema)[0] and reader.word() not in ("the", "their"):
            reader.at = mark
            return found


def _skip_owner(reader: Reader, schema: Schema) -> None:
    """`product names`: what the rows are, before a column of theirs."""
    word = stem(reader.word())
    if word and (word in row_nouns(schema) or fits(word, schema)) and not column_at(reader, schema)[1] > 1:
        ahead = 2 if reader.word(1) == "'s" else 1
        found, _ = column_at(reader, schema, ahead)
        if found and not column_at(reader, schema)[0]:
            reader.at += ahead


def _of_rows(reader: Reader, schema: Schema, columns: list[Column], size: int, listing: bool) -> bool:
    """Whether the word rather means the rows themselves."""
    if listing:
        return False
    try:
        noun = noun_at(reader, schema)
    except Refused:
        return True
    return noun is not None and noun[0].role == "rows" and noun[1] >= size


def _renamed(reader: Reader, column: Column) -> str:
    if reader.word() in ("as", "called"):
        token = reader.token(1)
        if token is not None and token.kind in ("word", "quote"):
            reader.at += 2
            return token.raw
    return column.name


def _accepted(reader: Reader, schema: Schema, ask: Ask, read: list[tuple[Column, str]], marked: bool) -> bool:
    """Whether the columns just read are to be shown, rather than compared, counted or listed once each."""
    after = reader.word()
    token = reader.token()
    if reader.takes("columns", "column", "fields", "field", "only"):
        return True
    if (after in COMPARES and not (after == "in" and len(read) > 1)) or (
        token is not None and token.kind in ("number", "quote")
    ):
        return False
    if marked or len(read) > 1:
        if after in ("of", "for", "from"):
            _noun_behind(reader, schema)
        return True
    if ask.noun:
        return False
    if after in ("of", "for", "from"):
        return _noun_behind(reader, schema)
    said = reader.tokens[reader.at - 1].text
    if token is None and read[0][0].kind == "bool":
        raise Refused(
            f"`{said}` may mean the column or the rows where it is true.", f"Say: {said} rows, or: the {said} column."
        )
    return token is None and not plural(said) and not ask.superlative and ask.wanted is None


def _noun_behind(reader: Reader, schema: Schema) -> bool:
    """`names of products`, `price for each flight`: after `of` come rows."""
    mark = reader.at
    reader.at += 1
    reader.skips(ARTICLES | {"all", "those", "every"})
    try:
        noun = noun_at(reader, schema)
        degree = degree_next(reader)
        number = count(reader)
        if number is not None and noun_at(reader, schema) is None and not degree_next(reader):
            return False

        valued = condition(reader, schema) is not None
    except Refused:
        return True
    finally:
        reader.at = mark
    if (noun is not None and noun[0].role == "rows") or degree or number is not None or valued:
        reader.at += 1
        return True
    return False


def dropped_columns(reader: Reader, schema: Schema, ask: Ask) -> bool:
    """`without the id column`, `drop email and phone`, `all columns except price`."""
    mark = reader.at
    verb = reader.takes(*_DROPS)
    if not verb:
        return False
    reader.takes("the columns", "the column", "the", "for", "columns", "column")
    found: list[Column] = []
    while True:
        columns, size = column_at(reader, schema)
        if not columns:
            break
        found.append(only(columns, reader.rest(size)))
        reader.at += size
        between = reader.at
        if not reader.takes(", and", "and", ",") or not column_at(reader, schema)[0]:
            reader.at = between
            break
    said = bool(reader.takes("columns", "column", "field", "fields"))
    if (
        not found
        or (verb == "without the" and not said)
        or (verb in ("drop", "remove", "hide") and reader and not said and _goes_on(reader))
    ):
        reader.at = mark
        return False
    ask.dropped += found
    return True


def _goes_on(reader: Reader) -> bool:
    return reader.word() not in (",", "and", "then", ".", ";")


def computed(reader: Reader, schema: Schema, ask: Ask) -> bool:
    """`add a column total = price * quantity`, `price times quantity as total`; False if no sum comes next."""
    mark = reader.at
    verb = reader.takes(*_ADDS)
    name = _new_name(reader) if verb else ""
    read = expression(reader, schema)
    if read is None:
        reader.at = mark
        return False
    text, words = read
    token = reader.token(1)
    if (
        reader.word() in ("as", "called", "named")
        and token is not None
        and token.kind in ("word", "quote")
        and not name
    ):
        reader.at += 2
        name = token.raw
        reader.takes("column")
    if not (name or verb or ask.opener == "compute"):
        reader.at = mark
        return False
    name = name or default_name(words)
    if schema.column(name) is not None:
        raise Refused(f"There is a column {name} already.", "Give the new one another name.")
    ask.made.append((name, text))
    reader.takes("for each row", "per row", "for every row", "to each row", "for each one")
    return True


def _new_name(reader: Reader) -> str:
    """`total =`, `total as`, `"gross price":` and the like: what the new column is called."""
    token = reader.token()
    after = reader.word(1)
    if token is None or token.kind not in ("word", "quote"):
        return ""
    if after in ("=", ":", "as"):
        reader.at += 2
        return token.raw
    if reader.word(1) == "equal" and reader.word(2) == "to":
        reader.at += 3
        return token.raw
    return ""


def renames(reader: Reader, schema: Schema, ask: Ask) -> bool:
    """`rename price to cost and qty to pieces`."""
    if not reader.takes(
        "rename the columns", "rename the column", "rename columns", "rename column", "rename the", "rename"
    ):
        return False
    while True:
        column = takes_column(reader, schema)
        reader.takes("column")
        token = reader.token(1)
        if not reader.takes("to", "as", "into") or token is None or token.kind not in ("word", "quote"):
            raise Refused(f"It is not said what {column.name} is to be called.", "Say: rename price to cost.")
        reader.at += 1
        if schema.column(token.raw) is not None:
            raise Refused(f"There is a column {token.raw} already.", "Choose another name.")
        ask.renamed[column.name] = token.raw
        mark = reader.at
        if not reader.takes(", and", "and", ",") or not column_at(reader, schema)[0]:
            reader.at = mark
            return True
