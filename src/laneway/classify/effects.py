"""What one clause would do to the world: change it, only look, say nothing about it, or leave it unclear.

The verb at the head of an order decides, with its object where the verb alone does not. Only what grammar makes
certain is called a change or harmless; the rest stays unclear.
"""

from __future__ import annotations

import re
import tomllib
from enum import StrEnum
from functools import cache
from pathlib import Path

FILE = Path(__file__).with_name("effects.toml")
TYPO_LETTERS = 5
"""Shorter words have too many neighbours for a slip of the finger to be told from another word."""


class Effect(StrEnum):
    """What a clause does."""

    CHANGES = "changes"
    HARMLESS = "harmless"
    UNCLEAR = "unclear"
    NOTHING = "nothing"


_TURNS = re.compile(r"\b(?:just|only|simply|instead|rather|nur|sondern|solo|seulement)\s+(.+)")
_NAMED_FILE = re.compile(
    r"\b(?:to|into|in|as|onto|called|named) (?:(?:a|the|my|file) ){0,3}"
    r"(?:[\w-]+\.(?:csv|txt|json|ya?ml|pdf|xlsx?|md|html|sql|gz|zip|tar|log|conf|ini|sh|py|docx?)\b|[~/][\w.~-]*/?\w)"
)
_INNER = re.compile(r"(?:(\w+) )?\b([\w-]+)(?= (?:it|them|him|her|the|all|that|this|those|everything|my|our|me)\b)")


@cache
def words(name: str) -> frozenset[str]:
    """One group of words from the file."""
    return frozenset(str(_file()[name]).split()) | (words(f"{name}_abroad") if f"{name}_abroad" in _file() else set())


@cache
def phrases(name: str) -> re.Pattern[str]:
    """One list of patterns from the file, as a single pattern."""
    return re.compile("|".join(f"(?:{entry})" for entry in _file()[name]))


@cache
def leading() -> re.Pattern[str]:
    """What may stand before the verb of an order."""
    return re.compile(rf"^(?:(?:{'|'.join(_file()['lead'])})(?=[\s,:]|$)[\s,:]*)+")


@cache
def _denying() -> re.Pattern[str]:
    before, denials = "|".join(_file()["negated_after"]), "|".join(_file()["negated"])
    return re.compile(rf"^(?:{before})*(?:{denials})\b")


def bare(piece: str) -> str:
    """The clause without greetings, politeness and other things that come before the verb."""
    return leading().sub("", piece)


def effect(piece: str) -> Effect:
    """What the clause does, judged as an order."""
    order = bare(piece)
    if not order:
        return Effect.NOTHING
    denied = negated(piece) or negated(order)
    if denied:
        return _negated(denied)
    if phrases("subordinate").match(order):
        return _of_condition(order)
    return _of_order(order, gerund=before_gerund(piece, order))


def negated(piece: str) -> str:
    """The clause, if it says what is not to be done; otherwise nothing."""
    return piece if _denying().match(piece) and not phrases("not_denied").match(piece) else ""


def before_gerund(piece: str, order: str) -> bool:
    """Whether what comes before the order wants its verb in -ing: "would you mind closing it"."""
    return bool(phrases("gerund_after").search(piece[: len(piece) - len(order)]))


def names_file(piece: str) -> bool:
    """Whether the clause names a file to write to."""
    return bool(_NAMED_FILE.search(piece))


def denied_abroad(piece: str) -> bool:
    """Whether a word for not stands anywhere, as languages other than English put it."""
    return bool(phrases("denials_abroad").search(piece))


def remark(piece: str) -> bool:
    """Whether the clause tells what is or was, and orders nothing."""
    return bool(phrases("states").match(bare(piece)))


def _negated(clause: str) -> Effect:
    turned = _TURNS.search(clause)
    if turned:
        return effect(turned[1])
    # "Never again" and "no longer" end something that goes on now.
    return Effect.UNCLEAR if phrases("lasting").search(clause) else Effect.HARMLESS


