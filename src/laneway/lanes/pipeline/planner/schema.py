"""What a request can speak of: a table's columns by their names and the values of its cells; and what it asks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Final, TypeAlias

from laneway.lanes.pipeline.dates import moment_of
from laneway.lanes.pipeline.values import NUMBERS, Row
from laneway.language.names import abbreviates, correct
from laneway.language.tokens import fold, singular, split_name, stem

MOST_VALUES, LONGEST_VALUE = 100_000, 80
UNNAMED: Final = frozenset({
    "data", "http_request", "rows", "table", "input", "result", "records", "stdin", "main", "previous",
})  # fmt: skip
IDENTIFIERS: Final = frozenset({"id", "no", "number", "ref", "tag", "key"})
NAMING: Final = IDENTIFIERS | {"code", "name", "title", "type", "desc", "description"}
LABELS: Final = NAMING | {
    "uid", "ssn", "zip", "postcode", "phone", "year", "district", "episode", "season", "grade", "level", "rank", "line",
    "version", "week", "month", "day", "channel", "position", "isbn", "sku", "room", "order", "invoice", "account",
}  # fmt: skip
"""Numbers under such names tell things apart: they are never added up."""
UNITS: Final = frozenset({
    "eur", "usd", "gbp", "kg", "g", "km", "m", "m2", "sqm", "cm", "mm", "min", "sec", "h", "hour", "day", "minute",
    "second", "kmh", "pct", "percent", "kw", "kwh", "ml", "l", "gb", "mb", "musd", "meur", "euro", "dollar", "c", "ms",
})  # fmt: skip
"""Words of a column's name that say what its numbers are amounts of."""
_PREFIXES: Final = {"mean": "average", "sum": "total", "count_distinct": "different"}
_JOINING: Final = frozenset({"of", "the", "for", "in"})
_ALIKE: Final = {"num": "number", "nr": "number", "qty": "quantity", "amt": "amount", "dept": "department"}
_WRITTEN_DAY: Final = re.compile(r"\d{1,4}[./-]\d{1,2}[./-]\d{1,4}\b")
_TRUTHS: Final = (frozenset({"true", "yes", "y", "t", "1"}), frozenset({"false", "no", "n", "f", "0"}))


@dataclass(frozen=True)
class Column:
    """A column as a request can name it: by its words, or its `own` ones without those of the table.

    Its kind is number, text, numeral (a number as text), date, day (as 05/11/2026), flag, mixed or empty; `truths` are
    a flag's cells for yes and no; `hollow` is "" or 0 if there are such cells; `table` is the one it is looked up in; a
    running number counts the rows.
    """

    name: str
    words: tuple[str, ...]
    own: tuple[str, ...]
    kind: str
    has_empty: bool
    hollow: Any
    is_unique: bool
    truths: tuple[Any, ...]
    table: str = ""
    is_running: bool = False

    @property
    def is_label(self) -> bool:
        counts = len(self.words) > 1 and self.words[0] in ("number", "count", "quantity", "total")
        return self.is_running or (not counts and bool(LABELS & set(self.words)))


Places = list[tuple[Column, str]]
Condition = dict[str, Any]
Item: TypeAlias = "Column | Figure"


