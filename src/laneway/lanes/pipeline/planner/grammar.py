"""Rules for phrases, and a chart that remembers what was found where.

A rule says which words, in which order, make a symbol: `(sorted|ordered) by <column> [please]`. `<column>` is another
symbol, `<_column>` one whose value does not matter, `(…|…)` a choice, `[…]` may be missing, `{` and `}` are the
brackets of the request; the, a, their and their like may stand before any word but the first.
Nothing is decided here: a symbol may be found in several ways at one place, each with its end, its value and a cost
that says how far-fetched it is. Who reads the whole request compares them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any, TypeVar

from laneway.lanes.pipeline.planner.phrasing import words
from laneway.lanes.pipeline.planner.reading import Token
from laneway.lanes.pipeline.planner.refusal import Doubt, Refused, Unfit
from laneway.lanes.pipeline.planner.schema import Schema

Action = Callable[..., Any]
Made = TypeVar("Made", bound=Callable[..., Any])
LIGHT = words("the a an their its our my his her your this these those")
"""Words that rules need not write down."""
_BRACKETS = {"(": "{", ")": "}"}
"""How patterns write the brackets of a request; their own round ones are a choice."""
_PIECE = re.compile(r"<\w+>|[()\[\]|]|[^\s()\[\]|<>]+|[<>]=?")


@dataclass(frozen=True, slots=True)
class Edge:
    """A symbol found in the request: where it ends, what it is, and how far-fetched it is."""

    end: int
    value: Any
    cost: float = 0.0


Finder = Callable[["Chart", int], Iterable[Edge]]


class Node:
    """A place in the patterns of one symbol: what may come next, and what is complete here."""

    __slots__ = ("ends", "symbols", "ways", "words")

    def __init__(self) -> None:
        self.words: dict[str, Node] = {}
        self.symbols: dict[str, Node] = {}
        self.ends: list[tuple[Action, float]] = []
        self.ways: list[tuple[str, bool, Node, frozenset[str] | None]] = []
        """Its symbols: the name, whether the value is passed over, what follows, and the words it begins with."""


class Rules:
    """The rules of one module."""

    def __init__(self) -> None:
        self.patterns: list[tuple[str, str, Action, float]] = []
        self.finders: dict[str, Finder] = {}

    def rule(self, symbol: str, patterns: str, cost: float = 0.0) -> Callable[[Made], Made]:
        """The function makes the symbol of what the patterns' own symbols are; None if it cannot be one here.

        Patterns are divided by ` ; `.
        """

        def keep(action: Made) -> Made:
            self.patterns += [(symbol, pattern, action, cost) for pattern in patterns.split(" ; ")]
            return action

        return keep

    def says(self, symbol: str, patterns: str, value: Any, cost: float = 0.0) -> None:
        """The patterns make the symbol, and it is always this value."""
        self.rule(symbol, patterns, cost)(_always(value))

    def words(self, symbol: str, table: Mapping[str, Any] | Iterable[str], cost: float = 0.0) -> None:
        """Each phrase is the symbol, and its value what the table says; without a table, the phrase itself."""
        pairs = table.items() if isinstance(table, Mapping) else ((phrase, phrase) for phrase in table)
        for phrase, value in pairs:
            self.patterns.append((symbol, phrase, _always(value), cost))

    def finder(self, symbol: str) -> Callable[[Finder], Finder]:
        """The function finds the symbol at a place, in whatever way it likes."""

        def keep(finder: Finder) -> Finder:
            self.finders[symbol] = finder
            return finder

        return keep


def _always(value: Any) -> Action:
    return lambda chart, *_: value


class Language:
    """All rules together, by what they begin with."""

    def __init__(self, *modules: Rules) -> None:
        self.roots: dict[str, Node] = {}
        self.finders: dict[str, Finder] = {}
        self.vocabulary: set[str] = set()
        """Every word that a rule writes down."""
        for rules in modules:
            self.finders |= rules.finders
            for symbol, pattern, action, cost in rules.patterns:
                for pieces in expanded(pattern):
                    self._add(self.roots.setdefault(symbol, Node()), pieces, action, cost)
        for root in self.roots.values():
            self._finish(root)

    def _finish(self, node: Node) -> None:
        """Every symbol is remembered with the words it can begin with, so that most are not even looked for."""
        for name, after in node.symbols.items():
            symbol = name.removeprefix("_")
            root = self.roots.get(symbol)
            plain = root is not None and symbol not in self.finders and not root.symbols
            node.ways.append(
                (symbol, name != symbol, after, frozenset(root.words) if root is not None and plain else None)
            )
            self._finish(after)
        for after in node.words.values():
            self._finish(after)

    def _add(self, node: Node, pieces: tuple[str, ...], action: Action, cost: float) -> None:
        for piece in pieces:
            symbol = len(piece) > 2 and piece[0] == "<" and piece[-1] == ">"
            ways = node.symbols if symbol else node.words
            node = ways.setdefault(piece[1:-1] if symbol else piece, Node())
            if not symbol:
                self.vocabulary.add(piece)
        if all(action is not known for known, _ in node.ends):
            node.ends.append((action, cost))


def expanded(pattern: str) -> Iterator[tuple[str, ...]]:
    """Every way to say the pattern, as words and <symbols>."""
    pieces = _PIECE.findall(pattern)
    ways, at = _choices(pieces, 0)
    assert at == len(pieces), pattern
    yield from dict.fromkeys(way for way in ways if way)


def _choices(pieces: list[str], at: int) -> tuple[list[tuple[str, ...]], int]:
    found: list[tuple[str, ...]] = []
    parts: list[list[tuple[str, ...]]] = []
    while at < len(pieces) and pieces[at] not in (")", "]"):
        piece = pieces[at]
        at += 1
        if piece == "|":
            found += [sum(way, ()) for way in product(*parts)]
            parts = []
        elif piece in ("(", "["):
            inner, at = _choices(pieces, at)
            at += 1
            parts.append([*inner, ()] if piece == "[" else inner)
        else:
            parts.append([(piece,)])
    return [*found, *(sum(way, ()) for way in product(*parts))], at


def _once(edges: Iterable[Edge]) -> tuple[Edge, ...]:
    """Each thing that was found once, at its least cost."""
    found: list[Edge] = []
    for edge in edges:
        place = next((n for n, one in enumerate(found) if one.end == edge.end and one.value == edge.value), None)
        if place is None:
            found.append(edge)
        elif edge.cost < found[place].cost:
            found[place] = edge
    return tuple(found)


class Chart:
    """One request over one table while it is read."""

    def __init__(
        self, language: Language, tokens: list[Token], schema: Schema, tables: Mapping[str, Schema] | None = None
    ) -> None:
        self.language, self.tokens, self.schema = language, tokens, schema
        self.tables = tables or {schema.name: schema}
        plain = [token.text if token.kind in ("word", "op", "mark") else "" for token in tokens]
        self.texts = [_BRACKETS.get(text, text) for text in plain] + [""]
        self.size = len(tokens)
        self.furthest = 0
        self.names: dict[int, Any] = {}
        """What columns the words at a place may name, for who looks for them."""
        self._found: dict[tuple[str, int], tuple[Edge, ...]] = {}

    def text(self, at: int) -> str:
        """The word, sign or mark at this place; '' for numbers, quotations and beyond the ends."""
        return self.texts[at] if 0 <= at < self.size else ""

    def token(self, at: int) -> Token | None:
        """The token at this place."""
        return self.tokens[at] if 0 <= at < self.size else None

    def said(self, start: int, end: int) -> str:
        """The request from here to there, as it was written."""
        return " ".join(token.raw for token in self.tokens[start:end])

    def edges(self, symbol: str, at: int) -> tuple[Edge, ...]:
        """Every way in which the symbol begins at this place."""
        key = (symbol, at)
        if key not in self._found:
            # While it is looked for, a symbol that begins with itself is found nowhere.
            self._found[key] = ()
            self._found[key] = _once(self._all(symbol, at))
        return self._found[key]

    def _all(self, symbol: str, at: int) -> Iterator[Edge]:
        if at >= self.size:
            return
        if symbol in self.language.finders:
            yield from self._guarded(self.language.finders[symbol], at)
        root = self.language.roots.get(symbol)
        if root is not None and (root.symbols or self.texts[at] in root.words):
            yield from self._walk(root, at, (), 0.0)

    def _guarded(self, finder: Finder, at: int) -> Iterator[Edge]:
        try:
            yield from finder(self, at)
        except Unfit:
            return

    def _walk(self, node: Node, at: int, values: tuple[Any, ...], cost: float) -> Iterator[Edge]:
        text = self.texts[at]
        child = node.words.get(text)
        if child is not None and text:
            yield from self._into(child, at + 1, values, cost)
        for symbol, silent, after, starts in node.ways:
            if starts is not None and text not in starts:
                continue
            for edge in self.edges(symbol, at):
                passed = silent and not isinstance(edge.value, Doubt)
                yield from self._into(after, edge.end, values if passed else (*values, edge.value), cost + edge.cost)

    def _into(self, node: Node, at: int, values: tuple[Any, ...], cost: float) -> Iterator[Edge]:
        for action, more in node.ends:
            value = self._made(action, values)
            if value is not None:
                yield Edge(at, value, cost + more)
        if node.words or node.symbols:
            yield from self._walk(node, at, values, cost)
            while self.texts[at] in LIGHT:
                at += 1
                yield from self._walk(node, at, values, cost)

    def _made(self, action: Action, values: tuple[Any, ...]) -> Any:
        """What the rule makes of its parts; a part that is in doubt makes the whole doubtful."""
        doubt = next((value for value in values if isinstance(value, Doubt)), None)
        if doubt is not None:
            return doubt
        try:
            return action(self, *values)
        except Unfit:
            return None
        except Refused as refused:
            return Doubt(refused.refusal)
