"""What a table is like: its columns, what they hold, and which words are values of which column."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from laneway.lanes.pipeline.dates import moment
from laneway.lanes.pipeline.planner.names.marks import UNSAID, Mark, marks_of
from laneway.lanes.pipeline.planner.phrasing import words
from laneway.lanes.pipeline.planner.spelling import name_parts, name_words, spelled, stem
from laneway.lanes.pipeline.planner.words.naming import ENTITY_TAILS, MONEY

Row = Mapping[str, Any]

MOST_VALUES = 50_000
"""How many different texts of a column are remembered as its values."""
LONGEST_VALUE = 80
MOST_CLASSES, AGAIN = 20, 1.5
"""Numbers are classes if there are at most so many different ones, and each comes so often or more."""

_CLOCK = re.compile(r"\d{2}:\d{2}(?::\d{2})?")
_NUMERIC = re.compile(r"\s*[-+]?[$€£]?\s*\d[\d,. ]*\s*(?:%|°?[^\W\d_]{0,4})\s*")
_DAY = re.compile(
    r"(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.](?:\d{4}|\d{2}))(?:[ T].*)?"
    r"|(?:\d{1,2}\.? )?[A-Za-z]{3,9}\.? \d{1,2},? ?(?:\d{4})?|\d{1,2} [A-Za-z]{3,9} \d{4}"
)
_YEARLY = (("founded",), ("vintage",), ("born",), ("released",), ("built",), ("published",),
           ("established",))  # fmt: skip
_KEYS = words(
    "id code zip key uuid sku phone isbn reference barcode imo vin mrn iban ext extension postcode tag serial"
)
_PIECES = re.compile(r"[^\W_]+(?:\.\d+)?")
_SIGNS = re.compile(r"\w+|[^\w\s]")


@dataclass(frozen=True, eq=False)
class Column:
    """One column: its name, the words of it, and what its cells hold (number, text, date, time, bool, …)."""

    name: str
    kind: str
    nulls: int = 0
    blanks: int = 0
    unique: bool = False
    low: Any = None
    high: Any = None
    zeros: bool = False
    classes: bool = False
    """Few numbers that come again and again, as of stars or grades."""
    values: Mapping[str, tuple[str, ...]] = field(default_factory=dict, repr=False)
    """Each text it holds, as `spoken` says it, and the ways it is written."""
    made: bool = False
    """Worked out by the request itself."""
    owner: str = ""
    """The table it came from, where it was joined."""

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The words of its name; there is at least one."""
        return name_words(self.name)[0] or (UNSAID,)

    @cached_property
    def spelled(self) -> tuple[str, ...]:
        """Its words with the unit of measure, if it has one."""
        return spelled(self.name) or (UNSAID,)

    @cached_property
    def parts(self) -> tuple[str, ...]:
        """The parts of its name as they are written."""
        return name_parts(self.name) or (UNSAID,)

    @cached_property
    def glued(self) -> tuple[str, ...]:
        """Its name in one word, in the ways it may be written."""
        return tuple("".join(parts) for parts in (self.words, self.spelled, self.parts))

    @cached_property
    def marks(self) -> tuple[Mark, ...]:
        """Its words, each with what it is for."""
        return marks_of(self.name)

    @cached_property
    def unit(self) -> str:
        return name_words(self.name)[1]

    @property
    def money(self) -> bool:
        """Whether it counts money, as its unit says."""
        return self.unit in MONEY

    def spans(self, number: float) -> bool:
        """Whether the number lies between the lowest and the highest it is known to hold."""
        return self.low is not None and bool(self.low <= number <= self.high)

    @property
    def years(self) -> bool:
        """Whether all its numbers may be years."""
        return isinstance(self.low, int) and isinstance(self.high, int) and self.low > 1000 and self.high < 2999

    @cached_property
    def yearly(self) -> bool:
        """Whether it holds years as numbers."""
        if self.kind != "number" or not ("year" in self.words or self.words[-1:] in _YEARLY):
            return False
        if self.words[-1] == "year" and self.words[:-1] in _YEARLY and isinstance(self.low, int):
            # Towns were founded before the year 1000, too.
            return self.low > 0 and isinstance(self.high, int) and 1000 < self.high < 2999
        return self.words == ("year",) if self.low is None else self.years

    @property
    def dated(self) -> bool:
        """Whether it says when: by a date, or by a year."""
        return self.kind == "date" or self.yearly

    @property
    def timed(self) -> bool:
        """Whether its dates have a time of day."""
        return self.kind == "date" and len(str(self.low)) > len("2026-01-31")

    @property
    def ordered(self) -> bool:
        """Whether its cells have an order that people mean."""
        return self.kind in ("number", "date", "time")

    @cached_property
    def identifies(self) -> bool:
        """Whether it names things rather than measuring them, whatever its type."""
        numbered = len(self.words) > 1 and self.words[-1] == "number" and self.parts[0] not in ("num", "number")
        return self.words[-1:] != () and (self.words[-1] in _KEYS or numbered)

    @property
    def measure(self) -> bool:
        """Whether it holds numbers that may be added up and compared."""
        return self.kind == "number" and not self.identifies


