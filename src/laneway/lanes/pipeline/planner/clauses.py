"""The parts of a request that are neither condition, order nor aggregate: openings, numbers of rows, columns shown."""

from __future__ import annotations

from laneway.lanes.pipeline.planner.amounts import count
from laneway.lanes.pipeline.planner.ask import Ask
from laneway.lanes.pipeline.planner.columns import column_at, only, takes_column
from laneway.lanes.pipeline.planner.computing import default_name, expression
from laneway.lanes.pipeline.planner.lexicon import ARTICLES, ORDINALS
from laneway.lanes.pipeline.planner.measures import WORDS
from laneway.lanes.pipeline.planner.nouns import fits, noun_at, row_nouns
from laneway.lanes.pipeline.planner.reading import Reader
from laneway.lanes.pipeline.planner.refusal import Refused
from laneway.lanes.pipeline.planner.schema import Column, Schema
from laneway.lanes.pipeline.planner.spelling import name_parts, plural, stem

OPENERS = (
    "can you please", "could you please", "can you", "could you", "would you", "will you", "please", "hey", "hi", "hello", "ok",
    "i would like to see", "i would like to know", "i would like", "i want to see", "i want to know", "i want", "i need to see",
    "i need to know", "i need", "i am looking for", "looking for", "let me see", "let us see", "let me know", "show me", "show us",
    "show", "give me", "give us", "give", "list out", "list", "get me", "get", "find me", "find", "display", "print", "return",
    "fetch me", "fetch", "pull up", "bring up", "tell me", "what are", "what is", "what were", "what was", "which are", "which is",
    "which", "who are", "who is", "who has", "who have", "who", "what", "look up", "select", "search for", "see", "output", "report",
    "report me", "retrieve", "extract", "pick", "choose", "take", "keep", "grab", "filter to", "filter for", "filter",
    "narrow down to", "restrict to", "limit to", "reduce to", "just", "calculate", "compute", "work out", "determine",
    "figure out", "where are", "now", "then", "first",
)  # fmt: skip
_ASKING = ("which", "what", "who", "list")
_CLOSERS = ("in the table", "in this table", "in the data", "in the dataset", "in this data", "in the list", "in this list",
            "in our data", "in our list", "in total", "for me", "thanks", "thank you", "please", "altogether", "overall",
            "from the table", "from the data", "from the list", "of the table", "of the data", "in there", "in the file",
            "in all", "we have", "do we have", "do i have", "did we have", "have we got", "i have", "are there", "is there",
            "on record", "on file", "if you can", "if possible", "exist")  # fmt: skip
_BREAKS = ("show", "list", "give", "sort", "order", "rank", "arrange", "take", "keep", "group", "count", "return", "display",
           "limit", "filter", "select", "add", "compute", "calculate", "rename", "drop", "remove", "hide", "skip", "join", "print",
           "get", "pick", "only show", "just show", "only keep", "only return", "only list", "tell", "find", "summarize", "merge",
           "omit", "leave out", "exclude the column", "sample", "only display", "only give", "cut")  # fmt: skip


def opening(reader: Reader, ask: Ask) -> None:
    """Politeness and the verb that only says `show` are read."""
    while True:
        mark = reader.at
        if reader.word() in ("take", "keep", "first", "just", "which", "what") and reader.sees(f"{reader.word()} the first"):
            reader.at += 1
            continue
        if reader.word() == "first" and (reader.token(1) is None or reader.token(1).kind == "number"):  # type: ignore[union-attr]
            return
        said = reader.takes(*OPENERS)
        if not said:
            return
        if said == "compute" or said == "calculate":
            ask.opener = "compute"
        first = said.split()[0]
        if first in _ASKING:
            ask.opener = said
        reader.takes(",", ":")
        if reader.at == mark:
            return


def closers(reader: Reader, schema: Schema) -> bool:
    """Words around a request that say nothing about the table are read."""
    return bool(reader.takes(*_CLOSERS))


def breaks(reader: Reader, schema: Schema) -> tuple[int, bool] | None:
    """How many tokens part this clause from the next, and whether they say `then`; None if it goes on."""
    ahead, then = 0, False
    while reader.word(ahead) in (",", "and", "then", ";", ".", "after", "that", "finally", "next", "afterwards", "also", "?", "!"):
        then = then or reader.word(ahead) in ("then", "finally", "afterwards", "next") or reader.sees("after that", ahead) > 0
        ahead += 1
    if not ahead:
        return None
    if reader.word(ahead) in ("please", "now"):
        ahead += 1
    if any(reader.sees(verb, ahead) for verb in _BREAKS) and not _is_column(reader, schema, ahead):
        return ahead, then
    if then and reader.word(ahead) in ("the", "what", "how", "average", "total", "top", "first"):
        return ahead, then
    return None


