"""Texts as rows of numbers: what their words mean (encoders), how they are built (grammar), which words they use.

Three tiers share the same rows: words and grammar alone, with the first encoder, with both.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from laneway.classify import confirmation, grammar, lane_structure
from laneway.errors import SettingsError
from laneway.llm.encoders import Encoder

Matrix = NDArray[np.float32]
GRAMMAR_WEIGHT = 0.4
WORDS_WEIGHT = 1.0
LETTERS_WEIGHT = 1.0
KEYWORDS_WEIGHT = 0.2
PAIRS_WEIGHT = 0.4
LONGEST_LETTERS = 600
STRUCTURE_WEIGHT = 0.5
FEW_STRUCTURE, FEW_SECOND = 0.4, 2.5
"""With few examples a label, words and grammar tell less about the next text, and the second encoder tells more."""
STRUCTURES: dict[str, Callable[[str], list[float]]] = {
    "lane": lambda text: _with_pairs(lane_structure.features(text)),
    "confirmation": lambda text: _with_pairs(confirmation.features(text)),
    "request": lambda text: [*confirmation.features(text), *lane_structure.features(text)],
}
"""Analyses that one decision needs and the others do not, by the name a taxonomy gives in `structure`."""
PLACES = 4096
"""Words and pairs of words are counted in this many places; chance collisions cost less than a vocabulary."""


def structure(texts: Sequence[str], special: str | None = None) -> Matrix:
    """Grammar, words and letters of each text, and the special analysis if one is named; no encoder is needed."""
    built = np.array([grammar.features(text) for text in texts], np.float32) * GRAMMAR_WEIGHT
    used = np.array([_words(text) for text in texts], np.float32) * WORDS_WEIGHT
    spelt = np.array([_letters(text) for text in texts], np.float32) * LETTERS_WEIGHT
    return np.hstack([built, used, spelt, *([analysed(texts, special)] if special else [])])


def analysed(texts: Sequence[str], special: str) -> Matrix:
    """The special analysis of each text."""
    if special not in STRUCTURES:
        raise SettingsError(f"There is no structure `{special}`.", hint=f"Known: {', '.join(STRUCTURES)}.")
    return np.array([STRUCTURES[special](text) for text in texts], np.float32) * STRUCTURE_WEIGHT


def rows(
    texts: Sequence[str],
    encoders: Sequence[Encoder],
    special: str | None = None,
    keywords: Sequence[tuple[str, ...]] = (),
    plenty: float = 1.0,
) -> Matrix:
    """One row for each text: meaning by every encoder given, structure, and which labels' keywords it has.

    `plenty` says how far the examples go: 1 where each label has a hundred or more, towards 0 where there are few.
    """
    first = [encoder.encode(texts) for encoder in encoders[:1]]
    others = [encoder.encode(texts) * (FEW_SECOND + (1 - FEW_SECOND) * plenty) for encoder in encoders[1:]]
    built = structure(texts, special) * (FEW_STRUCTURE + (1 - FEW_STRUCTURE) * plenty)
    return np.hstack([*first, *others, built, named(texts, keywords)]).astype(np.float32)


def _with_pairs(signs: list[float]) -> list[float]:
    """Signs, and which of them meet: "every" means one thing beside a step and another beside rows."""
    found = np.array(signs, np.float32)
    first, second = np.triu_indices(len(signs), 1)
    return [*signs, *(found[first] * found[second] * PAIRS_WEIGHT).tolist()]


def named(texts: Sequence[str], keywords: Sequence[tuple[str, ...]]) -> Matrix:
    """For each label whether one of its keywords is there. It counts little: a word alone decides nothing."""
    patterns = [_pattern(words) for words in keywords]
    found = [[pattern.search(text.casefold()) is not None for pattern in patterns] for text in texts]
    return np.array(found, np.float32).reshape(len(texts), len(patterns)) * KEYWORDS_WEIGHT


@cache
def _pattern(keywords: tuple[str, ...]) -> re.Pattern[str]:
    words = "|".join(re.escape(word.casefold()) for word in keywords if word)
    return re.compile(rf"(?<!\w)(?:{words})" if words else r"(?!)")


def _words(text: str) -> Matrix:
    """Words and pairs of neighbours."""
    tokens = _tokens(text)
    pairs = zip(["^", *tokens], [*tokens, "$"], strict=True)
    return _counted([*tokens, *(f"{first} {second}" for first, second in pairs), f"^{' '.join(tokens[:2])}"])


def _letters(text: str) -> Matrix:
    """Runs of three and four letters: what typing errors and endings leave of a word."""
    line = f" {' '.join(_tokens(text))} "[:LONGEST_LETTERS]
    return _counted([line[start : start + length] for length in (3, 4) for start in range(len(line) - length + 1)])


def _tokens(text: str) -> list[str]:
    return re.findall(r"\w+|[?!]", text.casefold())


def _counted(entries: Sequence[str]) -> Matrix:
    """How often each entry occurs, in a fixed number of places, as a unit row."""
    places = np.fromiter((zlib.crc32(entry.encode()) % PLACES for entry in entries), np.int64, len(entries))
    logs = np.log1p(np.bincount(places, minlength=PLACES).astype(np.float32))
    length = float(np.linalg.norm(logs))
    return np.asarray(logs / length if length else logs, np.float32)
