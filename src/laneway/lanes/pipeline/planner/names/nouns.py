"""What a noun stands for: the rows of the table, or the things a column names."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from laneway.lanes.pipeline.planner.names.columns import best
from laneway.lanes.pipeline.planner.names.owners import UNTOLD, heads, key_nouns, kin, names_rows, row_nouns
from laneway.lanes.pipeline.planner.phrasing import words
from laneway.lanes.pipeline.planner.refusal import Doubt, Refusal
from laneway.lanes.pipeline.planner.schema import Column, Schema, entity_word, entity_words
from laneway.lanes.pipeline.planner.spelling import name_words, participle, plural, root, stem
from laneway.lanes.pipeline.planner.words.kinds import GOODS, KIN, PERSONAL, PERSONS, TYPICAL, WIDER
from laneway.lanes.pipeline.planner.words.naming import EVENT_TAILS, EVENTS
from laneway.lanes.pipeline.planner.words.small import FILLERS, GENERIC, VAGUE

NO_NOUNS = FILLERS | words(
    """
    of in on at by to from for with and or but not per than then as if only just under over above below between
    before after since until while during each any more less most least fewer some no none never always when where
    how why whose whom show list give get find sort order count average total sum minimum maximum mean median first
    last top bottom next rest else other others same such both either neither have has had having can could would
    should will may might must without within except excluding including about around near versus vs compared
    against sorted ordered grouped plus minus times yes less this highest lowest
    red blue green yellow purple orange black white brown grey gray pink hours minutes weeks months years
    """
)
"""Words that never name what the rows are."""
ATTRIBUTES = words(
    """
    name surname title label address email phone number code id description subject hostname url link isbn sku barcode
    iban
    username login nickname headline caption remark note comment headcount
    """
)
"""What things have, and are not."""

_FEW = 60
"""A column with more texts than this names things, and does not part them into kinds."""


@dataclass(frozen=True)
class Rows:
    """The rows of the table, and whether the noun says more than one; `told` if the table itself knows the noun."""

    plural: bool
    told: bool = True
    word: str = ""


@dataclass(frozen=True)
class Unsure(Doubt):
    """A noun for all rows that is also what only some of them are: `cars` of a table cars with a type car."""

    plural: bool
    told: bool = True
    word: str = ""


@dataclass(frozen=True)
class Things:
    """The things that a column names, and whether the noun says more than one; `called` if it says their names."""

    column: Column
    plural: bool
    called: bool = False


def rows_by(word: str, schema: Schema) -> tuple[Rows, float] | None:
    """The rows, if a noun of one word may mean them, and how far-fetched that is."""
    single = stem(word)
    if single in GENERIC and single not in schema.words:
        return Rows(plural(word) or word in ("data", "dataset", "table", "list", "whoever"), True, single), 0.0
    if "_" in word and word == schema.name.lower():
        return Rows(plural(word), True, name_words(word)[0][-1]), 0.0
    if word in VAGUE or not word.isalpha():
        return None
    if _table_named(single, schema) or names_rows(single, schema):
        return Rows(plural(word), True, single), 0.0
    if any(kin(single, name) for name in row_nouns(schema)):
        return Rows(plural(word), True, single), 0.1
    if typical(single, schema) or _such_goods(single, schema):
        return Rows(plural(word), True, single), 0.2
    if any(single in family and any(typical(one, schema) for one in family) for family in KIN[1:]):
        return Rows(plural(word), True, single), 0.3
    if single == "person" and any(typical(one, schema) for one in KIN[0]):
        return Rows(plural(word), True, single), 0.2
    measured = any(column.kind == "date" for column in schema.columns) and any(
        column.measure for column in schema.columns
    )
    if single in ("reading", "measurement", "observation") and measured and not key_nouns(schema):
        return Rows(plural(word), True, single), 0.4
    dates = [column for column in schema.columns if column.kind == "date"]
    if (
        single == "day"
        and len(dates) == 1
        and dates[0].unique
        and not any(column.unit == "day" for column in schema.columns)
    ):
        return Rows(plural(word), True, single), 0.5
    if single == "person" and _about_persons(schema):
        return Rows(True, False, single), 0.4
    if plural(word) and word not in NO_NOUNS and not participle(word) and heads(single, schema):
        # Each rental is of one car.
        return Rows(True, True, single), 0.4
    if word in NO_NOUNS or single in _KINDS_BY_SIGN or foreign(single, schema) or participle(word):
        return None
    return Rows(plural(word), False, single), 0.8


def only_some(word: str, schema: Schema) -> list[Column]:
    """The columns that hold the noun as a value: the largest apartment is none of the houses."""
    said = schema.singulars.get(stem(word), frozenset()) | ({word} & schema.vocabulary.keys())
    held = dict.fromkeys(column for value in said for column in schema.vocabulary[value])
    return [column for column in held if len(column.values) > 1 or column.nulls]


def told_apart(single: str, schema: Schema) -> bool:
    """Whether a column parts such things from others: flats are only some of rows that are studios or houses."""
    family = frozenset[str]().union(*(one for one in KIN if single in one))
    for named, lasts in _lasts(schema):
        if single in named:
            # A column of airlines tells their names, and Turkish Airlines is one.
            continue
        if len(lasts) > 1 and (single in lasts or (single not in WIDER and len(family & lasts) > 1)):
            return True
    return False


def _lasts(schema: Schema) -> list[tuple[tuple[str, ...], frozenset[str]]]:
    """The name of each column of few texts, and what its cells are by their last word: a terraced house is a house."""
    if "lasts" not in schema.memo:
        few = [c for c in schema.columns if c.kind == "text" and not c.unique and len(c.values) <= _FEW]
        schema.memo["lasts"] = [(c.words, frozenset(stem(value.split()[-1]) for value in c.values)) for c in few]
    found: list[tuple[tuple[str, ...], frozenset[str]]] = schema.memo["lasts"]
    return found


def names_all(single: str, schema: Schema) -> bool:
    """Whether the noun is what every row is called."""
    return single in GENERIC or names_rows(single, schema) or single in name_words(schema.name)[0][-1:]


def unsure(word: str, column: Column) -> Unsure:
    """The doubt whether a noun for every row means only those that hold it."""
    single = stem(word)
    refusal = Refusal(
        f"`{word}` may mean every row, or those whose {column.name} is {single}.",
        f"Say: rows, or: rows where {column.name} is {single}.",
    )
    return Unsure(refusal, plural(word), True, single)


def _about_persons(schema: Schema) -> bool:
    return any(entity_word(column) in PERSONS for column in schema.columns)


def _table_named(single: str, schema: Schema) -> bool:
    own = [name_words(name)[0] for name in (schema.name, *schema.others) if name.lower() not in UNTOLD]
    return any(single == named[-1] or kin(single, named[-1]) for named in own if named)


def otherwise_called(single: str, schema: Schema) -> bool:
    """Whether the rows are known to be something else: a breed is no pet, even if no two pets are of one breed."""
    known = key_nouns(schema)
    return bool(known) and not any(kin(single, name) for name in known)


def is_key_noun(single: str, found: list[Column], schema: Schema) -> bool:
    """Whether a noun that fits columns means the rows rather than what one of them names."""
    if single in ATTRIBUTES:
        return False
    unique = [column for column in found if column.unique and (column.kind == "text" or column.identifies)]
    if otherwise_called(single, schema):
        # A boat_name still names the boats that lie at berths; a breed, or the city of a depot, only happens to be
        # another one in each row.
        unique = [column for column in unique if len(column.words) > 1 and column.words[-1] != single]
    keys = any(kin(single, word) for column in unique for word in entity_words(column))
    if keys or (names_rows(single, schema) and not any(c.words == (single,) and not c.unique for c in found)):
        return True
    return typical(single, schema) and not any(_names(column, single) for column in found)


def events_only(single: str, word: str, found: list[Column], *, one: bool = False) -> bool:
    """Transactions with a txn_dt are what happened then: the rows, not their dates; `one` if a single row is asked."""
    told = plural(word) or single not in EVENTS or one
    return (
        all(column.kind in ("date", "time") for column in found)
        and single not in EVENT_TAILS
        and told
        and not participle(word)
    )


def _names(column: Column, word: str) -> bool:
    """Whether the column names such things, or is called just so."""
    return column.words == (word,) or (not column.measure and kin(word, entity_word(column)))


def typical(word: str, schema: Schema) -> bool:
    """Whether a table of such things usually has columns like these."""
    if word not in TYPICAL:
        return False
    own = sum(1 for sign in TYPICAL[word] if sign in schema.words or best((sign,), schema))
    if key_nouns(schema):
        return own > 1 and own >= _strongest(schema)
    return own > 0 and own >= _strongest(schema) - 1


def _such_goods(word: str, schema: Schema) -> bool:
    """Whether products are such goods: a table of them has a column that only these have, as bikes have a frame."""
    signs = TYPICAL.get(word, frozenset())
    if word not in GOODS or not typical("product", schema):
        return False
    return any(sign in schema.words for sign in signs - TYPICAL["product"])


def _strongest(schema: Schema) -> int:
    """How many of its usual columns the likeliest kind of table has here."""
    if "strongest" not in schema.memo:
        counts = Counter(kind for word in schema.words for kind in _KINDS_BY_SIGN.get(word, ()))
        schema.memo["strongest"] = max(counts.values(), default=0)
    return int(schema.memo["strongest"])


_KINDS_BY_SIGN: dict[str, list[str]] = {}
for _kind, _signs in TYPICAL.items():
    for _sign in _signs:
        _KINDS_BY_SIGN.setdefault(_sign, []).append(_kind)


def foreign(word: str, schema: Schema) -> bool:
    """Whether the rows are known to be something else."""
    own = key_nouns(schema)
    if any(kin(word, name) for name in own):
        return False
    if any(root(word) == root(column.marks[0].word) for column in schema.columns if column.kind == "date"):
        # Leases are rows with a leased_until.
        return False
    if word in TYPICAL:
        return not typical(word, schema)
    if word in PERSONS and PERSONAL.isdisjoint(schema.words):
        return True
    # Where three of the words are there that tables of one kind use, its rows are hardly anything else.
    return bool(own) or _strongest(schema) >= 3
