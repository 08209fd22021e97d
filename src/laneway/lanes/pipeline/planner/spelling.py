"""Words as they are compared: without case, number and abbreviation, and how far one is from another."""

from __future__ import annotations

import re
from functools import lru_cache

from laneway.lanes.pipeline.planner.lexicon import ABBREVIATIONS, IRREGULAR, UNITS
from laneway.lanes.pipeline.planner.phrasing import words

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_SHORT_MINUTES = frozenset(("min", "m", "s"))
_LASTING = words(
    """
    duration dur time runtime length delay wait elapsed distance height depth width
    """
)
"""`duration_min` counts minutes; a `price_min` is the smallest price."""
_PARTS = re.compile(r"(?:km|cm|mm|m|ft)2(?!\d)|[^\W\d_]+|\d+")


@lru_cache(maxsize=8192)
def stem(word: str) -> str:
    """The word in the singular."""
    if word in IRREGULAR:
        return IRREGULAR[word]
    if len(word) <= 3 or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies"):
        return word[:-3] + "y" if len(word) > 5 else word[:-1]
    if word.endswith(("sses", "xes", "ches", "shes", "zes")):
        return word[:-2]
    return word[:-1]


def plural(word: str) -> bool:
    """Whether the word names more than one thing."""
    return stem(word) != word or word in ("staff", "data", "inventory", "people", "everything")


@lru_cache(maxsize=4096)
def name_parts(name: str) -> tuple[str, ...]:
    """The words a column or table name is made of, as they are written."""
    return tuple(part.lower() for piece in _CAMEL.split(name) for part in _PARTS.findall(piece))


@lru_cache(maxsize=4096)
def name_words(name: str) -> tuple[tuple[str, ...], str]:
    """The words of a name in the singular, abbreviations written out, and its unit of measure or ''."""
    parts = list(name_parts(name))
    unit = ""
    if len(parts) > 1 and parts[-1] in UNITS and not (parts[-1] in _SHORT_MINUTES and _LASTING.isdisjoint(parts)):
        unit = UNITS[parts.pop()]
        if parts and len(parts) > 1 and parts[-1] == "in":
            parts.pop()
    words: list[str] = []
    for part in parts:
        words.extend(stem(word) for word in ABBREVIATIONS.get(part, part).split())
    return tuple(words), unit


def near(word: str, other: str) -> bool:
    """Whether one is most likely the other with a slip of the finger."""
    if word == other or min(len(word), len(other)) < 5 or word[0] != other[0]:
        return False
    return _distance(word, other) <= (2 if min(len(word), len(other)) >= 9 else 1)


def _distance(left: str, right: str) -> int:
    """Insertions, deletions, replacements and swaps of neighbours between the two."""
    before: list[int] = []
    row = list(range(len(right) + 1))
    for i, a in enumerate(left, 1):
        older, before, row = before, row, [i]
        for j, b in enumerate(right, 1):
            best = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (a != b))
            if i > 1 and j > 1 and a == right[j - 2] and left[i - 2] == b:
                best = min(best, older[j - 2] + 1)
            row.append(best)
    return row[-1]
