"""What words and their order say about one clause: who orders what, in which mood, and whether in earnest."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from laneway.classify import effects
from laneway.classify.effects_words import CHANGING, NOTHING, READING, classes, foreign, joined

FILE = Path(__file__).with_name("confirm_words.toml")
_TOKEN = re.compile(r"[^\s,;:()!?\"“”„«»…]+")
_CHANGES, _READS = frozenset(CHANGING), frozenset(READING)
_PLAIN_ENDINGS = ("ed", "ing", "ly", "ss", "tion", "ment", "ness")


@dataclass(frozen=True)
class Signs:
    """What was found in one clause."""

    asks: bool
    marks: frozenset[str]
    head: frozenset[str] = NOTHING
    inner: frozenset[str] = NOTHING
    done: frozenset[str] = NOTHING
    adrift: frozenset[str] = NOTHING
    named: frozenset[str] = NOTHING
    abroad: frozenset[str] = NOTHING

    def has(self, *names: str) -> bool:
        """Whether all these marks were found."""
        return all(name in self.marks for name in names)


def read(clause: str, asks: bool) -> Signs:
    """The signs of one clause."""
    marks = {name for name in _names() if _pattern(name).search(clause)}
    order = effects.bare(clause)
    tokens = [token.rstrip(".'") for token in _TOKEN.findall(order)]
    head = classes(tokens[0]) if tokens else NOTHING
    if not head and tokens and effects.before_gerund(clause, order):
        head = classes(tokens[0], "ing")
    marks |= set(_of_head(tokens, head)) | set(_of_script(clause))
    if order != clause:
        marks.add("led")
    if tokens and foreign(tokens[0]):
        marks.add("head abroad")
    done = _all(tokens, "past")
    return Signs(
        asks,
        frozenset(marks),
        head,
        _inner(tokens),
        done,
        _all(tokens[1:], "ing"),
        _all(tokens[1:], "plain"),
        _abroad(tokens),
    )


def _of_head(tokens: list[str], head: frozenset[str]) -> list[str]:
    """Marks that the beginning and the end of the clause give."""
    if not tokens:
        return ["empty"]
    first, second, last = tokens[0], tokens[1] if len(tokens) > 1 else "", tokens[-1]
    found = [name for name, there in _objects(tokens).items() if there]
    if head & _CHANGES and not (second and second in _words("read_nouns")):
        found.append("head changes")
    if head & _READS:
        found.append("head reads")
    if "light" in head:
        found.append("head light")
    if not head and classes(first, "past"):
        found.append("past first")
    elif not head and _looks_like_order(first, second):
        found.append("head unknown")
    if first in _words("idle_words") and len(tokens) < 4:
        found.append("idle word")
    if last in _words("particles"):
        found.append("ends in particle")
    if len(tokens) > 2 and (first in _words("amounts") or first[0].isdigit()):
        found.append("amount first")
    if not _words("plain_read_nouns").isdisjoint(tokens[:6]):
        found.append("read noun near")
    if last in ("it", "them", "him", "her") and len(tokens) > 2 and tokens[-2] not in _words("nouns_follow"):
        found.append("ends in verb")
    if len(tokens) == 1:
        found.append("one word")
    if classes(last, "past") and not classes(last):
        found.append("ends in past")
    if first in _words("gentle"):
        found.append("gentle head")
    noun = second if first in _words("articles") else first
    if noun in _words("read_nouns") or second in _words("read_nouns"):
        found.append("thing to read")
    return found


def _objects(tokens: list[str]) -> dict[str, bool]:
    there = set(tokens)
    return {
        "pronoun next": len(tokens) > 1 and tokens[1] in _words("pronouns"),
        "article next": len(tokens) > 1 and tokens[1] in _words("articles"),
        "people": bool(there & _words("people")),
        "matter": bool(there & _words("matter")),
        "place": any("/" in token or "@" in token for token in tokens),
        "particle": bool(set(tokens[1:]) & _words("particles")),
    }


def _looks_like_order(first: str, second: str) -> bool:
    """Whether an unknown word stands where the verb of an order stands."""
    if first in _words("function") or not first.isalpha() or first.endswith(_PLAIN_ENDINGS):
        return False
    return second in _words("articles") or second in _words("pronouns")


def _inner(tokens: list[str]) -> frozenset[str]:
    """What verbs in plain form do that stand inside the clause."""
    found: set[str] = set()
    for place in range(1, len(tokens)):
        before, after = tokens[place - 1], tokens[place + 1] if place + 1 < len(tokens) else ""
        free = before not in _words("nouns_follow") and after in _followers()
        if free or before in _words("verbs_follow"):
            found |= classes(tokens[place])
    return frozenset(found)


@cache
def _followers() -> frozenset[str]:
    """What follows a verb rather than a noun."""
    return _words("articles") | _words("pronouns") | {"out", "off", "up", "down", "back"}


def _all(tokens: list[str], form: str) -> frozenset[str]:
    return frozenset().union(*(classes(token, form) for token in tokens)) if tokens else NOTHING


def _abroad(tokens: list[str]) -> frozenset[str]:
    """What orders of other languages do that stand inside the clause; many languages put the verb last."""
    return frozenset().union(*(foreign(token) for token in tokens[1:])) if tokens else NOTHING


def _of_script(clause: str) -> list[str]:
    """Marks of scripts without spaces."""
    if clause.isascii():
        return []
    return [f"joined {name}" for name in ("changes", "reads", "held", "asks") if joined(name).search(clause)]


@cache
def _words(name: str) -> frozenset[str]:
    return frozenset(_file()["words"][name].split())


@cache
def _names() -> tuple[str, ...]:
    return tuple(_file()["patterns"])


@cache
def _pattern(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w'])(?:{'|'.join(_file()['patterns'][name])})(?![\w])")


@cache
def _file() -> dict[str, dict[str, str]]:
    return tomllib.loads(FILE.read_text(encoding="utf-8"))
