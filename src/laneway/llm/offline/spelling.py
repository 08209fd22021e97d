"""Small typing errors in the words that matter, and nothing more: a guess in place of a strange word would hide it."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from laneway.llm.offline.words import KEY_WORDS, LITTLE_WORDS, NOT_TYPOS

_FOUR_LETTERS = ("disk", "load", "swap", "logs", "time", "user", "free", "used")


def respell(word: str) -> str:
    """The key word this one was meant to be, if it is a small typing error away; else the word itself."""
    if word in NOT_TYPOS or not word.isalpha():
        return word
    little = (guess for guess in LITTLE_WORDS if guess in _neighbours_swapped(word) or _lacks_one(word, guess))
    return next(little, None) or _nearest(word, KEY_WORDS, _allowed_errors(word))


def complete(words: tuple[str, ...], is_known: Callable[[str], bool]) -> tuple[str, ...]:
    """The words with one of three letters completed, where all the others are known: `cpu lod`."""
    strange = [word for word in words if not is_known(word)]
    if len(words) < 2 or len(strange) != 1 or len(strange[0]) != 3 or strange[0] in NOT_TYPOS:
        return words
    meant = _nearest(strange[0], _FOUR_LETTERS, 1)
    return tuple(meant if word == strange[0] else word for word in words)


def _nearest(word: str, guesses: Iterable[str], allowed: int) -> str:
    """The nearest guess with at most `allowed` errors, the first of equals; else the word itself."""
    near = (
        (distance, place, guess)
        for place, guess in enumerate(guesses)
        if abs(len(guess) - len(word)) <= allowed and guess[0] in word[:2]
        if (distance := _distance(word, guess)) <= allowed
    )
    return min(near, default=(0, 0, word))[2]


def _neighbours_swapped(word: str) -> set[str]:
    if len(word) < 3:
        return set()
    return {word[:i] + word[i + 1] + word[i] + word[i + 2 :] for i in range(len(word) - 1)}


def _lacks_one(word: str, guess: str) -> bool:
    return 4 <= len(word) == len(guess) - 1 and word[0] == guess[0] and _distance(word, guess) == 1


def _allowed_errors(word: str) -> int:
    if len(word) <= 3:
        # Three letters are too few to guess from, unless no real word could look like that.
        return 1 if len(word) == 3 and not set(word) & set("aeiouy") else 0
    return 1 if len(word) <= 7 else 2


def _distance(a: str, b: str) -> int:
    """How many letters were dropped, added, changed or swapped with their neighbour."""
    before: list[int] = []
    row = list(range(len(b) + 1))
    for i, left in enumerate(a, 1):
        earlier, before, row = before, row, [i]
        for j, right in enumerate(b, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (left != right))
            if i > 1 and j > 1 and left == b[j - 2] and a[i - 2] == right:
                cost = min(cost, earlier[j - 2] + 1)
            row.append(cost)
    return row[-1]
