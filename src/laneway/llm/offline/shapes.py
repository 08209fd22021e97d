"""The little language in which the shapes of orders are written.

A shape is a regular expression over the marked message (lower case, no accents, quotations blotted out) that must
match all of it. A blank stands for any blanks, ` ?` for some or none. `@name` is a list of words in four languages from
`order_words.toml`. `<name>` is one word or one quotation, `<name:quoted>` a quotation, `<name:block>` a quotation or a
fenced block, `<name:list>` several names joined by commas or "and", `<name:rest>` everything up to the end.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from laneway.llm.offline.marking import Said

_QUOTED = r"\x01+\x00+\x02+"
_FENCED = r"\x03+\x00*\x04+"
_WORD = r"[^\s\x00-\x04,;]*[^\s\x00-\x04,;:.!?]"
_ITEM = rf"(?:{_QUOTED}|{_WORD})"
_JOINED = r"(?:\s*,\s*(?:(?:and|und|et|y)\s+)?|\s+(?:and|und|et|y|&)\s+)"
_KINDS = {
    "": _ITEM,
    "quoted": _QUOTED,
    "block": rf"(?:{_QUOTED}|{_FENCED})",
    "list": rf"{_ITEM}(?:{_JOINED}{_ITEM})*?",
    "rest": r"\S.*",
}
_TABLES: dict[str, dict[str, str]] = tomllib.loads(
    Path(__file__).with_name("order_words.toml").read_text(encoding="utf-8")
)
_LISTS = {name: words for table in _TABLES.values() for name, words in table.items()}


@dataclass(frozen=True)
class Found:
    """A shape that fits, and what stands in its places."""

    said: Said
    match: re.Match[str]

    def has(self, name: str) -> bool:
        """True if this place of the shape is filled."""
        return self.match.groupdict().get(name) is not None

    def part(self, name: str) -> Said:
        """What stands in this place."""
        return self.said.cut(*self.match.span(name))

    def value(self, name: str) -> str:
        """The text in this place, without quotation marks."""
        return self.part(name).value

    def values(self, name: str) -> list[Said]:
        """The names of a list in this place."""
        part = self.part(name)
        places = [found.span() for found in re.finditer(_ITEM, re.sub(_JOINED, _blanks, part.marked))]
        return [part.cut(start, end) for start, end in places]


@cache
def shape(text: str) -> re.Pattern[str]:
    """The regular expression of a shape."""
    opened = re.sub(r"(?<!\?P)<(\w+)(?::(\w+))?>", lambda place: _place(place[1], place[2] or ""), _opened(text))
    return re.compile(opened.replace(" ?", r"\s*").replace(" ", r"\s+"), re.S)


def _place(name: str, kind: str) -> str:
    return f"(?P<{name}>{_KINDS[kind]})"


def _opened(text: str) -> str:
    """The shape with the lists it names put in."""
    return re.sub(r"@([a-z_]+)", lambda named: _list(named[1]), text)


@cache
def _list(name: str) -> str:
    lines = [_opened(line) for line in _LISTS[name].split("\n") if line]
    return f"(?:{'|'.join(lines)})"


def shapes(*texts: str) -> tuple[re.Pattern[str], ...]:
    """The regular expressions of several shapes."""
    return tuple(shape(text) for text in texts)


def fitting(said: Said, patterns: tuple[re.Pattern[str], ...]) -> Iterator[Found]:
    """The shapes that fit all of these words, in their order."""
    for pattern in patterns:
        if match := pattern.fullmatch(said.marked):
            yield Found(said, match)


def _blanks(found: re.Match[str]) -> str:
    return " " * len(found.group())