def _of_condition(order: str) -> Effect:
    inner = (found[2] for found in _INNER.finditer(order) if found[1] not in words("nouns_after"))
    if any(_of_verb(verb) is Effect.CHANGES for verb in inner):
        return Effect.CHANGES
    tail = re.search(r"\b(?:just|please|then|get|go|do|run|give|make)\b .+", order)
    return Effect.UNCLEAR if tail and not order.startswith(("before", "since", "because")) else Effect.NOTHING


def _of_order(order: str, gerund: bool) -> Effect:
    if phrases("change_first").match(order):
        return Effect.CHANGES
    if phrases("only_words").match(order):
        return Effect.HARMLESS
    if phrases("harmless_phrases").match(order):
        return _of_text(order)
    if phrases("change_phrases").match(order):
        return Effect.CHANGES
    head = re.match(r"[\w'-]+", order)
    known = _of_verb(head[0]) if head else Effect.UNCLEAR
    if head and (phrases("noun_first").match(order) or (head[0].endswith("ing") and not gerund)):
        return Effect.UNCLEAR
    if known is not Effect.UNCLEAR:
        return known
    if phrases("changes_joined").search(order):
        held = phrases("negations_joined").search(order) or phrases("reads_joined").search(order)
        return Effect.UNCLEAR if held else Effect.CHANGES
    if phrases("reads_joined").search(order) or phrases("states").match(order):
        return Effect.HARMLESS
    return _of_last(order)


def _of_text(order: str) -> Effect:
    """Text that is written into a named file leaves something behind; into some file, perhaps."""
    if not phrases("writes").match(order):
        return Effect.HARMLESS
    if names_file(order):
        return Effect.CHANGES
    return Effect.UNCLEAR if phrases("change_phrases").match(order) else Effect.HARMLESS


def _of_last(order: str) -> Effect:
    """Many languages put the verb last."""
    last = re.findall(r"[\w']+", order)[-1:]
    if denied_abroad(order) or not last:
        return Effect.UNCLEAR
    if last[0] in words("changes_abroad") and " " in order:
        return Effect.CHANGES
    return Effect.HARMLESS if last[0] in words("reads_abroad") else Effect.UNCLEAR


def _of_verb(verb: str) -> Effect:
    changes, reads = words("changes"), words("reads")
    verb = re.sub(r"(?:-(?:la|le|les|lo|moi|nous)|'s)$", "", verb)
    if verb in changes or (verb.endswith("ing") and _stems(verb) & changes):
        return Effect.CHANGES
    if verb in reads or (verb.endswith("ing") and _stems(verb) & reads):
        return Effect.HARMLESS
    return _mistyped(verb)


def _mistyped(verb: str) -> Effect:
    """A change whose name has one letter too few, one too many, or two exchanged; nothing else is certain."""
    if len(verb) < TYPO_LETTERS or not verb.isascii() or verb.endswith(("ed", "s", "er", "ing")):
        return Effect.UNCLEAR
    near = verb in _slipped() or bool(_shorter(verb) & words("changes"))
    return Effect.CHANGES if near else Effect.UNCLEAR


@cache
def _slipped() -> frozenset[str]:
    long = [word for word in words("changes") if len(word) > TYPO_LETTERS and word.isascii()]
    return frozenset(slip for word in long for slip in _shorter(word) | _exchanged(word))


def _shorter(word: str) -> set[str]:
    return {word[:place] + word[place + 1 :] for place in range(1, len(word))} if len(word) > TYPO_LETTERS else set()


def _exchanged(word: str) -> set[str]:
    return {word[:place] + word[place + 1] + word[place] + word[place + 2 :] for place in range(1, len(word) - 1)}


def _stems(verb: str) -> set[str]:
    stem = verb[:-3]
    return {stem, f"{stem}e", stem[:-1] if stem[-2:-1] == stem[-1:] else stem}


@cache
def _file() -> dict[str, str | list[str]]:
    return tomllib.loads(FILE.read_text(encoding="utf-8"))
