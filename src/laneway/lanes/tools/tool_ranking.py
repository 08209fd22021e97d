"""Which tools fit a description: words over name, description and tags, forgiving plurals and slips of the pen."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Protocol, TypeVar


class Findable(Protocol):
    """Anything that can be looked for."""

    @property
    def name(self) -> str: ...
    @property
    def description(self) -> str: ...
    @property
    def tags(self) -> tuple[str, ...]: ...


F = TypeVar("F", bound=Findable)

NAME, TAG, SAID = 3.0, 2.0, 1.0
"""What a word counts for, by where it stands."""

LEAST = 0.35
"""What is worth less than this part of the best is not shown: what was hardly meant must not stay."""

_STOP = frozenset(
    ("a", "an", "the", "of", "to", "for", "in", "on", "at", "by", "with", "and", "or", "is", "are", "be", "my", "me",
     "it", "this", "that", "some", "any", "all", "from", "into", "as", "do", "does", "can", "could", "would", "please",
     "want", "need", "tool", "tools", "use", "using", "something", "which", "what", "how", "you")
)  # fmt: skip
_ENDINGS = (
    ("ies", "y"), ("sses", "ss"), ("ches", "ch"), ("shes", "sh"), ("xes", "x"), ("ing", ""), ("ed", ""), ("es", "e"),
    ("s", ""),
)  # fmt: skip


def search(findable: Sequence[F], query: str, limit: int) -> list[F]:
    """The best matches, best first; nothing if no word fits."""
    wanted = words(query)
    if not wanted:
        return []
    texts = [_weights(one) for one in findable]
    rarity = {word: _rarity(word, texts) for word in wanted}
    scored = [
        (sum(rarity[word] * _fit(word, text) for word in wanted), one)
        for text, one in zip(texts, findable, strict=True)
    ]
    best = max((score for score, _ in scored), default=0.0)
    kept = [(score, one) for score, one in scored if score > 0 and score >= LEAST * best]
    return [one for _, one in sorted(kept, key=lambda pair: (-pair[0], pair[1].name))[:limit]]


def words(text: str) -> list[str]:
    """The words that carry meaning, each once, in their plain form; `sendMail` and `send_mail` are two words."""
    apart = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", text)
    found = re.findall(r"[^\W_]+", apart.lower())
    return list(dict.fromkeys(_stem(word) for word in found if word not in _STOP and len(word) > 1))[:40]


def _stem(word: str) -> str:
    for ending, instead in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith("ss"):
            return word[: len(word) - len(ending)] + instead
    return word


def _weights(one: Findable) -> dict[str, float]:
    weights: dict[str, float] = {}
    for text, weight in ((one.description[:2000], SAID), (" ".join(one.tags), TAG), (one.name, NAME)):
        weights |= {word: max(weight, weights.get(word, 0.0)) for word in words(text)}
    return weights


def _rarity(word: str, texts: Sequence[dict[str, float]]) -> float:
    having = sum(1 for text in texts if _fit(word, text) > 0)
    return math.log(1 + (len(texts) + 1) / (having + 1))


def _fit(word: str, text: dict[str, float]) -> float:
    """How well a word is met: exactly, as the beginning of a longer one, or but for one slip."""
    if word in text:
        return text[word]
    begun = [weight for other, weight in text.items() if len(word) >= 3 and other.startswith(word)]
    begun += [weight for other, weight in text.items() if len(other) >= 4 and word.startswith(other)]
    if begun:
        return 0.7 * max(begun)
    slips = [weight for other, weight in text.items() if len(word) >= 4 and one_slip(word, other)]
    return 0.5 * max(slips, default=0.0)


def one_slip(one: str, other: str) -> bool:
    """Whether the words differ by one letter too many, too few, wrong, or by two neighbours swapped."""
    if abs(len(one) - len(other)) > 1 or one[0] != other[0]:
        return False
    if len(one) > len(other):
        one, other = other, one
    at = next((place for place, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), len(one))
    if len(one) < len(other):
        return one[at:] == other[at + 1 :]
    swapped = one[:at] + one[at + 1 : at + 2] + one[at : at + 1] + one[at + 2 :]
    return one[at + 1 :] == other[at + 1 :] or swapped == other
