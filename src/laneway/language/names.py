"""Names that are nearly right: the one that is meant, or none where two would do."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable
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


def abbreviates(short: str, word: str) -> bool:
    """Whether a word is written short in this way: `qty` for quantity, `temp` for temperature."""
    if short in (word, "per") or not (2 <= len(short) < len(word) and short[0] == word[0] and len(word) > 3):
        return short == word
    letters, consonants = iter(word), not set(short) & set("aeiou")
    return (len(short) > 2 and word.startswith(short)) or (consonants and all(letter in letters for letter in short))


def suggest(word: str, names: Iterable[str]) -> str:
    """A question back with the name that is nearest, or nothing."""
    found = process.extractOne(word[:60], list(names), scorer=fuzz.ratio, score_cutoff=60)
    return f"Did you mean `{found[0]}`?" if found else ""


def slug(text: str, joint: str = "_", most: int = 6) -> str:
    """Words as an identifier, without articles."""
    found = re.findall(r"[a-z0-9]+", text.lower().replace("'", ""))
    return joint.join([word for word in found if word not in ("the", "a", "an")][:most])[:60] or "step"


def free_name(taken: Container[str], wanted: str, joint: str = "_") -> str:
    """A name like this that is not taken."""
    number, free = 2, wanted
    while free in taken:
        free, number = f"{wanted}{joint}{number}", number + 1
    return free
