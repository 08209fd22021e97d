"""Lists of words and phrases as they are best read in source: many to a line."""

from __future__ import annotations


def phrases(text: str) -> tuple[str, ...]:
    """Phrases divided by `|`, in their order: where one begins like another, the longer comes first."""
    return tuple(" ".join(phrase.split()) for phrase in text.split("|"))


def words(text: str) -> frozenset[str]:
    """Words divided by spaces."""
    return frozenset(text.split())