@dataclass(frozen=True)
class Schema:
    """One table: its name, the words for one row, its rows, columns and `joins`: table → key here, key there."""

    name: str
    noun: tuple[str, ...]
    rows: Sequence[Row]
    columns: tuple[Column, ...]
    joins: Mapping[str, tuple[str, str]] = field(default_factory=dict)

    @cached_property
    def _values(self) -> dict[str, Places]:
        found: dict[str, Places] = {}
        for column in self.columns:
            if column.kind in ("text", "numeral", "day", "mixed") and not column.table:
                cells = (row.get(column.name) for row in self.rows)
                texts = dict.fromkeys(cell for cell in cells if type(cell) is str and len(cell) <= LONGEST_VALUE)
                for text in [*texts][:MOST_VALUES]:
                    found.setdefault(_singular_key(text), []).append((column, text))
        found.pop("", None)
        return found

    def find_values(self, text: str) -> Places:
        """Where this text is a cell's; also in the plural (`houses` for House)."""
        places = self._values.get(_singular_key(text), [])
        return [one for one in places if read_key(one[1]) == read_key(text)] or places

    def is_noun(self, words: Sequence[str]) -> bool:
        said, noun = _singulars(words), self.noun
        if not noun or not said:
            return False
        slip = len(said) == len(noun) == 1 and correct(said[0], noun) is not None
        return said in (noun, noun[-1:]) or "".join(said) == "".join(noun) or slip

    def find_column(self, said_words: Sequence[str]) -> tuple[int, list[Column]]:
        """The columns these words may name, and how far-fetched that is: 0 by their whole name, up to 4 by a slip."""
        said = _singulars(word for word in said_words if word not in _JOINING)
        bare = tuple(word for word in said if word not in self.noun) or said
        for wanted in (said, bare):
            for own in (False, True):
                names = ((one, one.own if own else one.words) for one in self.columns)
                ways = {"".join((*wanted, last)) for last in ("", "at", "on")} if len(wanted) > 1 else {"".join(wanted)}
                exact = [one for one, words in names if "".join(words) in ways]
                if exact and said:
                    return 0, _nearest(exact)
        if bare == ("name",) and not any("name" in one.words for one in self.columns):
            return 0, [one for one in self.columns if one.words == self.noun]
        if not said or (len(said) == 1 and (len(said[0]) < 2 or said[0] in ("first", "last", "number", "total"))):
            return 0, []
        stems, known = {stem(word) for word in bare}, {word for one in self.columns for word in one.words}
        meant = (correct(said[0], known),) if len(said) == 1 else ()
        loose: tuple[list[Column], ...] = (
            [one for one in self.columns if set(bare) <= set(one.words) or "".join(map(stem, bare)) in one.words],
            [one for one in self.columns if all(any(abbreviates(word, wide) for word in one.words) for wide in bare)],
            [one for one in self.columns if stems <= {stem(word) for word in one.words} and min(map(len, stems)) > 2],
            [one for one in self.columns if one.words == meant],
        )
        return next(((far, _nearest(found)) for far, found in enumerate(loose, 1) if found), (0, []))

    def is_entity(self, word: str) -> bool:
        one = singular(word)
        return one in self._entities or (len(one) > 3 and any(abbreviates(short, one) for short in self._entities))

    @cached_property
    def _entities(self) -> set[str]:
        found: set[str] = set()
        for column in self.columns:
            rest = NAMING & set(column.words)
            names = [word for word in column.words if word not in rest]
            tells = column.kind == "text" or (column.kind == "number" and column.is_label)
            by_id = column.is_unique and bool(rest) and rest <= IDENTIFIERS
            loose = not self.noun and (column.is_unique or bool(rest - {"name"}))
            if len(names) == 1 and tells and not column.table and (by_id or loose):
                found.add(names[0])
        return found


def read_key(text: str) -> str:
    return " ".join(re.findall(r"[^\W_]+", fold(text)))


def _singular_key(text: str) -> str:
    head, _, last = read_key(text).rpartition(" ")
    return f"{head} {singular(last)}".strip()


def _singulars(words: Iterable[str]) -> tuple[str, ...]:
    return tuple(_ALIKE.get(word, singular(word)) for word in words)


def _nearest(found: list[Column]) -> list[Column]:
    return [one for one in found if not one.table] or found


def read_schema(name: str, rows: Sequence[Row]) -> Schema:
    """The schema of a table; its name tells what a row is, unless it is `data` or the like."""
    words = () if name.lower().rstrip("_0123456789") in UNNAMED else _singulars(split_name(name))
    noun = tuple(word for word in words if not word.isdigit())
    names = dict.fromkeys(column for row in rows for column in row)
    return Schema(name, noun, rows, tuple(_read_column(one, noun, rows) for one in names))


