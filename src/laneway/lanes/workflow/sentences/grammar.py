"""Patterns of sentences with slots: one fits the whole text, or the words from which on none does are named.

A pattern is written as `change|set the timeout of <step> to <length>`: words, of which one of several may stand there,
`[…]` around what may be left out, `_` for a space inside a word, `<slot>`, `<name:slot>` or `<name:one|other>`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, TypeVar

from laneway.language.numbers import LENGTH, milliseconds, whole_number
from laneway.language.refusal import MODEL_HINT, NotUnderstood

_UNIT = r'(?:"[^"]*"|`[^`]*`|(?!, )[^\s"`]\S*)'
"""One word or one quotation; a comma between words, with a space on both sides, is none."""
NAME = (
    r"(?!(?:is|are|was|has|and|or|but|if|when|whenever|while|until|unless|than|then|instead|below|under|above|over|at|less|"
    r"more|it|this|that|an?|with|saying|by|always)\b)`?[a-z][\w.-]*`?"
)
"""A word that may be a part of a name: none that joins or compares what stands around it."""
_PIECE = re.compile(r"\[[^\]]*\]|\S+")
Make = TypeVar("Make")
Values = Mapping[str, Any]


class Unread(NotUnderstood):
    """Raised for a text that is not understood from the letter `at` on; a model might understand it."""

    def __init__(self, at: int, reason: str, hint: str = "") -> None:
        super().__init__(reason, f"{hint} {MODEL_HINT}".strip())
        self.at = at


def words(most: int) -> str:
    """So many words, as few as fit, as a regular expression."""
    return rf"{_UNIT}(?: {_UNIT}){{0,{most - 1}}}?"


def unquote(text: str) -> str:
    """The text without the quotation marks around it."""
    return text.strip().strip("\"`'").strip()


def parse_number(text: str) -> int | float:
    """The number that the whole text is."""
    found = {"once": 1, "twice": 2}.get(text.lower()) or whole_number(text)
    if found is None:
        raise Unread(0, f"“{text[:60]}” is not understood as a number.")
    return found


@dataclass(frozen=True)
class Slot:
    """What fills a gap: a regular expression, how its text is read, and an example."""

    regex: str
    parse: Callable[[str], Any] = unquote
    example: str = ""
    form: str = "{} "
    """What may stand around it."""
    is_nested: bool = False
    """Whether it is a sentence of its own, whose reading alone says how far it is understood."""


PLAIN_SLOTS = {
    "length": Slot(LENGTH, lambda text: milliseconds(text), "30 s"),
    "number": Slot(r"[-$€£]{0,2}\d\S*(?: (?:percent|dollars?|euros?|pounds?|eur|%|€|million))?", parse_number, "80"),
    "count": Slot("[1-9]|10|once|twice|two|three|four|five|six|seven|eight|nine|ten", parse_number, "5"),
}


class Pattern(Generic[Make]):
    """One pattern, and what makes something of the values in its slots."""

    def __init__(self, template: str, slots: Mapping[str, Slot], make: Make) -> None:
        self.make, self._slots = make, slots
        self._parsers: dict[str, Callable[[str], Any]] = {}
        self._parts = [self._part(piece) for piece in _PIECE.findall(template)]
        self.example = " ".join(shown for _, shown, _ in self._parts if shown).replace("_", " ").replace(" ,", ",")
        self.whole = re.compile("".join(regex for regex, _, _ in self._parts), re.IGNORECASE)

    def read(self, found: re.Match[str]) -> Values:
        """What stands in the slots; Unread, counted from the beginning of the text, if one cannot be read."""
        values: dict[str, Any] = {}
        for name, text in found.groupdict().items():
            try:
                values[name] = None if text is None else self._parsers[name](text)
            except Unread as error:
                error.at += found.start(name)
                raise
        return values

    @cached_property
    def beginnings(self) -> re.Pattern[str]:
        """The beginnings of the pattern up to a sentence of its own in it, the longest first."""
        plain = [re.sub(r"\(\?P<\w+>", "(?:", regex) for regex, _, _ in self._parts]
        most = next((index for index, (_, _, is_nested) in enumerate(self._parts) if is_nested), len(plain))
        return re.compile("|".join("".join(plain[:end]) for end in range(most, -1, -1)), re.IGNORECASE)

    def _part(self, piece: str) -> tuple[str, str, bool]:
        """A piece as a regular expression, an example of it, and whether it is a sentence of its own."""
        if piece[0] == "[":
            return f"(?:{''.join(self._part(one)[0] for one in _PIECE.findall(piece[1:-1]))})?", "", False
        if piece[0] != "<":
            return f"{_either(piece)} ", piece.split("|")[0], False
        name, _, kind = piece[1:-1].partition(":")
        either = Slot(_either(kind), str.lower, kind.split("|")[0])
        slot = either if "|" in kind else self._slots[kind or name]
        self._parsers[name] = slot.parse
        return slot.form.replace("{}", f"(?P<{name}>{slot.regex})"), slot.example, slot.is_nested


def _either(piece: str) -> str:
    return f"(?:{'|'.join(re.escape(one.replace('_', ' ')) for one in piece.split('|'))})"


class Grammar(Generic[Make]):
    """Patterns in the order they are tried."""

    def __init__(self, about: str, slots: Mapping[str, Slot], patterns: Sequence[tuple[str, Make]]) -> None:
        self._about, self._patterns = about, [Pattern(template, slots, make) for template, make in patterns]

    def read(self, text: str) -> tuple[Make, Values]:
        """What makes something of the text, and the values in it; Unread names the words that fit no pattern."""
        line, furthest = f"{text} ", Unread(-1, "")
        for one in self._patterns:
            found = one.whole.fullmatch(line)
            try:
                if found is not None:
                    return one.make, one.read(found)
            except Unread as error:
                furthest = max(furthest, error, key=lambda each: each.at)
        reached = [found.end() if (found := one.beginnings.match(line)) else 0 for one in self._patterns]
        at = max(reached)
        if furthest.at >= at:
            raise furthest
        hint = f"Say it like “{self._patterns[reached.index(at)].example}”." if at else ""
        rest = (text[at:] or text).replace(" ,", ",").strip(" ,")
        shown = rest if len(rest) <= 80 else f"{rest[:79]}…"
        about = " is not complete" if at >= len(line) else " is not understood" + ("" if at else f" as {self._about}")
        raise Unread(at, f"“{shown}”{about}.", hint)
