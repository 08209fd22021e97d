"""Shapes of requests: patterns that account for every word of a request, and how far one reaches that does not fit.

In a shape `a|b` is either word, `[…]` may be missing, `(… | …)` is one of several phrases, `<name:kind>` or `<kind>` an
argument. Quotations are blotted out, so no shape finds an order inside one; an argument is cut out as written.
"""

from __future__ import annotations

import itertools
import re
import unicodedata
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from laneway.language.politeness import strip_politeness
from laneway.llm.offline.kinds import JOINED, KINDS

BLOT: Final = "\0"
OPENS, CLOSES, FENCE_OPENS, FENCE_CLOSES = "\1", "\2", "\3", "\4"

_FENCE: Final = re.compile(r"(?P<open>```(?:[ \t]*[\w+-]*[ \t]*\n)?)(?P<inner>.*?)(?P<close>```)", re.S)
_QUOTATIONS: Final = (
    re.compile(r"(?P<open>`)(?P<inner>[^`\n]+)(?P<close>`)"),
    re.compile(r'(?P<open>["“„])(?P<inner>[^"“”\n]+)(?P<close>["”“])'),
    re.compile(r"(?P<open>(?<!\w)['‘])(?P<inner>[^'‘’\n]+)(?P<close>['’](?!\w))"),
)
_SAME: Final = {"’": "'", "‘": "'", "–": "-", "—": "-", "\u00a0": " ", "\u202f": " "}
_PIECE: Final = re.compile(r"[\[\]()]|<[^>]+>|[^\s\[\]()<>]+")
_GAP: Final = r"(?:\s*,)?\s+"
_END: Final = r"(?![\w'])"
_CLOSING: Final = re.compile(
    r"(?:[\s,]+(?:please|pls)|\s*,\s*(?:thanks|thank you|thx))?(?:(?<=[\w/\x02\x04)])[.!?]+)?\s*\Z"
)


@dataclass(frozen=True)
class Text:
    """Words as they were written, and the same words as shapes look at them, letter for letter."""

    raw: str
    marked: str
    """In lower case and without accents; every character inside quotation marks or a fenced block is blotted out."""

    def cut(self, start: int = 0, end: int | None = None) -> Text:
        """A part of it, without the blanks around."""
        part = self.marked[start:end]
        start += len(part) - len(part.lstrip())
        end = start + len(part.strip())
        return Text(self.raw[start:end], self.marked[start:end])

    def split(self, border: re.Pattern[str]) -> list[Text]:
        """The parts between the borders, without empty ones."""
        places = [0, *(place for found in border.finditer(self.marked) for place in found.span()), len(self.marked)]
        parts = (self.cut(start, end) for start, end in zip(places[::2], places[1::2], strict=True))
        return [part for part in parts if part.raw]

    @cached_property
    def quoted(self) -> str | None:
        """What stands inside the marks, if it is one quotation or block and nothing else."""
        found = re.fullmatch(r"([\1\3]+)(\0*)[\2\4]+", self.marked)
        return None if found is None else self.raw[found.end(1) : found.end(2)]

    @property
    def value(self) -> str:
        """The text meant: without its marks where it is quoted, else as written."""
        return self.raw if self.quoted is None else self.quoted


def mark(text: str) -> Text:
    """The text with its quotations marked."""
    marked = _blot("".join(_fold(char) for char in text), text, _FENCE, FENCE_OPENS, FENCE_CLOSES)
    for quotation in _QUOTATIONS:
        marked = _blot(marked, text, quotation, OPENS, CLOSES)
    return Text(text, marked)


def _blot(marked: str, text: str, pattern: re.Pattern[str], opens: str, closes: str) -> str:
    # Looked for in the text with what is blotted already, so that a mark inside a quotation opens nothing.
    seen = "".join(char if sign > FENCE_CLOSES else "\n" for char, sign in zip(text, marked, strict=True))
    for found in pattern.finditer(text if pattern is _FENCE else seen):
        blot = opens * len(found["open"]) + BLOT * len(found["inner"]) + closes * len(found["close"])
        marked = marked[: found.start()] + blot + marked[found.end() :]
    return marked


