"""Texts as rows of numbers: what their words mean (encoders), how they are built (grammar), which words they use.

Three tiers share the same rows: words and grammar alone, with the first encoder, with both.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache, lru_cache

import numpy as np

from laneway.classify import confirmation, grammar, lane_structure, words
from laneway.classify.rows import Matrix, Rows
from laneway.errors import SettingsError
from laneway.llm.encoders import Encoder

GRAMMAR_WEIGHT = 0.4
KEYWORDS_WEIGHT = 0.2
PAIRS_WEIGHT = 0.4
FEW_STRUCTURE, FEW_WORDS, FEW_SECOND = 0.4, 0.15, 2.5
"""With few examples a label, words and grammar tell less about the next text, and the second encoder's meaning more."""
KEPT = 64
"""Texts whose analyses are kept: a label, its flags and the next tier ask for the same ones a moment later."""
_built = lru_cache(KEPT)(grammar.features)
_confirmed = lru_cache(KEPT)(confirmation.features)
_lasting = lru_cache(KEPT)(lane_structure.features)
STRUCTURES: dict[str, tuple[float, Callable[[str], list[float]]]] = {
    "lane": (0.25, lambda text: _with_pairs(_lasting(text))),
    "confirmation": (0.15, lambda text: _with_pairs(_confirmed(text))),
    "request": (0.25, lambda text: [*_confirmed(text), *_lasting(text)]),
}
"""Analyses that one decision needs and the others do not, by the name a taxonomy gives in `structure`.

Each with how much it counts, chosen on sixteen hands, each judged by weights that had not seen it.
"""


def structure(texts: Sequence[str], special: str | None = None) -> Matrix:
    """How each text is built, and the special analysis if one is named; no encoder is needed."""
    built = np.array([_built(text) for text in texts], np.float32).reshape(len(texts), -1) * GRAMMAR_WEIGHT
    return np.hstack([built, *([analysed(texts, special)] if special else [])])


def analysed(texts: Sequence[str], special: str) -> Matrix:
    """The special analysis of each text."""
    if special not in STRUCTURES:
        raise SettingsError(f"There is no structure `{special}`.", hint=f"Known: {', '.join(STRUCTURES)}.")
    weight, features = STRUCTURES[special]
    return np.array([features(text) for text in texts], np.float32) * weight


def rows(
    texts: Sequence[str],
    encoders: Sequence[Encoder],
    special: str | None = None,
    keywords: Sequence[tuple[str, ...]] = (),
    plenty: float = 1.0,
) -> Rows:
    """One row for each text: meaning by every encoder given, structure, words, and which labels' keywords it has.

    `plenty` says how far the examples go: 1 where each label has a hundred or more, towards 0 where there are few.
    """
    first = [encoder.encode(texts) for encoder in encoders[:1]]
    others = [_second(encoder, texts, plenty) for encoder in encoders[1:]]
    built = structure(texts, special) * (FEW_STRUCTURE + (1 - FEW_STRUCTURE) * plenty)
    dense = np.hstack([*first, *others, built, named(texts, keywords)]).astype(np.float32)
    return Rows(dense, words.rows(texts, FEW_WORDS + (1 - FEW_WORDS) * plenty))


def _second(encoder: Encoder, texts: Sequence[str], plenty: float) -> Matrix:
    """What a further encoder says: where examples are few, its meaning counts more and what is beside it less."""
    found = encoder.encode(texts)
    meaning, beside = found[:, : encoder.width], found[:, encoder.width :]
    return np.hstack([meaning * (FEW_SECOND + (1 - FEW_SECOND) * plenty), beside * plenty])


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
