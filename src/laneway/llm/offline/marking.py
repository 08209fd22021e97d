"""A message with its quotations marked, so that rules see where words end and quoted text begins.

`marked` has the length of the message itself: lower case, without accents, and with every character inside quotation
marks, backticks or a fenced block blotted out. So no rule can find an order inside a quotation, and what a rule finds
at a place is cut out of the message as it was written.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import cached_property

BLOT = "\0"
OPENS, CLOSES = "\1", "\2"
FENCE_OPENS, FENCE_CLOSES = "\3", "\4"

_FENCE = re.compile(r"(?P<open>```(?:[ \t]*[\w+-]*[ \t]*\n)?)(?P<inner>.*?)(?P<close>```)", re.S)
_QUOTATIONS = (
    re.compile(r"(?P<open>`)(?P<inner>[^`\n]+)(?P<close>`)"),
    re.compile(r'(?P<open>["“„])(?P<inner>[^"“”\n]+)(?P<close>["”“])'),
    re.compile(r"(?P<open>«[ \u00a0]?)(?P<inner>[^«»\n]+?)(?P<close>[ \u00a0]?»)"),
    re.compile(r"(?P<open>(?<!\w)['‘])(?P<inner>[^'‘’\n]+)(?P<close>['’](?!\w))"),
)
_SAME = {"’": "'", "‘": "'", "–": "-", "—": "-", "\u00a0": " ", "\u202f": " ", "ß": "s"}


@dataclass(frozen=True)
class Said:
    """Words as they were written, and the same words as rules look at them."""

    raw: str
    marked: str

    def cut(self, start: int, end: int) -> Said:
        """A part of it, without the blanks around."""
        start += len(self.marked[start:end]) - len(self.marked[start:end].lstrip())
        end = start + len(self.marked[start:end].rstrip())
        return Said(self.raw[start:end], self.marked[start:end])

    @cached_property
    def quoted(self) -> str | None:
        """What stands inside the marks, if it is one quotation or block and nothing else."""
        found = re.fullmatch(r"([\1\3]+)(\0*)[\2\4]+", self.marked)
        return None if found is None else self.raw[found.end(1) : found.end(2)]

    @property
    def value(self) -> str:
        """The text meant: without its marks where it is quoted, else as written."""
        return self.raw if self.quoted is None else self.quoted

    @property
    def is_fenced(self) -> bool:
        return self.marked.startswith(FENCE_OPENS)


def said(text: str) -> Said:
    """The text with its quotations marked."""
    marked = "".join(_folded(char) for char in text)
    marked = _blotted(marked, text, _FENCE, FENCE_OPENS, FENCE_CLOSES)
    for quotation in _QUOTATIONS:
        marked = _blotted(marked, text, quotation, OPENS, CLOSES)
    return Said(text, marked)


def _blotted(marked: str, text: str, pattern: re.Pattern[str], opens: str, closes: str) -> str:
    # Looked for in the text with what is blotted already, so that a mark inside a quotation opens nothing.
    seen = "".join(char if mark > FENCE_CLOSES else "\n" for char, mark in zip(text, marked, strict=True))
    for found in pattern.finditer(text if pattern is _FENCE else seen):
        blot = opens * len(found["open"]) + BLOT * len(found["inner"]) + closes * len(found["close"])
        marked = marked[: found.start()] + blot + marked[found.end() :]
    return marked


def _folded(char: str) -> str:
    """The character in lower case and without its accent; always one character, and never one of the marks."""
    if char in _SAME:
        return _SAME[char]
    if char <= FENCE_CLOSES:
        return " "
    plain = unicodedata.normalize("NFKD", char)[0].lower()
    return plain if len(plain) == 1 else char