def _fold(char: str) -> str:
    """The character in lower case and without its accent; always one character, and never one of the marks."""
    if char in _SAME or char <= FENCE_CLOSES:
        return _SAME.get(char, " ")
    plain = unicodedata.normalize("NFKD", char)[0].lower()
    return plain if len(plain) == 1 else char


@dataclass(frozen=True)
class Request:
    """A text without the politeness around it."""

    core: Text
    open: Text
    """With its end as written, but for a last “please”: for shapes that end in free text."""
    verbatim: Text
    """With its end as written."""
    is_question: bool


def read_request(text: Text) -> Request:
    """The request in these words."""
    polite = strip_politeness(text.marked)
    now = re.search(r"\s+now\Z", text.marked[: polite.end])
    whole = text.cut(polite.start)
    closing = _CLOSING.search(whole.marked)
    core = text.cut(polite.start, now.start() if now else polite.end)
    return Request(core, whole.cut(0, closing.start() if closing else None), whole, polite.is_question)


@dataclass(frozen=True)
class Match:
    """A shape that fits, and what stands in its places."""

    text: Text
    places: dict[str, tuple[int, int]]

    def part(self, place: str) -> Text:
        """What stands in this place."""
        return self.text.cut(*self.places.get(place, (0, 0)))

    def value(self, place: str) -> str:
        """The text in this place, without quotation marks."""
        return self.part(place).value

    def values(self, place: str) -> list[Text]:
        """The items of the list in this place."""
        return self.part(place).split(re.compile(JOINED))


@dataclass(frozen=True)
class Shape:
    """One shape of a request."""

    written: str

    def match(self, request: Request) -> Match | None:
        """The match, if this shape accounts for every word."""
        is_open = re.search(r":rest>|command>", self.written)
        text = request.verbatim if ":verbatim>" in self.written else request.open if is_open else request.core
        found = self._pattern.fullmatch(f" {text.marked}")
        if found is None:
            return None
        # A kind with several spellings has a group for each; the match was made with a blank in front.
        filled = [(name, found.span(name)) for name, value in found.groupdict().items() if value is not None]
        spans = {name: (start - 1, end - 1) for name, (start, end) in filled}
        return Match(text, spans | {name.partition("__")[0]: span for name, span in spans.items()})

    def reach(self, request: Request) -> int:
        """How many letters of the request the beginning of this shape accounts for."""
        found = self._beginning.match(f" {request.core.marked}")
        return max(found.end() - 1, 0) if found else 0

    @property
    def words(self) -> frozenset[str]:
        """The words this shape is made of."""
        return frozenset(re.findall(r"[a-z]{3,}", re.sub(r"<[^>]+>", " ", self.written)))

    @cached_property
    def _elements(self) -> list[str]:
        return _read_phrases(_PIECE.findall(self.written))[0]

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        return re.compile("".join(self._elements), re.S)

    @cached_property
    def _beginning(self) -> re.Pattern[str]:
        # What takes any text accounts for none.
        fixed = list(itertools.takewhile(lambda element: "(?#any)" not in element, self._elements))
        return re.compile("(?:".join(["", *fixed]) + ")?" * len(fixed), re.S)


def _read_phrases(pieces: list[str]) -> list[list[str]]:
    """The phrases up to the closing bracket, each as its elements, which begin with the gap before them."""
    phrases: list[list[str]] = [[]]
    while pieces:
        piece = pieces.pop(0)
        if piece in ")]":
            break
        if piece == "|":
            phrases.append([])
        elif piece in "([":
            inner = "|".join("".join(phrase) for phrase in _read_phrases(pieces))
            phrases[-1].append(f"(?:{inner}){'?' if piece == '[' else ''}")
        else:
            phrases[-1].append(_element(piece))
    return phrases


def _element(piece: str) -> str:
    if piece == ":":
        return r"\s*:"
    if not piece.startswith("<"):
        return rf"{_GAP}(?:{'|'.join(re.escape(word) for word in piece.split('|'))}){_END}"
    name, _, kind = piece[1:-1].partition(":")
    pattern = KINDS[kind or name].replace("NAME", name)
    return f"{_GAP}{pattern}" + ("" if r"\S.*" in pattern else _END)
