"""Two tables in one request: `join orders with customers on customer_id`, `orders without a customer`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from laneway.lanes.pipeline.planner.ask import Ask, Step
from laneway.lanes.pipeline.planner.columns import column_at, only
from laneway.lanes.pipeline.planner.lexicon import ARTICLES
from laneway.lanes.pipeline.planner.nouns import fits, noun_at
from laneway.lanes.pipeline.planner.phrasing import phrases, words
from laneway.lanes.pipeline.planner.reading import Reader
from laneway.lanes.pipeline.planner.refusal import Refused
from laneway.lanes.pipeline.planner.schema import Column, Schema
from laneway.lanes.pipeline.planner.spelling import name_words, plural, stem

Schemas = Mapping[str, Schema]
MAIN = "data"
"""What the table is called that came with the request without a name."""
_SECOND = words(
    """
    join joined merge merged combine combined with without and to no match matched in add per each by have has
    """
)
"""Behind these words a table is not the one the request starts from."""
_LINKS = phrases(
    """
    left joined with | left joined to | left join with | left join | inner joined with | joined with | joined to |
    inner join with | inner join | join with | join to | join | merged with | merge with | combined with |
    combine with | matched with | matched to | with matching
    """
)
_NONE = phrases(
    """
    that have no matching | with no matching | without a matching | without matching | that have no | who have no |
    which have no | that has no | who has no | with no | without any | without a | without an | without | not in |
    that are not in | who are not in | missing from | that do not have any | who do not have any |
    that do not have a | who do not have a | that do not have an | have no | has no | do not have any |
    not matching any | with no match in | that have no match in | without a match in | which are not in
    """
)

_ADDS = phrases(
    """
    with | add | including | include | plus | and | together with | along with | show | attach
    """
)
_BY_KEY = phrases(
    """
    on the | on | by the | by | using the | using | via | over | matching | through the | through
    """
)


def table_at(reader: Reader, schemas: Schemas, ahead: int = 0) -> tuple[str, int]:
    """The table whose name comes next, and how many tokens it is; ('', 0) if none does."""
    for name in schemas:
        words = name_words(name)[0]
        token = reader.token(ahead)
        if token is not None and token.raw == name:
            return name, 1
        if words and all(stem(reader.word(ahead + place)) == word for place, word in enumerate(words)):
            return name, len(words)
    return "", 0


def source(reader: Reader, schemas: Schemas) -> str:
    """The table the request starts from: the one it names first, or the only one; Refused if it names none."""
    if len(schemas) == 1:
        return next(iter(schemas))
    for mark in range(len(reader.tokens)):
        if reader.tokens[mark].text == "to" and reader.tokens[0].text in ("add", "attach", "include"):
            behind = Reader(reader.tokens[mark + 1 :])
            behind.skips(ARTICLES | {"all", "every"})
            name, _ = table_at(behind, schemas)
            if name:
                return name
    for mark in range(len(reader.tokens)):
        name, size = table_at(reader, schemas, mark)
        if name:
            before = reader.word(mark - 1) if mark else ""
            if before in ("without", "no", "per", "each", "by") or reader.word(mark + size) == "'s":
                continue
            second = MAIN in schemas and any(token.text in _SECOND for token in reader.tokens[:mark])
            return MAIN if second else name
    if MAIN in schemas:
        return MAIN
    raise Refused("It is not said which table is meant.", f"Name one of: {', '.join(schemas)}.")


def join_clause(reader: Reader, schema: Schema, schemas: Schemas, ask: Ask) -> Schema | None:
    """A join that comes next is read, and the table as it is after it returned; None if no other table comes next."""
    if len(schemas) < 2:
        return None
    for attempt in (_imperative, _linked, _anti, _added):
        mark = reader.at
        joined = attempt(reader, schema, schemas, ask)
        if joined is not None:
            return joined
        reader.at = mark
    _refuse_other_table(reader, schema, schemas)
    return None


def _refuse_other_table(reader: Reader, schema: Schema, schemas: Schemas) -> None:
    """`orders with customers` names a table, and no column: what it is to do here is not said."""
    ahead = 0
    while reader.word(ahead) in (
        "with",
        "having",
        "have",
        "has",
        "that",
        "which",
        "who",
        "of",
        "and",
        "the",
        "their",
        "for",
        "from",
    ):
        ahead += 1
    other, size = table_at(reader, schemas, ahead)
    if ahead and other and other != schema.name and plural(reader.word(ahead + size - 1)):
        raise Refused(
            f"It is not said how {other} belongs here.",
            f"Say: join {schema.name} with {other} on …, or: without {other}.",
        )


def _imperative(reader: Reader, schema: Schema, schemas: Schemas, ask: Ask) -> Schema | None:
    """`join orders with customers on customer_id`."""
    verb = reader.takes("left join", "inner join", "join", "merge", "combine", "match")
    if not verb:
        return None
    reader.skips(ARTICLES)
    left, size = table_at(reader, schemas)
    if not left and schema.name == MAIN:
        noun = noun_at(reader, schema)
        left, size = (MAIN, noun[1]) if noun is not None and noun[0].role == "rows" else ("", 0)
    if not left:
        return None
    reader.at += size
    reader.takes("table", "data")
    if not reader.takes("with", "and", "to", "on to", "into", ","):
        return _to(reader, schema, schemas, ask, left, verb) if left != schema.name else None
    reader.skips(ARTICLES)
    right, size = table_at(reader, schemas)
    if not right or left == right or left != schema.name:
        return None
    reader.at += size
    reader.takes("table", "data")
    return _keyed(reader, schema, schemas[right], ask, "left" if "left" in verb else "inner")


def _to(reader: Reader, schema: Schema, schemas: Schemas, ask: Ask, right: str, verb: str) -> Schema:
    return _keyed(reader, schema, schemas[right], ask, "left" if "left" in verb else "inner")


def _linked(reader: Reader, schema: Schema, schemas: Schemas, ask: Ask) -> Schema | None:
    """`orders joined with customers on customer_id`."""
    reader.takes(",", "and")
    link = reader.takes(*_LINKS)
    if not link:
        return None
    reader.skips(ARTICLES | {"their"})
    right, size = table_at(reader, schemas)
    if not right or right == schema.name:
        return None
    reader.at += size
    reader.takes("table", "data")
    return _keyed(reader, schema, schemas[right], ask, "left" if link.startswith("left") else "inner")


def _anti(reader: Reader, schema: Schema, schemas: Schemas, ask: Ask) -> Schema | None:
    """`orders without a customer`, `customers who have no orders`."""
    if not reader.takes(*_NONE):
        return None
    reader.skips(ARTICLES)
    right, size = table_at(reader, schemas)
    if not right or right == schema.name or column_at(reader, schema)[1] > size:
        return None
    reader.at += size
    reader.takes("table", "data", "at all")
    return _keyed(reader, schema, schemas[right], ask, "anti")


def _added(reader: Reader, schema: Schema, schemas: Schemas, ask: Ask) -> Schema | None:
    """`with the customer's name`, `add the customer's name and city`."""
    if not reader.takes(*_ADDS):
        return None
    reader.skips(ARTICLES)
    right, size = table_at(reader, schemas)
    if not right or right == schema.name:
        return None
    reader.at += size
    reader.takes("'s")
    other = schemas[right]
    wanted: list[Column] = []
    while True:
        found, size = column_at(reader, other)
        if not found:
            return None
        wanted.append(only(found, reader.rest(size)))
        reader.at += size
        mark = reader.at
        if not reader.takes(", and", "and", ",") or not column_at(reader, other)[0]:
            reader.at = mark
            break
    if reader.takes("to"):
        reader.skips(ARTICLES | {"all", "every"})
        here, size = table_at(reader, schemas)
        noun = noun_at(reader, schema) if not here and schema.name == MAIN else None
        if noun is not None and noun[0].role == "rows":
            here, size = MAIN, noun[1]
        if here != schema.name:
            return None
        reader.at += size
        ask.noun = "rows"
    joined = _keyed(reader, schema, other, ask, "left")
    names = {column.name for column in wanted}
    kept = [column for column in joined.columns if schema.column(column.name) or _origin(column.name, other) in names]
    ask.joins.append({"do": "select", "columns": [column.name for column in kept]})
    return joined.with_columns(kept)


def _origin(name: str, other: Schema) -> str:
    return name.removeprefix(f"{other.name}_") if other.column(name) is None else name


def _keyed(reader: Reader, left: Schema, right: Schema, ask: Ask, how: str) -> Schema:
    """The join by the key that is named, or by the only one that can be meant."""
    reader.takes("where they match", "that match")
    ours, theirs = _said_key(reader, left, right) if reader.takes(*_BY_KEY) else _only_key(left, right)
    same = ours.name == theirs.name
    step: Step = {"do": "join", "table": right.name, "how": how}
    step |= {"on": [ours.name]} if same else {"left_on": [ours.name], "right_on": [theirs.name]}
    if ours.kind != theirs.kind:
        raise Refused(
            f"{ours.name} and {right.name}.{theirs.name} hold different kinds of values.", "Join by another column."
        )
    ask.joins.append(step)
    if how == "anti":
        return left
    names = {column.name for column in left.columns}
    more = [column for column in right.columns if not (same and column.name == theirs.name)]
    added = [
        replace(one, name=f"{right.name}_{one.name}" if one.name in names else one.name, unique=False) for one in more
    ]
    added = [replace(one, nulls=one.nulls + (how == "left")) for one in added]
    return left.with_columns([*(replace(one, unique=False) for one in left.columns), *added])


def _said_key(reader: Reader, left: Schema, right: Schema) -> tuple[Column, Column]:
    reader.takes("their", "same", "common", "shared")
    ours, size = column_at(reader, left)
    theirs, other_size = column_at(reader, right)
    if len(ours) == 1 and len(theirs) == 1 and size == other_size:
        reader.at += size
        mark = reader.at
        if reader.takes("=", "==", "equals"):
            second, size = column_at(reader, right)
            if len(second) == 1:
                reader.at += size
                return ours[0], second[0]
            reader.at = mark
        reader.takes("column", "field", "key")
        return ours[0], theirs[0]
    if len(ours) == 1:
        reader.at += size
        mark = reader.at
        if reader.takes("=", "==", "equals", "and", "to"):
            theirs, other_size = column_at(reader, right)
            if len(theirs) == 1:
                reader.at += other_size
                return ours[0], theirs[0]
        reader.at = mark
        key = _id_of(right, ours[0])
        if key is not None:
            return ours[0], key
    raise Refused(
        "The key is not a column of both tables.", f"{left.name}: {_names(left)}; {right.name}: {_names(right)}."
    )


def _id_of(schema: Schema, column: Column) -> Column | None:
    """`id` of customers, for a `customer_id` elsewhere."""
    if column.words[1:] != ("id",):
        return None
    words = name_words(schema.name)[0]
    told = fits(column.words[0], schema) if schema.name == MAIN else bool(words) and column.words[0] == words[-1]
    return schema.column("id") if told else None


def _only_key(left: Schema, right: Schema) -> tuple[Column, Column]:
    shared = [
        (one, two)
        for one in left.columns
        for two in right.columns
        if one.name == two.name and one.identifies and len(one.words) > 1
    ]
    pairs = [(one, key) for one in left.columns if (key := _id_of(right, one)) is not None]
    back = [(key, one) for one in right.columns if (key := _id_of(left, one)) is not None]
    found = shared + pairs + back
    if len(found) != 1:
        raise Refused(
            "It is not said by which column the tables belong together.",
            f"Say: on …; {right.name} has {_names(right)}.",
        )
    return found[0]


def _names(schema: Schema) -> str:
    return ", ".join(column.name for column in schema.columns[:10])
