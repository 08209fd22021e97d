"""Lists of words and phrases as they are best read in source: many to a line."""

from __future__ import annotations


def phrases(text: str) -> tuple[str, ...]:
    """Phrases divided by `|`."""
    return tuple(" ".join(phrase.split()) for phrase in text.split("|"))


def words(text: str) -> frozenset[str]:
    """Words divided by spaces."""
    return frozenset(text.split())


def pairs(text: str) -> dict[str, str]:
    """`word=meaning` pairs divided by `;`."""
    return {left.strip(): right.strip() for left, right in (pair.split("=") for pair in text.split(";") if "=" in pair)}


def meanings(text: str) -> dict[str, str]:
    """`meaning: phrase | phrase` lines, as the meaning of each phrase; a line without one goes on with the last."""
    found: dict[str, str] = {}
    meaning = ""
    for line in text.strip().split("\n"):
        head, colon, said = line.strip().partition(": ")
        meaning = head if colon else meaning
        found |= {phrase: meaning for phrase in phrases(said if colon else head) if phrase}
    return found