@dataclass(frozen=True)
class Schema:
    """The columns of a table as they are at one point of the plan."""

    name: str
    columns: tuple[Column, ...]
    rows: int = 0
    others: tuple[str, ...] = ()
    """The tables that were joined to it."""
    memo: dict[Any, Any] = field(default_factory=dict, repr=False, compare=False)

    def column(self, name: str) -> Column | None:
        """The column of exactly this name."""
        return next((column for column in self.columns if column.name == name), None)

    @cached_property
    def vocabulary(self) -> Mapping[str, tuple[Column, ...]]:
        """Which columns hold a text, by how it is spoken."""
        found: dict[str, list[Column]] = {}
        for column in self.columns:
            for spoken in column.values:
                found.setdefault(spoken, []).append(column)
        return {spoken: tuple(columns) for spoken, columns in found.items()}

    @cached_property
    def singulars(self) -> Mapping[str, frozenset[str]]:
        """Values of one word, by their singular."""
        found: dict[str, set[str]] = {}
        for said in self.vocabulary:
            if " " not in said:
                found.setdefault(stem(said), set()).add(said)
        return {word: frozenset(values) for word, values in found.items()}

    @cached_property
    def longest_value(self) -> int:
        """How many words and signs the longest value has."""
        forms = (form for column in self.columns for forms in column.values.values() for form in forms)
        return min(9, max((len(_SIGNS.findall(form)) for form in forms), default=0))

    @cached_property
    def words(self) -> frozenset[str]:
        """Every word of a column's name, as names are compared."""
        return frozenset(word for column in self.columns for word in column.words)

    def with_columns(self, columns: Sequence[Column]) -> Schema:
        """The table with other columns."""
        return Schema(self.name, tuple(columns), self.rows, self.others)


def spoken(text: str) -> str:
    """The text as a request would say it: its words without case and signs."""
    return " ".join(_PIECES.findall(text.lower()))


def schema_of(name: str, rows: Sequence[Row]) -> Schema:
    """What the table is like, from all its rows."""
    names = dict.fromkeys(key for row in rows for key in row)
    return Schema(name, tuple(_column(key, [row.get(key) for row in rows]) for key in names), len(rows))


def _column(name: str, cells: list[Any]) -> Column:
    given = [cell for cell in cells if cell is not None]
    types = {type(cell) for cell in given}
    nulls = len(cells) - len(given)
    if not given:
        return Column(name, "empty", nulls)
    if types == {bool}:
        return Column(name, "bool", nulls)
    if types <= {int, float}:
        different = len(set(given))
        unique = not nulls and different == len(given)
        classes = types == {int} and different <= MOST_CLASSES and different * AGAIN <= len(given)
        return Column(name, "number", nulls, 0, unique, min(given), max(given), 0 in given, classes)
    if types == {str}:
        return _text_column(name, given, nulls)
    if types & {list, dict}:
        return Column(name, "nested", nulls)
    return Column(name, "mixed", nulls)


def _text_column(name: str, given: list[str], nulls: int) -> Column:
    different = dict.fromkeys(given)
    blanks = sum(1 for text in given if not text.strip()) if any(not text.strip() for text in different) else 0
    texts = [text for text in different if text.strip()]
    unique = not nulls and not blanks and len(different) == len(given)
    kind = _kind(texts)
    if kind in ("date", "time"):
        if blanks:
            return Column(name, "mixed", nulls, blanks)
        return Column(name, kind, nulls, blanks, unique, min(texts), max(texts))
    values: dict[str, tuple[str, ...]] = {}
    for text in texts[:MOST_VALUES]:
        if len(text) <= LONGEST_VALUE and (said := spoken(text)):
            values[said] = (*values.get(said, ()), text)
    return Column(name, kind, nulls, blanks, unique, values=values)


def _kind(texts: list[str]) -> str:
    """What the texts of a column are: dates, times of day, numbers written as text, or just text."""
    if not texts:
        return "text"
    if _CLOCK.fullmatch(texts[0]):
        same = len(texts[0])
        return "time" if all(len(text) == same and _CLOCK.fullmatch(text) for text in texts) else "text"
    if texts[0][:4].isdigit() and len(texts[0]) >= 10:
        same, tail = len(texts[0]), texts[0][19:]
        if all(len(text) == same and text[19:] == tail and moment(text) is not None for text in texts):
            return "date"
    if all(map(_DAY.fullmatch, texts)):
        return "date text"
    if all(_NUMERIC.fullmatch(text) for text in texts):
        return "numeric text"
    return "text"


def entity_word(column: Column) -> str:
    """The thing a column names: `customer` of `customer_id`, `airline` of `airline_name`; '' if it is a plain name."""
    named = [word for word in column.words if word not in ENTITY_TAILS]
    return stem(named[-1]) if named else ""


def entity_words(column: Column) -> frozenset[str]:
    """The same in every way it may be read: the `act` of act_name may be an act, though it shortens `actual`."""
    written = [mark.raw for mark in column.marks if mark.word not in ENTITY_TAILS]
    return frozenset((entity_word(column), *(stem(raw) for raw in written[-1:]))) - {""}
