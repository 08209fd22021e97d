"""Formatted text as runs: pieces of text that carry the same marks. Any sequence of runs is well-formed HTML."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from html import escape
from typing import NamedTuple

LANGUAGE = re.compile(r"[A-Za-z0-9+#_.-]{1,32}\Z")
_GONE = re.compile("[\x00-\x08\x0b-\x1f\x7f\u2028-\u202e\u2066-\u2069\ufeff]")
_LONE = re.compile("[\ud800-\udfff]")
_UNSEEN = frozenset("\u00ad\u115f\u1160\u2800\u3164\uffa0\ufffc")


class Mark(NamedTuple):
    """One kind of formatting: `b`, `i`, `s`, `code`, `pre` (with its language), `a` (with its target), `blockquote`."""

    tag: str
    argument: str = ""

    @property
    def opening(self) -> str:
        """The HTML before what it marks."""
        if self.tag == "a":
            return f'<a href="{escape(self.argument)}">'
        if self.tag == "pre" and self.argument:
            return f'<pre><code class="language-{escape(self.argument)}">'
        return f"<{self.tag}>"

    @property
    def closing(self) -> str:
        """The HTML after what it marks."""
        return "</code></pre>" if self.tag == "pre" and self.argument else f"</{self.tag}>"


class Run(NamedTuple):
    """A piece of text and its marks, the outermost first."""

    text: str
    marks: tuple[Mark, ...] = ()


def clean(text: str) -> str:
    """The text without what Telegram would drop or could not take: controls, marks of direction, lone surrogates."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").expandtabs(4)
    return _GONE.sub("", _LONE.sub("\ufffd", text))


def units(text: str) -> int:
    """How many UTF-16 units the text has: what Telegram counts."""
    return len(text) + sum(char > "\uffff" for char in text)


def blank(text: str) -> bool:
    """Whether a reader would see nothing."""
    return all(char.isspace() or char in _UNSEEN or unicodedata.category(char) in ("Cf", "Cc") for char in text)


def visible(runs: Iterable[Run]) -> str:
    """What a reader sees."""
    return "".join(run.text for run in runs)


def escaped(text: str) -> str:
    """The text as HTML that shows it letter by letter."""
    return escape(text, quote=False)


def html(runs: Iterable[Run]) -> str:
    """The runs as Telegram's HTML; every tag that is opened is closed, in order."""
    written: list[str] = []
    open_marks: tuple[Mark, ...] = ()
    for text, marks in runs:
        shared = _shared(open_marks, marks)
        written += [mark.closing for mark in reversed(open_marks[shared:])]
        written += [mark.opening for mark in marks[shared:]]
        written.append(escaped(text))
        open_marks = marks
    written += [mark.closing for mark in reversed(open_marks)]
    return "".join(written)


def plain(runs: Sequence[Run]) -> str:
    """What a reader sees where nothing can be marked: the targets of links stand behind their words."""
    written: list[str] = []
    for index, run in enumerate(runs):
        written.append(run.text)
        following = runs[index + 1].marks if index + 1 < len(runs) else ()
        for mark in run.marks:
            if mark.tag == "a" and mark not in following and mark.argument != run.text:
                written.append(f" ({mark.argument})")
    return "".join(written)


def entities(runs: Sequence[Run]) -> list[tuple[int, int]]:
    """Where each marked stretch begins and ends, in characters."""
    found: list[tuple[int, int]] = []
    begun: list[int] = []
    open_marks: tuple[Mark, ...] = ()
    at = 0
    for text, marks in [*runs, Run("")]:
        shared = _shared(open_marks, marks)
        while len(begun) > shared:
            found.append((begun.pop(), at))
        begun += [at] * (len(marks) - shared)
        open_marks = marks
        at += len(text)
    return found


def _shared(before: tuple[Mark, ...], after: tuple[Mark, ...]) -> int:
    """How many marks go on from one run to the next."""
    count = 0
    while count < min(len(before), len(after)) and before[count] == after[count]:
        count += 1
    return count
