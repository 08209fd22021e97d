"""A message taken apart into clauses, each with what it asks or orders."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from laneway.classify import effects
from laneway.classify.effects import Effect

FILE = Path(__file__).with_name("confirm_words.toml")
_QUOTES = re.compile(r"\"[^\"\n]*\"|“[^”\n]*”|„[^“”\n]*[“”]|«[^»\n]*»|`[^`\n]*`|(?<!\w)'[^'\n]{3,}'(?!\w)")
_PICTURES = re.compile("[\u2600-\u27bf\ufe0f\U0001f000-\U0001faff]")
_MATERIAL = re.compile(r"(?<=[a-z)\]\"]):\s.*", re.DOTALL)
_SENTENCES = re.compile(
    r"(?<!\bmr)(?<!\bms)(?<!\bdr)(?<!\bmrs)(?<!\bst)(?<!\bnr)(?<!\bno)(?<!\be\.g)([.!?;\n。！？；؟…]+)(?=\s|$|[^\x00-\x7f])"
)
_WITH_OBJECT = re.compile(r"(?:and |then |please |pls )*[\w-]+ (?:it|them|the|all|that|this|those|him|her|my|our)\b")
_ASKED = frozenset("?？؟")


@dataclass(frozen=True)
class Piece:
    """One clause with what it does."""

    text: str
    effect: Effect
    asks: bool = False


@cache
def starting(name: str) -> re.Pattern[str]:
    """One list of patterns for the beginning of a clause, after what may stand before them."""
    lists = _file()["starts"]
    before = f"(?:{'|'.join(lists[f'{name}_after'])})*" if f"{name}_after" in lists else ""
    return re.compile(rf"^{before}(?:{'|'.join(lists[name])})")


@cache
def anywhere(name: str) -> re.Pattern[str]:
    """One list of patterns, wherever they stand as whole words."""
    return re.compile(rf"(?<!\w)(?:{'|'.join(_file()['starts'][name])})")


def plain(text: str) -> str:
    """The message in lower case, without what it only quotes or hands over as material."""
    folded = unicodedata.normalize("NFKC", text).casefold().replace("’", "'").replace("¿", "").replace("¡", "").strip()
    unquoted = _QUOTES.sub(" it ", folded) if not _QUOTES.fullmatch(folded) else folded
    before = unquoted.partition(":")[0]
    if _MATERIAL.search(unquoted) and effects.effect(before) is Effect.HARMLESS and not effects.remark(before):
        unquoted = _MATERIAL.sub("", unquoted)
    return re.sub(r"[ \t]+", " ", _PICTURES.sub(" ", unquoted)).strip()


def pieces(message: str) -> list[Piece]:
    """A plain message in clauses, each with its effect as an order, a question or a remark."""
    found: list[Piece] = []
    start = 0
    for end in [*_SENTENCES.finditer(message), None]:
        sentence = message[start : end.start() if end else len(message)].strip()
        if sentence:
            found += _of_sentence(sentence, bool(end and _ASKED & set(end[0])))
        start = end.end() if end else start
    return found


def _of_sentence(sentence: str, marked: bool) -> list[Piece]:
    requested = bool(anywhere("request").search(sentence))
    asks = _asks(sentence) or (marked and not requested)
    found: list[Piece] = []
    for part in (piece.strip() for piece in anywhere_joint().split(sentence)):
        if part:
            # "what holds the lock, and stop it": an order may follow the question it depends on.
            asks = (asks and not _order_after(part, found, marked)) or _asks(part)
            found.append(Piece(part, _of_part(part, asks, found), asks))
    return found


def _order_after(part: str, before: list[Piece], marked: bool) -> bool:
    if starting("order_after").match(part):
        return True
    told = bool(before) and not marked and _WITH_OBJECT.match(part)
    return bool(told) and effects.effect(part) is Effect.CHANGES


def _asks(part: str) -> bool:
    return bool(starting("question").match(part))


def _of_part(part: str, asks: bool, before: list[Piece]) -> Effect:
    judged = effects.effect(part)
    if asks:
        return Effect.HARMLESS
    if not before or judged is Effect.HARMLESS:
        return judged
    last = before[-1]
    if judged is Effect.CHANGES and last.effect is Effect.HARMLESS and not last.asks and _carried(last.text, part):
        return Effect.HARMLESS
    return judged


def _carried(last: str, part: str) -> bool:
    """Whether what made the clause before harmless goes on in this one: "do not stop, move or rename anything"."""
    joined = bool(starting("joined").match(part))
    if effects.negated(last):
        return part.startswith("or ") or bool(re.search(r"\b(?:anything|any of|either)\b", part))
    return joined and bool(anywhere("how_to").search(last))


@cache
def anywhere_joint() -> re.Pattern[str]:
    """Where a sentence falls into clauses."""
    words = "|".join(_file()["starts"]["joints"])
    return re.compile(rf"\s*,\s*|\s+[-–—]+\s+|:\s+|\s+(?=(?:{words})\s)|，|、")


@cache
def _file() -> dict[str, dict[str, list[str]]]:
    return tomllib.loads(FILE.read_text(encoding="utf-8"))
