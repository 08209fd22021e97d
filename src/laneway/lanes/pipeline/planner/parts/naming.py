"""Columns and values as symbols of the grammar: <column>, <measure>, <text>, <dated>, <truth>, <values>."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from laneway.lanes.pipeline.planner.grammar import Chart, Edge, Rules
from laneway.lanes.pipeline.planner.names.columns import Fits, best, fits, listed, slips
from laneway.lanes.pipeline.planner.names.owners import names_rows
from laneway.lanes.pipeline.planner.names.values import Found, values_at
from laneway.lanes.pipeline.planner.phrasing import words
from laneway.lanes.pipeline.planner.reading import Token
from laneway.lanes.pipeline.planner.refusal import Doubt, Refusal
from laneway.lanes.pipeline.planner.schema import Column
from laneway.lanes.pipeline.planner.spelling import compounded, name_words, plural, stem
from laneway.lanes.pipeline.planner.words.naming import UNITS

RULES = Rules()
LONGEST = 5
"""A column is named by at most so many words."""
_NO_NAMES = words("the a an and or with of is are that which who than not")
"""A name neither begins nor ends with one of these."""
_BEHIND_NAMES = words(", ; . and or then is asc desc ascending descending < > <= >= = == != + - * / }")
"""What may follow a column that is called like a small word: `sort by a desc`."""
_KINDS = words("kind type sort category class style")
"""A kind of property is what property_type tells, though properties are the rows."""
_CALLED = words("name title id code")
"""The name of the act is the act_name."""
_WORKED = words("average mean total sum median maximum minimum max min avg")


def phrase_at(chart: Chart, at: int, size: int) -> tuple[str, ...]:
    """The next tokens as the words of a name; empty if they cannot be one."""
    tokens = chart.tokens[at : at + size]
    if len(tokens) < size or not all(_may_name(chart, token, size) for token in tokens):
        return ()
    if size > 1 and (tokens[0].text in _NO_NAMES | {"'s"} or tokens[-1].text in _NO_NAMES | {"'s"}):
        return ()
    if (
        size == 1
        and tokens[0].text in _NO_NAMES | {"no", "in", "on", "by", "to", "at", "from", "for", "as"}
        and tokens[0].kind == "word"
    ):
        return ()
    texts = [token.text for token in tokens]
    if "of" in texts[1:-1]:
        # The date of the exam is the exam date.
        place = texts.index("of")
        if texts[place - 1] in ("number", "amount", "count") and plural(texts[-1]):
            # The number of rentals is how many there are, and no rental number.
            return ()
        if plural(texts[0]) and any(edge.value.told for edge in chart.edges("rows", at)):
            # The leads of employees are leads.
            return ()
        own = place == 1 and (stem(texts[0]) in _KINDS or (texts[0] in _CALLED and not plural(texts[-1])))
        if not own and any(
            edge.value.told for edge in chart.edges("rows", at + place + 1 + (texts[place + 1] == "the"))
        ):
            # The price of trains is no name, but the price, of the rows.
            return ()
        tokens = [*(one for one in tokens[place + 1 :] if one.text != "the"), *tokens[:place]]
    if (
        size == 3
        and texts[1] == "per"
        and any({stem(texts[0]), texts[2]} <= set(c.words) for c in chart.schema.columns)
    ):
        # The price per unit is the unit price.
        tokens = [tokens[2], tokens[0]]
    if size > 2:
        tokens = [token for token in tokens if token.text not in ("the", "a", "an", "their", "its", "his", "her")]
    found: list[str] = []
    for token in tokens:
        found.extend(_words_of(token))
    return compounded(tuple(found))


def _may_name(chart: Chart, token: Token, size: int) -> bool:
    """Whether the token may stand in a name: a word, or the 2023 of mwh_2023 beside one."""
    if token.kind in ("word", "quote") or token.text == "'s":
        return True
    return size > 1 and token.kind == "number" and any(token.raw in column.parts for column in chart.schema.columns)


def _words_of(token: Token) -> tuple[str, ...]:
    if token.text == "'s":
        return ()
    if token.kind == "number":
        return (token.raw,)
    if token.kind == "quote":
        return tuple(stem(part) for part in token.text.lower().split())
    if token.raw.isupper() and token.raw.isidentifier():
        return (stem(token.text),)
    if "_" in token.raw or (not token.raw.islower() and not token.raw.istitle()):
        parts = name_words(token.raw)[0]
        return parts if all(len(part) > 1 for part in parts) else (stem(token.text),)
    if token.text in UNITS and token.text != stem(token.text):
        # Days are a unit, and the day is a date.
        return (token.text,)
    return name_words(token.text)[0] or (stem(token.text),)


Named = tuple[list[tuple[int, tuple[str, ...]]], list[tuple[int, Fits]]]


def _named(chart: Chart, at: int) -> Named:
    """The phrases that begin here and name columns, longest first; and where none does, what may be a slip."""
    longest = 1 if chart.text(at) in ("to", "from") and chart.edges("value", at + 1) else LONGEST
    found = [(size, phrase) for size in range(longest, 0, -1) if (phrase := phrase_at(chart, at, size))]
    fitting = [(size, phrase) for size, phrase in found if fits(phrase, chart.schema)]
    if fitting:
        return fitting, []
    slipped = [(size, [(1.0, column) for column in slips(phrase, chart.schema)]) for size, phrase in found if size <= 3]
    return [], [(size, columns) for size, columns in slipped if columns][:1]


def named_at(chart: Chart, at: int) -> Named:
    """The same, remembered."""
    if at not in chart.names:
        chart.names[at] = _named(chart, at)
    known: Named = chart.names[at]
    return known


def _finder(symbol: str, wanted: Callable[[Column], bool] | None, cost: float = 0.5) -> None:
    @RULES.finder(symbol)
    def find(chart: Chart, at: int) -> Iterator[Edge]:
        exact = _exact(chart, at)
        if exact is not None:
            if wanted is None or wanted(exact):
                yield Edge(at + 1, exact)
            return
        phrases, slipped = named_at(chart, at)
        plain = False
        for size, phrase in phrases:
            found = best(phrase, chart.schema, wanted)
            if plain and len(found) > 1:
                # The memory percentage is one of them, whatever memory alone may be.
                continue
            plain = plain or (len(found) == 1 and found[0][0] < 0.3)
            if symbol == "number":
                # An order is not its number, unless that is said.
                found = [pair for pair in found if not pair[1].identifies or pair[0] < 0.05]
            if symbol == "column":
                # A set is no length by itself; what is compared of it is.
                found = [pair for pair in found if not _length_of(phrase, pair[1])]
            if found and not (len(found) > 1 and len(phrase) == 1 and _rather_rows(chart, at, phrase[0], found)):
                edge = _edge(chart, at, size, found, cost)
                yield edge
                yield from _in_unit(chart, edge)
        for size, columns in slipped:
            fitting = [pair for pair in columns if wanted is None or wanted(pair[1])]
            if fitting:
                yield _edge(chart, at, size, fitting, cost)


def _rather_rows(chart: Chart, at: int, word: str, found: Fits) -> bool:
    """Whether a noun that fits several columns means the rows: items, beside an item_code and an item_name."""
    if names_rows(word, chart.schema):
        return True
    if any(column.measure for _, column in found):
        # Goals are none, beside goals_for and goals_against.
        return False
    return any(edge.end == at + 1 and edge.value.told and edge.value.plural for edge in chart.edges("rows", at))


def _length_of(phrase: tuple[str, ...], column: Column) -> bool:
    """Whether the column tells how long the thing is that the phrase names, and the phrase does not say so."""
    return len(column.words) > 1 and column.words[-1] in ("length", "duration") and phrase[-1] == column.words[-2]


def _in_unit(chart: Chart, edge: Edge) -> Iterator[Edge]:
    """The same with its unit behind it: `first reply time in minutes`, `price in euros`."""
    unit = UNITS.get(chart.text(edge.end + 1), "") if chart.text(edge.end) == "in" else ""
    if unit and isinstance(edge.value, Column) and edge.value.unit == unit:
        yield Edge(edge.end + 2, edge.value, edge.cost)


def _edge(chart: Chart, at: int, size: int, found: Fits, cost: float) -> Edge:
    if len(found) == 1:
        # `average rating` is rather worked out than the name of a column, where both can be.
        worked = 0.5 if size > 1 and chart.text(at) in _WORKED and _workable(chart, at + 1, size - 1) else 0.0
        return Edge(at + size, found[0][1], found[0][0] * cost + worked)
    columns = [column for _, column in found]
    refusal = Refusal(
        f"`{chart.said(at, at + size)}` may be {listed(columns, ' or ')}.",
        f"Name the column: {columns[0].name}, for example.",
    )
    return Edge(at + size, Doubt(refusal), found[0][0] * cost + 0.3)


def _workable(chart: Chart, at: int, size: int) -> bool:
    """Whether these words name one measure, so that a figure may be worked out of it."""
    phrase = phrase_at(chart, at, size)
    return bool(phrase) and len(best(phrase, chart.schema, lambda column: column.measure)) == 1


def _exact(chart: Chart, at: int) -> Column | None:
    """A column written exactly as it is called, in one token; units and all."""
    token = chart.token(at)
    if token is None or token.kind not in ("word", "quote"):
        return None
    small = token.text in _NO_NAMES and token.kind == "word"
    if small and not _ends(chart, at + 1):
        return None
    if not small and "_" not in token.raw and token.kind != "quote" and token.raw.islower():
        return None
    columns = chart.schema.columns
    found = [one for one in columns if one.name == token.raw] or [
        one for one in columns if one.name.lower() == token.raw.lower()
    ]
    return found[0] if len(found) == 1 else None


def _ends(chart: Chart, at: int) -> bool:
    """Whether what stood before this place is no article: nothing follows that could be its noun."""
    return chart.token(at) is None or chart.text(at) in _BEHIND_NAMES


_finder("column", None)
_finder("measure", lambda column: column.measure)
_finder("number", lambda column: column.kind in ("number", "numeric text"))
_finder("text", lambda column: column.kind in ("text", "numeric text", "date text"))
_finder("dated", lambda column: column.dated)
_finder("truth", lambda column: column.kind == "bool")
_finder("ordered", lambda column: column.ordered and not column.identifies)
_finder("category", lambda column: not column.measure or column.classes or column.yearly)


@dataclass(frozen=True)
class Held:
    """Values that one column may hold, and the columns that hold all of them."""

    columns: tuple[Column, ...]
    found: tuple[Found, ...]


_BETWEEN = ("or", "and", ",", "/", "nor")


@RULES.finder("value")
def value(chart: Chart, at: int) -> Iterator[Edge]:
    """One value of the table."""
    for place, found in enumerate(values_at(chart, at)):
        yield Edge(found.end, Held(found.columns, (found,)), 0.3 * place)


@RULES.finder("values")
def values(chart: Chart, at: int) -> Iterator[Edge]:
    """A list of values of one column: `Paris`, `Paris or Rome`, `red, blue and green`."""
    for edge in chart.edges("value", at):
        yield edge
        yield from _more(chart, edge.end, edge.value, edge.cost)


def _more(chart: Chart, at: int, held: Held, cost: float) -> Iterator[Edge]:
    for start in _after_comma(chart, at):
        for edge in chart.edges("value", start):
            names = {column.name for column in edge.value.columns}
            columns = tuple(column for column in held.columns if column.name in names)
            if columns:
                more = Held(columns, held.found + edge.value.found)
                yield Edge(edge.end, more, cost + edge.cost)
                yield from _more(chart, edge.end, more, cost + edge.cost)


def _after_comma(chart: Chart, at: int) -> Iterator[int]:
    """Where the next value of a list may begin."""
    start = at
    if chart.text(at) == "'s":
        at += 1
    while chart.text(at) in _BETWEEN:
        at += 1
    if at > start and chart.text(at - 1) in _BETWEEN:
        yield at + (chart.text(at) in ("the", "in", "from", "either", "to"))
