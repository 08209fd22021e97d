"""Groups in words: `per airline`, `airlines with the highest average price`, `customers with more than 3 orders`."""

from __future__ import annotations

from laneway.lanes.pipeline.planner.amounts import amount
from laneway.lanes.pipeline.planner.ask import Ask, Measure
from laneway.lanes.pipeline.planner.columns import column_at, only
from laneway.lanes.pipeline.planner.comparing import compared, operator, suffix
from laneway.lanes.pipeline.planner.dimensions import Direction, yearly
from laneway.lanes.pipeline.planner.lexicon import ARTICLES
from laneway.lanes.pipeline.planner.measures import EXTREMES, WORDS, checked, count_of_rows
from laneway.lanes.pipeline.planner.ordering import order_word
from laneway.lanes.pipeline.planner.phrasing import phrases, words
from laneway.lanes.pipeline.planner.reading import Reader
from laneway.lanes.pipeline.planner.refusal import Refused
from laneway.lanes.pipeline.planner.schema import Column, Schema

_PER = phrases(
    """
    for each | for every | in each | in every | by each | of each | of every | per each | per | grouped by |
    group by | group them by | broken down by | split by | does each | does every | do each | has each | each |
    from each | every | within each | to each | at each
    """
)
_MOST = {
    "most": "desc",
    "highest": "desc",
    "largest": "desc",
    "biggest": "desc",
    "greatest": "desc",
    "best": "desc",
    "top": "desc",
    "fewest": "asc",
    "least": "asc",
    "lowest": "asc",
    "smallest": "asc",
    "worst": "asc",
}
_COUNTED = words(
    """
    unit quantity seat item piece hour minute day visit person guest page bed bedroom room stop km mile kg passenger
    share head size area weight distance duration
    """
)
_PERIODS = {"month": "left({}, 7)", "year": "year({})"}

_OWNS = phrases(
    """
    with | having | that have | that has | which have | which has | who have | who has | has | have | had
    """
)


def group_clause(reader: Reader, schema: Schema, ask: Ask) -> bool:
    """`per airline and class`, `by month`: what one row of the answer stands for; False if nothing of it comes next."""
    mark = reader.at
    said = reader.takes(*_PER)
    if not said and ask.grouped and not ask.entity:
        said = reader.takes("by", "across", "over each")
        if said and not _names_column(reader, schema):
            reader.at = mark
            return False
    if not said:
        return False
    if (
        not ask.grouped
        and ask.superlative is None
        and said not in ("grouped by", "group by", "group them by", "for each", "per", "for every")
    ):
        reader.at = mark
        return False
    if ask.group:
        raise Refused("The groups are said twice.", "Say `per` once, with `and` between the columns.")
    while True:
        reader.skips(ARTICLES)
        ask.group.append(_grouping(reader, schema, ask))
        if said in ("per", "each", "for each") and ask.group[-1].measure and not _classifies(ask.group[-1]):
            raise Refused(
                f"`{said} {ask.group[-1].name}` may mean groups or a division.",
                f"Say: grouped by {ask.group[-1].name}.",
            )
        between = reader.at
        if not reader.takes("and per", "and by", ", and", "and for each", "and", ","):
            break
        found, size = column_at(reader, schema)
        if (
            not found
            or (found[0].measure and not found[0].classes)
            or reader.word(size) in ("is", "over", "under", "above", "below")
        ):
            reader.at = between
            break
    reader.takes("have", "has", "there is")
    return True


def _classifies(column: Column) -> bool:
    """Whether the numbers are classes like stars, grades and years, rather than things there are several of."""
    return yearly(column) or (column.classes and _COUNTED.isdisjoint(column.words))


def _names_column(reader: Reader, schema: Schema) -> bool:
    mark = reader.at
    reader.skips(ARTICLES)
    found, _ = column_at(reader, schema)
    period = reader.word() in _PERIODS
    reader.at = mark
    return bool(found) or period


def _grouping(reader: Reader, schema: Schema, ask: Ask) -> Column:
    found, size = column_at(reader, schema)
    if not found and reader.word() in _PERIODS:
        return _period(reader, schema, ask)
    if not found:
        raise Refused(
            f"No column is called `{reader.rest(1)}` to group by.",
            f"Group by one of: {', '.join(c.name for c in schema.columns[:12])}.",
        )
    column = only(found, " ".join(token.raw for token in reader.tokens[reader.at : reader.at + size]))
    if column.kind in ("nested", "mixed"):
        raise Refused(f"{column.name} holds things that cannot be grouped.", "Group by another column.")
    reader.at += size
    return column


def _period(reader: Reader, schema: Schema, ask: Ask) -> Column:
    """`by month` of the one column of dates."""
    word = reader.word()
    dates = [column for column in schema.columns if column.kind == "date"]
    if len(dates) != 1 or schema.column(word) is not None:
        raise Refused(
            f"It is not plain which {word} is meant.", f"A column `{word}`, or one column of dates, would tell."
        )
    reader.at += 1
    name = f"`{dates[0].name}`" if not dates[0].name.isidentifier() else dates[0].name
    ask.made.append((word, _PERIODS[word].format(name)))
    return Column(word, "number" if word == "year" else "text")


