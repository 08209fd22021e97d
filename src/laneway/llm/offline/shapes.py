"""The little language in which the shapes of orders are written.

A shape is a regular expression over the marked message (lower case, no accents, quotations blotted out) that must
match all of it. A blank stands for any blanks, ` ?` for some or none. `<name>` is one word or one quotation, `<name:quoted>` a quotation,
`<name:block>` a quotation or a fenced block, `<name:list>` several names joined by commas or "and", `<name:rest>`
everything up to the end. `@the`, `@file`, `@folder` and `@named` are those words in four languages.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

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
_MACROS = {
    "@the": r"(?:(?:the|my|our|this|that|an?|der|die|das|den|dem|meine?n?|eine?n?|le|la|les|mon|ma|une?|el|los|las|mi|una)"
    r" |l')?",
    "@file": r"(?P<file>(?:(?:new|neue|nouveau|nuevo) )?(?:text ?)?(?:file|document|datei|fichier|archivo|fichero) )",
    "@folder": r"(?P<folder>(?:(?:new|neuen?|nouveau|nueva?) )?(?:sub)?(?:folder|directory|dir|ordner|verzeichnis|dossier"
    r"|repertoire|carpeta|directorio) )",
    "@named": r"(?P<named>(?:named|called|namens|nomme|appele|llamad[oa]) )",
}


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


def shape(text: str) -> re.Pattern[str]:
    """The regular expression of a shape."""
    for name, words in _MACROS.items():
        text = text.replace(name, words)
    text = re.sub(r"(?<!\?P)<(\w+)(?::(\w+))?>", lambda place: f"(?P<{place[1]}>{_KINDS[place[2] or '']})", text)
    return re.compile(text.replace(" ?", r"\s*").replace(" ", r"\s+"), re.S)


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
