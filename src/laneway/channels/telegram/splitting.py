"""Cuts formatted text into parts a message can hold: between blocks, lines or words, never inside a mark that fits."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from laneway.channels.telegram.runs import Run, blank, entities, html, units, visible

LONGEST_HTML = 30_000
"""Bytes; the Bot API reads no text over 32 KiB, tags and all."""
MOST_ENTITIES = 100
"""Telegram drops the formatting of a message beyond its hundredth entity."""
SHORTEST = 0.5
"""A part is at least so much of the limit, unless nothing else keeps a mark whole."""
_PLACES = (re.compile(r"\n\n+"), re.compile(r"\n"), re.compile(r"(?<=[.!?:;。！？])\s"), re.compile(r"\s"))


def split(runs: Sequence[Run], limit: int) -> list[list[Run]]:
    """Parts of at most `limit` UTF-16 units, in order; no visible character is lost."""
    parts: list[list[Run]] = []
    rest = list(runs)
    while rest:
        part, rest = _first(rest, limit)
        if not blank(visible(part)):
            parts.append(part)
    return parts


def _first(runs: list[Run], limit: int) -> tuple[list[Run], list[Run]]:
    """The first part and what is left for the others; a part too rich for one message is made smaller."""
    size = limit
    while True:
        part, rest = _divided(runs, _cut(runs, size, limit))
        rich = len(html(part).encode()) > LONGEST_HTML or len(entities(part)) > MOST_ENTITIES
        if not rich or size <= 1:
            return part, rest
        size = min(size, units(visible(part))) // 2


def _cut(runs: Sequence[Run], size: int, limit: int) -> int:
    """After how many characters the first part ends, if it may have `size` units."""
    text = visible(runs)
    most = _reach(text, size)
    if most >= len(text):
        return len(text)
    inside = _inside(runs, text, most, limit)
    for least in (int(most * SHORTEST), 0):
        for place in _PLACES:
            ends = [found.end() for found in place.finditer(text, 0, most + 1) if least < found.end() <= most]
            if fitting := [end for end in ends if not inside[end]]:
                return fitting[-1]
    return _anywhere(text, most, inside)


def _inside(runs: Sequence[Run], text: str, most: int, limit: int) -> bytearray:
    """For each place whether a mark that would fit into one part goes on there."""
    inside = bytearray(most + 2)
    for begin, end in entities(runs):
        if begin < most and units(text[begin:end]) <= limit:
            for place in range(begin + 1, min(end, most + 2)):
                inside[place] = 1
    return inside


def _anywhere(text: str, most: int, inside: bytearray) -> int:
    """The last place where no mark and no character that is drawn from several is torn."""
    whole = (at for at in range(most, 0, -1) if not inside[at])
    first = next(whole, most)
    return next((at for at in (first, *whole) if not _joined_to(text, at)), first)


def _joined_to(text: str, at: int) -> bool:
    """Whether the character there is drawn together with the one before it."""
    char, before = text[at], text[at - 1]
    flags = "\U0001f1e6" <= char <= "\U0001f1ff" and "\U0001f1e6" <= before <= "\U0001f1ff"
    return (
        flags
        or before == "\u200d"
        or char in "\u200d\ufe0f\ufe0e\u20e3"
        or bool(unicodedata.combining(char))
        or "\U0001f3fb" <= char <= "\U0001f3ff"
    )


def _reach(text: str, limit: int) -> int:
    """How many characters fit into so many units."""
    if len(text) * 2 <= limit:
        return len(text)
    room = limit
    for index, char in enumerate(text[: limit + 1]):
        room -= 1 + (char > "\uffff")
        if room < 0:
            return max(1, index)
    return min(len(text), limit)


def _divided(runs: Sequence[Run], cut: int) -> tuple[list[Run], list[Run]]:
    """The runs before and after the place; a mark that goes on is closed here and opened again there."""
    before: list[Run] = []
    after: list[Run] = []
    for run in runs:
        head, tail = run.text[:cut], run.text[cut:]
        cut = max(0, cut - len(run.text))
        if head:
            before.append(Run(head, run.marks))
        if tail:
            after.append(Run(tail, run.marks))
    return _without_edges(before), _without_edges(after)


def _without_edges(runs: list[Run]) -> list[Run]:
    """Line ends at the edges go: Telegram would cut them off, and code that is reopened begins with its first line."""
    while runs and not runs[0].text.strip("\n"):
        runs.pop(0)
    while runs and not runs[-1].text.strip():
        runs.pop()
    if runs:
        runs[0] = Run(runs[0].text.lstrip("\n"), runs[0].marks)
        runs[-1] = Run(runs[-1].text.rstrip(), runs[-1].marks)
    return runs