def _is_column(reader: Reader, schema: Schema, ahead: int) -> bool:
    """Whether the verb is rather a column of that name in a list of columns."""
    found, size = column_at(reader, schema, ahead)
    after = reader.word(ahead + size)
    return bool(found) and size > 0 and after not in ("by", "the", "only", "me", "them", "how") and (
        reader.word(ahead) in {column.name.lower() for column in found}
    )


def amounts_of_rows(reader: Reader, schema: Schema, ask: Ask) -> bool:
    """`top 5`, `first ten`, `bottom 3`, `limit 20`, `skip the first 5`, `next 10`, `rows 11 to 20`, `the 5`."""
    return _skipped(reader, ask) or _ranged(reader, ask) or _numbered(reader, schema, ask)


def _skipped(reader: Reader, ask: Ask) -> bool:
    mark = reader.at
    if not reader.takes("skipping the first", "skip the first", "skipping", "skip", "after the first", "offset", "leaving out the first",
                        "ignoring the first", "ignore the first", "starting after the first", "without the first"):  # fmt: skip
        return False
    number = count(reader)
    if number is None:
        reader.at = mark
        return False
    if ask.offset:
        raise Refused("Rows are left out twice.", "Say once how many.")
    reader.takes("rows", "records", "entries", "results", "ones", "of them")
    reader.takes("and take the next", "and show the next", "and give me the next", "then take the next", ", then take the next",
                 "and show me the next", ", take the next", "and list the next", "and return the next", "then show the next",
                 "and then show the next", "and then take the next")  # fmt: skip
    ask.offset = number
    following = count(reader)
    if following is not None:
        _want(ask, following)
    return True


def _ranged(reader: Reader, ask: Ask) -> bool:
    mark = reader.at
    if reader.takes("rows", "records", "entries", "row"):
        reader.takes("from", "number", "numbers")
        first = count(reader)
        if first is not None and reader.takes("to", "through", "-"):
            last = count(reader)
            if last is not None and last >= first and not ask.offset:
                ask.offset = first - 1
                _want(ask, last - first + 1)
                ask.noun = ask.noun or "rows"
                return True
    reader.at = mark
    return False


def _numbered(reader: Reader, schema: Schema, ask: Ask) -> bool:
    mark = reader.at
    reader.skips(frozenset(("the", "only", "just", "any", "a")) if reader.word(1) in _HEADS or _number_next(reader) else frozenset())
    ordinal = ORDINALS.get(reader.word())
    if ordinal and reader.word(1) not in ("",):
        reader.at += 1
        ask.place = ordinal
        return True
    head = reader.takes("top", "bottom", "first", "limited to", "limit to", "limit", "at most", "up to", "maximum")
    if head in ("at most", "up to", "maximum", "limit", "limited to", "limit to"):
        reader.takes("the first", "the top", "to")
    number = count(reader)
    if number is None or (head in ("at most", "up to", "maximum") and not _rows_next(reader, schema)):
        reader.at = mark
        return False
    alone = not reader or reader.word() == ","
    if not head and (ask.superlative is None if alone else not _rows_next(reader, schema) and not _degree_next(reader)):
        reader.at = mark
        return False
    if reader.word() in ("%", "percent"):
        raise Refused("A share of the rows is not something I take.", "Say how many rows.")
    _want(ask, number)
    ask.firsts = ask.firsts or head in ("top", "first", "limit", "limited to")
    ask.bottom = head == "bottom"
    return True


_HEADS = frozenset(("top", "bottom", "first"))


def _number_next(reader: Reader) -> bool:
    token = reader.token(1)
    return token is not None and (token.kind == "number" or token.text in ORDINALS)


def _rows_next(reader: Reader, schema: Schema) -> bool:
    """Whether a noun, or the end, follows the number."""
    if not reader or reader.word() in (",", "of", "random", "distinct", "unique", "different"):
        return True
    from laneway.lanes.pipeline.planner.conditions import condition

    mark = reader.at
    try:
        for _ in range(3):
            noun = noun_at(reader, schema)
            if noun is not None:
                return noun[0].column is None or not noun[0].column.measure
            if condition(reader, schema) is None:
                return False
    except Refused:
        return True
    finally:
        reader.at = mark
    return False


