"""Texts as rows of numbers: what their words mean (encoders), how they are built (grammar), which words they use.

Three tiers share the same rows: words and grammar alone, with the first encoder, with both.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from laneway.classify import grammar, lane_structure
from laneway.errors import SettingsError
from laneway.llm.encoders import Encoder

Matrix = NDArray[np.float32]
GRAMMAR_WEIGHT = 0.4
WORDS_WEIGHT = 1.0
STRUCTURE_WEIGHT = 0.5
STRUCTURES: dict[str, Callable[[str], list[float]]] = {"lane": lane_structure.features}
"""Analyses that one decision needs and the others do not, by the name a taxonomy gives in `structure`."""
PLACES = 4096
"""Words and pairs of words are counted in this many places; chance collisions cost less than a vocabulary."""


def structure(texts: Sequence[str], special: str | None = None) -> Matrix:
    """Grammar and words of each text, and the special analysis if one is named; no encoder is needed."""
    built = np.array([grammar.features(text) for text in texts], np.float32) * GRAMMAR_WEIGHT
    used = np.array([_words(text) for text in texts], np.float32) * WORDS_WEIGHT
    if special is None:
        return np.hstack([built, used])
    if special not in STRUCTURES:
        raise SettingsError(f"There is no structure `{special}`.", hint=f"Known: {', '.join(STRUCTURES)}.")
    further = np.array([STRUCTURES[special](text) for text in texts], np.float32) * STRUCTURE_WEIGHT
    return np.hstack([built, used, further])


def rows(texts: Sequence[str], encoders: Sequence[Encoder], special: str | None = None) -> Matrix:
    """One row for each text: meaning by every encoder given, then structure."""
    return np.hstack([*(encoder.encode(texts) for encoder in encoders), structure(texts, special)]).astype(np.float32)


def _words(text: str) -> Matrix:
    tokens = re.findall(r"\w+|[?!]", text.casefold())
    pairs = zip(["^", *tokens], [*tokens, "$"], strict=True)
    seen = [*tokens, *(f"{first} {second}" for first, second in pairs), f"^{' '.join(tokens[:2])}"]
    counts = np.zeros(PLACES, np.float32)
    for entry in seen:
        counts[zlib.crc32(entry.encode()) % PLACES] += 1
    logs = np.log1p(counts)
    length = float(np.linalg.norm(logs))
    return np.asarray(logs / length if length else logs, np.float32)
