"""A text as tokens: words, numbers, quotations, dates and signs, each with the place it stands at."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

LONGEST, MOST_DIGITS = 2000, 200
"""Letters of a request and digits of a number; what is longer is none, and no rule looks at it."""

_TOKEN: Final = re.compile(
    r"""
    (?P<quoted>"[^"\n]*"|“[^”\n]*”|``[^'\n]*''|`[^`\n]+`|(?<![\w'])'[^'\n]+'(?!\w))
    |(?P<date>\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?)?(?![\w-]))
    |(?P<word>\d{1,2}:\d\d(?::\d\d)?(?![\w:]))
    |(?P<number>(?:(?<!\w)[-$€£]|(?<!\w)-[$€£])?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?P<unit>k|m|bn|%|st|nd|rd|th)?(?![\w%]))
    |(?P<letters>[^\W_]+(?:['’][^\W\d_]+)*)
    |(?P<sign>>=|<=|!=|<>|==|[=<>,;:.?!()&+*/%#@$€£-])
    """,
    re.VERBOSE | re.IGNORECASE,
)
_MARKS: Final = {"“": "”", "`": "`", '"': '"', "'": "'"}
_CAMEL: Final = re.compile(r"(?<=[a-z\d])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_IRREGULAR: Final = {
    "ids": "id", "people": "person", "men": "man", "women": "woman", "children": "child", "feet": "foot",
    "series": "series", "species": "species", "staff": "staff", "data": "data", "statuses": "status", "news": "news",
    "movies": "movie", "cookies": "cookie", "calories": "calorie", "buses": "bus", "gases": "gas", "lens": "lens",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Token:
    """One piece of a text; `word` is what it is compared by."""

    kind: str
    """word, number, ordinal, quoted, date or sign."""
    text: str
    word: str
    start: int
    end: int
    value: int | float = 0
    unit: str = ""
    """What a number is written with: %, $, m."""


def fold(text: str) -> str:
    """The text in lower case, without accents, with straight apostrophes."""
    if text.isascii():
        return text.lower()
    plain = unicodedata.normalize("NFKD", text.replace("’", "'")).casefold()
    return "".join(letter for letter in plain if not unicodedata.combining(letter))


def tokenize(text: str) -> list[Token]:
    """The tokens of the text, in their order; what is no token (an emoji, a control character) is a sign."""
    found: list[Token] = []
    at = 0
    for match in _TOKEN.finditer(text):
        found += _strange(text, at, match.start())
        found += _tokens(match)
        at = match.end()
    return found + _strange(text, at, len(text))


def _strange(text: str, start: int, end: int) -> list[Token]:
    return [
        Token("sign", text[i], text[i], i, i + 1)
        for i in range(start, end)
        if not (text[i].isspace() or text[i] == "_")
    ]


def _tokens(match: re.Match[str]) -> list[Token]:
    kind, text, start, end = match.lastgroup or "", match.group(), match.start(), match.end()
    if match["number"] is not None:
        return [_number(match)]
    if kind == "quoted":
        inner = text.strip("`'").strip() if text.startswith("``") else text[1:-1].strip()
        return [Token("quoted", inner, fold(inner), start, end)]
    word = fold(text)
    if kind == "letters" and len(word) > 2 and word.endswith("'s"):
        return [Token("word", text[:-2], word[:-2], start, end - 2), Token("sign", "'s", "'s", end - 2, end)]
    return [Token("word" if kind == "letters" else kind, text, word, start, end)]


def _number(match: re.Match[str]) -> Token:
    text, unit = match["number"], (match["unit"] or "").lower()
    digits = re.sub(r"[^\d.-]", "", text[: len(text) - len(unit)] if unit else text)
    if len(digits) > MOST_DIGITS:
        return Token("word", text, text, match.start(), match.end())
    value: int | float = float(digits) if "." in digits else int(digits)
    if unit in ("k", "bn"):
        value, unit = value * (1000 if unit == "k" else 10**9), ""
        value = int(value) if value == int(value) else value
    if unit in ("st", "nd", "rd", "th"):
        return Token("ordinal", text, fold(text), match.start(), match.end(), value)
    sign = next((one for one in "$€£" if one in text), "")
    return Token("number", text, fold(digits), match.start(), match.end(), value, sign or unit)


@lru_cache(maxsize=8192)
def split_name(name: str) -> tuple[str, ...]:
    """The words of an identifier such as `unitPrice`, `unit_price` or `Unit price`."""
    return tuple(token.word for token in tokenize(_CAMEL.sub(" ", name[:LONGEST])) if token.kind != "sign")


@lru_cache(maxsize=8192)
def singular(word: str) -> str:
    """The word for one of what this word may be the plural of."""
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) < 4 or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies") and len(word) > 4:
        return f"{word[:-3]}y"
    if word.endswith(("xes", "ches", "shes", "sses", "zzes")):
        return word[:-2]
    return word[:-1]


@lru_cache(maxsize=8192)
def stem(word: str) -> str:
    """What `process`, `processed` and `processing` share."""
    word = singular(word)
    for ending in ("ations", "ation", "ings", "ing", "ers", "er", "ed", "es", "e"):
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith("ss"):
            return word[: -len(ending)]
    return word