def _degree_next(reader: Reader) -> bool:
    from laneway.lanes.pipeline.planner.dimensions import SUPERLATIVES

    return any(reader.sees(said) for said in SUPERLATIVES) or reader.word() in ("most", "least", "highest", "lowest", "fewest", "random")


def _want(ask: Ask, number: int) -> None:
    if ask.wanted is not None:
        raise Refused("How many rows are wanted is said twice.", "Say one number.")
    ask.wanted = number


def shown_columns(reader: Reader, schema: Schema, ask: Ask) -> bool:
    """`only show name and price`, `name and price of …`, `just the names`; False if no list of columns comes next."""
    mark = reader.at
    marked = bool(reader.takes("only show me", "only show", "show only", "only the columns", "only the", "only", "just show", "just the",
                               "just", "showing only", "showing", "with only the columns", "with just", "with only", "with the columns",
                               "the columns", "columns", "keep only", "but only show", "but only the", "displaying"))  # fmt: skip
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
            return None if not found else found
        said = " ".join(token.raw for token in reader.tokens[reader.at : reader.at + size])
        if len(columns) > 1 and not found and not marked:
            return None
        reader.at += size
        column = only(columns, said)
        if column.name in {known.name for known, _ in found}:
            raise Refused(f"{column.name} is named twice.", "Name each column once.")
        found.append((column, _renamed(reader, column)))
        mark = reader.at
        if not reader.takes(", and", "and", ",", "as well as", "plus", "along with", "together with"):
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


TOLD = frozenset("is contains containing includes starts starting begins ends ending = == equals :".split())
COMPARES = frozenset("is are was were over under above below between contains containing starts starting ends more less greater"
                      " at exactly equals = == > < >= <= before after since in not higher lower times plus minus divided * / + -"
                      " multiplied per first descending ascending".split())  # fmt: skip


def _accepted(reader: Reader, schema: Schema, ask: Ask, read: list[tuple[Column, str]], marked: bool) -> bool:
    """Whether the columns just read are to be shown, rather than compared, counted or listed once each."""
    after = reader.word()
    token = reader.token()
    if reader.takes("columns", "column", "fields", "field", "only"):
        return True
    if (after in COMPARES and not (after == "in" and len(read) > 1)) or (token is not None and token.kind in ("number", "quote")):
        return False
    if marked or len(read) > 1:
        return True
    if ask.noun:
        return False
    if after in ("of", "for", "from"):
        return _noun_behind(reader, schema)
    said = reader.tokens[reader.at - 1].text
    return token is None and not plural(said) and not ask.superlative and ask.wanted is None


def _noun_behind(reader: Reader, schema: Schema) -> bool:
    """`names of products`, `price for each flight`: after `of` come rows."""
    mark = reader.at
    reader.at += 1
    reader.skips(ARTICLES | {"all", "those", "every"})
    try:
        noun = noun_at(reader, schema)
        degree = _degree_next(reader)
        number = count(reader)
        from laneway.lanes.pipeline.planner.conditions import condition

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
    verb = reader.takes("drop the columns", "drop the column", "drop", "remove the columns", "remove the column", "remove", "hide the columns",
                        "hide", "omit", "leave out", "all columns except", "all columns but", "everything except", "everything but",
                        "every column except", "without the column", "without the columns", "excluding the column", "exclude the column",
                        "all the columns except", "without the")  # fmt: skip
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
    if not found or (verb == "without the" and not said) or (verb in ("drop", "remove", "hide") and reader and not said and _goes_on(reader)):
        reader.at = mark
        return False
    ask.dropped += found
    return True


def _goes_on(reader: Reader) -> bool:
    return reader.word() not in (",", "and", "then", ".", ";")


def computed(reader: Reader, schema: Schema, ask: Ask) -> bool:
    """`add a column total = price * quantity`, `price times quantity as total`; False if no sum comes next."""
    mark = reader.at
    verb = reader.takes("add a new column called", "add a column called", "add a new column named", "add a column named", "add a new column",
                        "add a column", "add the column", "add column", "add a", "add", "create a column called", "create a new column",
                        "create a column", "compute the", "compute", "calculate the", "calculate", "with a column", "include", "plus a column")  # fmt: skip
    name = _new_name(reader) if verb else ""
    read = expression(reader, schema)
    if read is None:
        reader.at = mark
        return False
    text, words = read
    token = reader.token(1)
    if reader.word() in ("as", "called", "named") and token is not None and token.kind in ("word", "quote") and not name:
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
    if not reader.takes("rename the columns", "rename the column", "rename columns", "rename column", "rename the", "rename"):
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


__all__ = ["WORDS", "name_parts"]
