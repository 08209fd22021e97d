"""Sentences without their politeness, and the words for who is told by what."""

from __future__ import annotations

import re

LONGEST = 400
_POLITE = re.compile(
    r"^(?:(?:hi|hello|hey|ok|okay|so|and|also|then|now|please|kindly|just|i want you to|i(?: would|'d) like you to|"
    r"i need you to|(?:can|could|would|will) you(?: please)?|make sure (?:to|that you)|remember to|let's|"
    r"(?:from now on|permanently|automatically|in (?:the )?future|going forward)),?\s+)+",
    re.IGNORECASE,
)
_AFTER = re.compile(
    r"(?:,?\s+(?:please|thanks|thank you|from now on|permanently|automatically|in (?:the )?future|going forward|"
    r"as well|too|for me))+$",
    re.IGNORECASE,
)
_NOT = re.compile(r"\b(?:not|never|don'?t|doesn'?t|won'?t|shouldn'?t|unless|except|without|no longer)\b", re.IGNORECASE)
_QUOTED = re.compile(r"\"[^\"]*\"|“[^”]*”|`[^`]*`|(?<!\w)'[^']*'(?!\w)")

NUMBER = (
    r"(?:[$€£]\s?)?-?\d[\d,]*(?:\.\d+)?\s?"
    r"(?:%|k\b|[$€£]|euros?\b|dollars?\b|pounds?\b|usd\b|eur\b|percent\b|degrees?\b)?"
)
LENGTH = r"\d+(?:\.\d+)?\s?(?:ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|days?)"
_UNITS = {"ms": 1, "mil": 1, "s": 1000, "sec": 1000, "m": 60_000, "min": 60_000, "h": 3_600_000, "hr": 3_600_000,
          "hou": 3_600_000, "day": 86_400_000}  # fmt: skip


def tidied(said: str) -> str:
    """The sentence on one line, without politeness and full stop; what was meant for ever is said by being here."""
    line = " ".join(said.replace("’", "'").split()).rstrip(" .!;")
    if re.match(r"(?:please |kindly )?(?:can|could|would|will) you\b", line, re.IGNORECASE):
        line = line.rstrip("? ")
    line = _POLITE.sub("", line)
    return _AFTER.sub("", line).strip(" ,")


def negated(said: str) -> bool:
    """Whether it says what shall not be: such a sentence means the opposite of the words in it."""
    return _NOT.search(_QUOTED.sub("", said)) is not None


def number(text: str) -> int | float:
    """The number without the signs around it."""
    plain = re.sub(r"[^\d.k-]", "", text.lower())
    times = 1000 if plain.endswith("k") else 1
    value = float(plain.rstrip("k")) * times
    return int(value) if value == int(value) else value


def milliseconds(text: str) -> int:
    """A length of time like `30 s` or `2 minutes`."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s?([a-z]+)", text.strip().lower())
    assert found is not None
    unit = found[2] if found[2] in _UNITS else found[2][:3]
    return round(float(found[1]) * _UNITS.get(unit, _UNITS.get(unit[:1], 1000)))


def lasting(length: int) -> str:
    """So many milliseconds in words."""
    for size, name in ((86_400_000, "day"), (3_600_000, "hour"), (60_000, "minute"), (1000, "second")):
        if length >= size and length % size == 0:
            return f"{length // size} {name}{'' if length == size else 's'}"
    return f"{length} ms"


def slug(text: str, joined: str = "_", most: int = 6) -> str:
    """Words as an id."""
    words = re.findall(r"[a-z0-9]+", text.lower().replace("'", ""))
    return joined.join([word for word in words if word not in ("the", "a", "an")][:most])[:60] or "step"


def unquoted(text: str) -> str:
    """The text without the quotation marks around it."""
    return text.strip().strip("\"“”`'").strip()
