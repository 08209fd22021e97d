"""Numbers and lengths of time in figures or words: `1,200`, `twenty five`, `2 million`, `30 s`, `2 hours`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from laneway.language.tokens import Token, tokenize

_SMALL: Final = [
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
]  # fmt: skip
_TENS: Final = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
WORDS: Final = dict(zip(_SMALL, range(20), strict=True)) | dict(zip(_TENS, range(20, 100, 10), strict=True))
_TIMES: Final = {"hundred": 100, "thousand": 1000, "k": 1000, "million": 10**6, "mio": 10**6, "billion": 10**9}
MOST: Final = 10**200  # No figure of anything is larger.
UNITS: Final = {
    "euro": "€", "euros": "€", "eur": "€", "dollar": "$", "dollars": "$", "usd": "$", "pound": "£", "pounds": "£",
    "gbp": "£", "€": "€", "$": "$", "£": "£", "percent": "%", "%": "%",
}  # fmt: skip
"""Words for what a number is an amount of, and the sign for it."""

LENGTH: Final = (
    r"(?:\d+(?:\.\d+)?|an?|one|two|three|four|five|ten|fifteen|twenty|thirty) ?"
    r"(?:ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|days?|weeks?)"
)
"""A length of time, as a regular expression over small letters."""
_LENGTHS: Final = {"ms": 1, "mi": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 604_800_000}


@dataclass(frozen=True, slots=True)
class Number:
    """A number that was read, what it is an amount of, and how many tokens it took."""

    value: int | float
    unit: str
    used: int


def read_number(tokens: Sequence[Token], at: int) -> Number | None:
    """The number that begins at this token; None if none does."""
    if at >= len(tokens):
        return None
    token, used = tokens[at], 1
    value: int | float
    if token.kind == "number":
        value = token.value
    elif token.kind == "word" and token.word in WORDS:
        value = WORDS[token.word]
        following = tokens[at + 1].word if at + 1 < len(tokens) else ""
        if value >= 20 and 0 < WORDS.get(following, 0) < 10:
            value, used = value + WORDS[following], 2
    elif token.word in UNITS and at + 1 < len(tokens) and tokens[at + 1].kind == "number" and token.kind == "sign":
        return Number(tokens[at + 1].value, UNITS[token.word], 2)
    else:
        return None
    while at + used < len(tokens) and tokens[at + used].word in _TIMES and abs(value) < MOST:
        value, used = value * _TIMES[tokens[at + used].word], used + 1
    unit = token.unit
    if not unit and at + used < len(tokens) and tokens[at + used].word in UNITS:
        unit, used = UNITS[tokens[at + used].word], used + 1
    return Number(int(value) if value == int(value) else value, unit, used)


def whole_number(text: str) -> int | float | None:
    """The number that all of the text is; None if it is none."""
    tokens = tokenize(text)
    found = read_number(tokens, 0)
    return found.value if found and found.used == len(tokens) else None


def milliseconds(text: str) -> int:
    """So long is what `LENGTH` matched."""
    found = re.fullmatch(r"([\d.]+|[a-z]+?) ?(ms|mil|s|m|h|d|w)[a-z]*", text.strip().lower())
    if found is None:
        raise ValueError(f"{text!r} is no length of time")
    count = float(found[1]) if found[1][0].isdigit() else {"a": 1, "an": 1}.get(found[1]) or WORDS[found[1]]
    return round(count * _LENGTHS[found[2][:2] if found[2] in ("ms", "mil") else found[2]])


def describe_length(length: int) -> str:
    """So many milliseconds in words."""
    for size, name in ((86_400_000, "day"), (3_600_000, "hour"), (60_000, "minute"), (1000, "second")):
        if length >= size and length % size == 0:
            return f"{length // size} {name}{'' if length == size else 's'}"
    return f"{length} ms"
