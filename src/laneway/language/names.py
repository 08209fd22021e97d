"""Names that are nearly right: the one that is meant, or none where two would do."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from rapidfuzz import fuzz, process

CLOSE: Final = 85
SHORTEST: Final = 5
"""A shorter word with another letter is another word."""


def correct(word: str, names: Iterable[str]) -> str | None:
    """The one name this word is a slip of; None if there is none, or more than one."""
    if not SHORTEST <= len(word) <= 60:
        return None
    found = process.extract(word, set(names), scorer=fuzz.ratio, score_cutoff=CLOSE, limit=2)
    close = [name for name, score, _ in found if name[0] == word[0] and score == found[0][1]]
    return close[0] if len(close) == 1 and len(close[0]) >= SHORTEST else None


def suggest(word: str, names: Iterable[str]) -> str:
    """A question back with the name that is nearest, or nothing."""
    found = process.extractOne(word[:60], list(names), scorer=fuzz.ratio, score_cutoff=60)
    return f"Did you mean `{found[0]}`?" if found else ""
