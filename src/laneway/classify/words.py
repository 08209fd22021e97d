"""Which words, pairs of words and runs of letters a text has: with examples by many hands they tell most of all.

Each is counted in one of a fixed number of places (chance collisions cost less than a vocabulary), and what is rare
counts more. How rare each place is was counted once over all built-in examples and comes with the program.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence
from functools import cache, lru_cache
from pathlib import Path

import numpy as np

from laneway.classify.rows import Matrix, Places, Sparse

PLACES = 8192
WEIGHTS = {"words": 3.0, "pairs": 2.0, "letters": 3.0}
"""How much the words, the pairs of neighbours and the runs of letters count, each as a unit row."""
WIDTH = PLACES * len(WEIGHTS)
RARITY = Path(__file__).with_name("words_rarity.npz")
LONGEST = 600
"""Letters of a text that are read."""


def rows(texts: Sequence[str], scale: float = 1.0) -> Sparse:
    """One sparse row for each text; `scale` says how far its words are to be trusted."""
    return Sparse.of([_row(text, scale) for text in texts], WIDTH)


def tokens(text: str) -> list[str]:
    return re.findall(r"\w+|[?!]", text.casefold())


def rarity(texts: Sequence[str]) -> Matrix:
    """For each place the logarithm of how many times fewer texts have it than there are texts."""
    met = np.zeros((len(WEIGHTS), PLACES))
    for text in texts:
        for number, entries in enumerate(_entries(text)):
            met[number, np.unique(places_of(entries))] += 1
    return np.log((1 + len(texts)) / (1 + met)).astype(np.float32)


@cache
def _known() -> Matrix:
    with np.load(RARITY, allow_pickle=False) as stored:
        return np.asarray(stored["rarity"], np.float32)


@lru_cache(64)
def _row(text: str, scale: float) -> tuple[Places, Matrix]:
    parts = [
        _counted(entries, _known()[number], number * PLACES, weight * scale)
        for number, (entries, weight) in enumerate(zip(_entries(text), WEIGHTS.values(), strict=True))
    ]
    return np.concatenate([places for places, _ in parts]), np.concatenate([numbers for _, numbers in parts])


def _entries(text: str) -> tuple[list[str], list[str], list[str]]:
    """Words; neighbours and the first two words; runs of three to five letters, which outlive slips and endings."""
    said = tokens(text)
    pairs = [f"{first} {second}" for first, second in zip(["^", *said], [*said, "$"], strict=True)]
    line = f" {' '.join(said)} "[:LONGEST]
    letters = [line[start : start + length] for length in (3, 4, 5) for start in range(len(line) - length + 1)]
    return said, [*pairs, f"^{' '.join(said[:2])}"], letters


def places_of(entries: Sequence[str]) -> Places:
    """The place of each entry, the same on every machine."""
    return np.fromiter((zlib.crc32(entry.encode()) % PLACES for entry in entries), np.int32, len(entries))


def _counted(entries: Sequence[str], rare: Matrix, first: int, weight: float) -> tuple[Places, Matrix]:
    """Where the entries stand, and how much each counts: together they are as long as `weight`."""
    places, often = np.unique(places_of(entries), return_counts=True)
    numbers = np.log1p(often.astype(np.float32)) * rare[places]
    length = float(np.linalg.norm(numbers))
    return (places + first).astype(np.int32), (numbers * (weight / length if length else 0.0)).astype(np.float32)