def _read_column(name: str, noun: tuple[str, ...], rows: Sequence[Row]) -> Column:
    words = _singulars(word for word in split_name(name) if word not in _JOINING)
    own = words[1:] if words[:1] in (("is",), ("has",)) else tuple(word for word in words if word not in noun) or words
    cells = [row.get(name) for row in rows]
    full = [cell for cell in cells if cell is not None and cell != ""]
    distinct = {cell if type(cell) is str else repr(cell) for cell in full}
    types, plain = set(map(type, full)), {fold(cell): cell for cell in list(distinct)[:3]}
    kind, truths = "mixed", tuple[Any, ...]()
    if not types:
        kind = "empty"
    elif types == {bool}:
        kind, truths = "flag", (True, False)
    elif types <= NUMBERS:
        kind = "number"
    elif types == {str}:
        numeral = all(cell.strip().replace(".", "").replace(",", "").lstrip("-").isdigit() for cell in distinct)
        date = all(moment_of(cell) is not None for cell in distinct)
        day = all(_WRITTEN_DAY.match(cell) for cell in distinct)
        kind = "numeral" if numeral else "date" if date else "day" if day else "text"
        if len(distinct) < 3 and plain.keys() <= _TRUTHS[0] | _TRUTHS[1] and not plain.keys() <= {"t", "f", "0", "1"}:
            kind, truths = "flag", tuple(next((plain[word] for word in side & plain.keys()), "") for side in _TRUTHS)
    hollow = "" if "" in cells else 0 if kind == "number" and 0 in cells else None
    running = kind == "number" and len(cells) > 4 and cells == list(range(int(full[0]), int(full[0]) + len(cells)))
    unique = len(cells) == len(distinct) > 1
    return Column(name, words, own, kind, len(full) < len(cells), hollow, unique, truths, is_running=running)


def widen(main: Schema, others: Iterable[Schema]) -> Schema:
    """The table with the columns of those others in which it can look up one row by a key of the same name."""
    columns, joins = list(main.columns), dict(main.joins)
    for other in others:
        keys = find_keys(main, other)
        if len(keys) != 1 or not any(one.is_unique for one in other.columns if one.name == keys[0][1]):
            continue
        joins[other.name] = here, there = keys[0]
        for column in other.columns:
            if not column.name == here == there:
                taken = any(column.name == one.name for one in columns)
                name = f"{other.name}_{column.name}" if taken else column.name
                words = (*other.noun, *(word for word in column.own if word not in other.noun))
                columns.append(replace(column, name=name, words=words, own=column.words, table=other.name))
    return replace(main, columns=tuple(columns), joins=joins)


def find_keys(one: Schema, other: Schema) -> list[tuple[str, str]]:
    """The pairs of columns that two tables can be joined by: called alike, or here the id of the other's rows."""
    theirs = {column.name: column for column in other.columns}
    kinds = [each for each in one.columns if each.kind == "text" or (each.is_label and "year" not in each.words)]
    alike = [column for column in kinds if column.name in theirs and column.words != ("id",)]
    keys = [column for column in alike if column.is_unique or theirs[column.name].is_unique]
    if len(keys) > 1:
        keys = [column for column in keys if {*one.noun, *other.noun} & set(column.words)] or keys
    if keys:
        return [(column.name, column.name) for column in keys]
    wanted = ((*other.noun, "id"), other.noun)
    return [(column.name, "id") for column in one.columns if column.words in wanted] if "id" in theirs else []


@dataclass(frozen=True)
class Figure:
    """What many rows come to: their number, a sum, an average; `name` is the column it stands in."""

    do: str
    column: Column | None = None

    @property
    def name(self) -> str:
        return "count" if self.column is None else f"{_PREFIXES.get(self.do, self.do)}_{self.column.name}"


@dataclass
class Ask:
    """The slots of a request. `best` is the highest (desc) or lowest (asc) of something, `end` the word before the
    number (top, last), `last` the clause read last, `by_adjective` whether `cheapest` stood for `lowest price`."""

    items: list[Item] = field(default_factory=list)
    where: list[Condition] = field(default_factory=list)
    group: list[Column] = field(default_factory=list)
    having: list[tuple[Figure, str, Any]] = field(default_factory=list)
    order: list[tuple[Item, str]] = field(default_factory=list)
    best: tuple[Item, str] | None = None
    number: int | None = None
    end: str = ""
    direction: str = ""
    distinct: bool = False
    sorting: bool = False
    denied: bool = False
    by_adjective: bool = False
    lacking: str = ""
    joined: str = ""
    last: str = ""


def make_test(column: Column, by: str, value: Any = None) -> Condition:
    made: Condition = {"column": column.name, "is": by}
    return made if by in ("null", "not_null") else {**made, "value": value}


def join(conditions: list[Condition], joiner: str = "and") -> Condition:
    return conditions[0] if len(conditions) == 1 else {joiner: conditions}