def best_groups(reader: Reader, schema: Schema, ask: Ask) -> bool:
    """Behind the things of a column: `with the highest average price`, `with the most flights`, `by total amount`."""
    if ask.entity is None or ask.grouped:
        return False
    mark = reader.at
    if reader.takes("by"):
        order = _MOST.get(reader.word(), "")
        reader.at += bool(order)
        measure = _measure(reader, schema)
        if measure is None:
            reader.at = mark
            return False
        order = order_word(reader) or order
        if ask.bottom and order:
            raise Refused("The direction is said twice.", "Say `bottom` or the direction, not both.")
        return _decide(ask, measure, "asc" if ask.bottom else order or "desc")
    reader.takes(*_OWNS)
    reader.takes("the")
    order = _MOST.get(reader.word(), "")
    if not order:
        reader.at = mark
        return _having(reader, schema, ask)
    reader.at += 1
    measure = _measure(reader, schema)
    if measure is None:
        reader.at = mark
        return False
    return _decide(ask, measure, order)


def _decide(ask: Ask, measure: Measure, order: str) -> bool:
    if measure.do == "count":
        ask.counts = True
    else:
        ask.measures.append(measure)
    if ask.wanted is None and not ask.plural:
        ask.wanted, ask.implied = 1, True
    ask.superlative = Direction(Column(measure.called(), "number"), 1 if order == "desc" else -1)
    return True


def _measure(reader: Reader, schema: Schema) -> Measure | None:
    """`average price`, `total amount`, `number of flights`, `flights`."""
    mark = reader.at
    if reader.word() in WORDS:
        do = WORDS[reader.word()]
        reader.at += 1
        if reader.takes("number of") and count_of_rows(reader, schema):
            return Measure("count", None)
        reader.takes("of")
        found, size = column_at(reader, schema)
        if found:
            column = only(found, reader.rest(size))
            reader.at += size
            return Measure(do, checked(do, column))
        if do == "sum" and count_of_rows(reader, schema):
            return Measure("count", None)
        reader.at = mark
        return None
    return Measure("count", None) if count_of_rows(reader, schema) else None


def _having(reader: Reader, schema: Schema, ask: Ask) -> bool:
    """`with more than 3 orders`, `with an average salary over 50000`."""
    mark = reader.at
    reader.takes(*_OWNS)
    reader.skips(ARTICLES)
    by = operator(reader)
    given = amount(reader) if by else None
    if given is not None and count_of_rows(reader, schema):
        ask.counts = True
        ask.having.append(compared("count", by, given.value))
        return True
    reader.at = mark
    reader.takes("with", "having", "whose", "that have", "where the", "where")
    reader.skips(ARTICLES)
    measure = _measure(reader, schema) if reader.word() in WORDS else None
    if measure is not None:
        reader.takes("is", "of", "are", "that is")
        by = operator(reader)
        given = amount(reader)
        after = suffix(reader) if given is not None and not by else ""
        if given is not None and (by or after):
            unit = measure.column.unit if measure.column else ""
            value = given.in_unit(unit, measure.called())
            _decide_having(ask, measure)
            ask.having.append(compared(measure.called(), by or after, value))
            return True
    reader.at = mark
    return False


def _decide_having(ask: Ask, measure: Measure) -> None:
    if measure.do == "count":
        ask.counts = True
    else:
        ask.measures.append(measure)


def row_superlative(reader: Reader, schema: Schema, ask: Ask) -> bool:
    """`with the highest rating`, `highest price`, `most stops`: an order, or with no rows named an aggregate."""
    mark = reader.at
    linked = bool(reader.takes(*_OWNS))
    reader.takes("the")
    word = reader.word()
    if word not in _MOST or word in ("top", "best", "worst"):
        reader.at = mark
        return False
    reader.at += 1
    found, size = column_at(reader, schema)
    numeric = [column for column in found if column.measure or column.kind in ("date", "time")]
    if not numeric:
        reader.at = mark
        return False
    column = only(numeric, " ".join(token.raw for token in reader.tokens[reader.at : reader.at + size]))
    said = reader.word(size - 1)
    reader.at += size
    after = reader.word()
    if after == "first":
        reader.at = mark
        return False
    if ask.entity is not None:
        raise Refused(
            f"`{word} {said}` of a {ask.entity.name} may be its one row, its sum or its average.",
            "Say: highest average …",
        )
    if linked or ask.noun == "rows":
        return _ordering(ask, column, _MOST[word], linked)
    return _extreme(reader, schema, ask, column, word, said)


def _ordering(ask: Ask, column: Column, order: str, linked: bool) -> bool:
    if ask.superlative is not None:
        raise Refused("Two superlatives cannot both decide.", "Say one, and `sorted by` for the other.")
    if ask.plural and ask.wanted is None and ask.noun == "rows":
        raise Refused("It is not said how many rows.", "Say a number: the 5 with the highest …")
    ask.superlative = Direction(column, 1 if order == "desc" else -1)
    if ask.wanted is None:
        ask.wanted, ask.implied = 1, True
    return True


def _extreme(reader: Reader, schema: Schema, ask: Ask, column: Column, word: str, said: str) -> bool:
    """`what is the highest price`: the value itself; `highest price flights`: those rows."""
    from laneway.lanes.pipeline.planner.nouns import noun_at
    from laneway.lanes.pipeline.planner.spelling import plural

    if plural(said) or ask.wanted is not None:
        noun = noun_at(reader, schema)
        if noun is None or noun[0].role != "rows":
            raise Refused(
                f"`{word} {said}` may mean rows or values.", "Say: the 3 rows with the highest …, for example."
            )
    noun = noun_at(reader, schema) if reader else None
    if noun is not None and noun[0].role == "rows":
        ask.superlative = Direction(column, 1 if _MOST[word] == "desc" else -1)
        return True
    if word not in EXTREMES or not column.measure:
        raise Refused(f"`{word} {said}` may mean a row or a value.", "Say: the row with the highest …, or: max of …")
    ask.measures.append(Measure(EXTREMES[word], column))
    return True
