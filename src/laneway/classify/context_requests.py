"""What a request in a conversation is: a question, an order, a report, a change."""

from __future__ import annotations

import re
from dataclasses import replace

from laneway.classify.context_said import Heard, Meaning, asking
from laneway.classify.context_words import ENDS, JOINED, PARTS, at_head, has, wholly
from laneway.classify.grammar import starts_with_verb
from laneway.classify.lexicon import lexicon
from laneway.classify.rules import normalise, small_talk

_OBJECT = re.compile(
    r"[\w-]+ (?:it|them|that|this|those|these|the|all|him|her|me|us|everything|both|my|our|a|an|back|le|la|les|"
    r"los|las|el|il|lo|gli|den|die|das)\b"
)
_REPORTS = re.compile(
    r"(?:^|[,.;] )(?:i|we)(?:'ve| have)? (?:already |just )?(?!need)\w+ed\b|"
    r"^(?:the|my|our|there's|there is) .* (?:is|are|was)\b"
)


def is_request(meaning: Meaning) -> bool:
    return meaning.label != "other" and small_talk(meaning.text) is None and not tells(meaning)


def tells(meaning: Meaning) -> bool:
    """Whether a message of the user only reports what is or was done."""
    plain = normalise(meaning.text)
    told = _REPORTS.search(plain) and not plain.endswith("?") and not has(plain, "begs")
    orders = meaning.order or meaning.label is not None or has(plain, "begs") or has(plain, "decree")
    parts = [JOINED.sub("", part) for part in PARTS.split(plain)]
    if orders or any(starts_with_verb(part) for part in parts):
        return False
    clause = has(plain, "finite") and at_head(plain, "asks", "figures", "wishes") is None and "?" not in plain
    return bool(told) or (bool(clause) and not any(looks_like_order(part) for part in parts))


def is_rehearsal(plain: str) -> bool:
    """Whether what is told or offered only shows what a deed would do."""
    return bool(has(plain, "rehearsal")) and not has(plain, "beside_rehearsal") and not has(plain, "earnest")


def settled(meaning: Meaning) -> Meaning:
    """A request that is plainly a question stays one for all that refers to it, and a rehearsal a rehearsal."""
    if meaning.confirm is None and is_rehearsal(meaning.text.casefold()):
        meaning = replace(meaning, confirm=False)
    if meaning.label is None and is_question(meaning):
        return asking(meaning.text)
    plain = normalise(meaning.text)
    if not meaning.order and at_head(plain, "figures") and not looks_like_order(plain):
        return Meaning(f"show me {meaning.text}")
    return meaning


def is_question(meaning: Meaning) -> bool:
    plain = normalise(meaning.text)
    if meaning.label == "question" or meaning.order or has(plain, "begs"):
        return meaning.label == "question"
    verb = starts_with_verb(plain) and not has(plain, "alternatives")
    return (plain.endswith(tuple(ENDS)) and not verb) or at_head(plain.lstrip("¿"), "asks") is not None


def is_about_it(meaning: Meaning) -> bool:
    """Whether a question only asks after the deed before it: "did it work?"."""
    return is_question(meaning) and bool(re.search(r"\b(?:it|that|they|this)\b", meaning.text.casefold()))


def writes(meaning: Meaning) -> bool:
    return at_head(re.sub(r"^(?:please|can you|could you|now) ", "", normalise(meaning.text)), "writes") is not None


def changes(meaning: Meaning) -> bool:
    """Whether a request may be for a change: a question is not, and nothing that only looks."""
    plain = normalise(meaning.text)
    told = lexicon()["changes"].search(plain) and not lexicon()["reads"].match(plain)
    return bool(told) and not is_question(meaning)


def looks_like_order(plain: str) -> bool:
    """Whether a text is built like an order, though its verb is in no list: "escalate it to the owner"."""
    if at_head(plain, "subjects"):
        return False
    while (head := at_head(plain, "more")) is not None:
        plain = plain[len(head) :].strip()
        if not plain:
            return False
    other = at_head(plain, "no_verb", "bend", "number", "degree", "asks", "remark")
    return other is None and _OBJECT.match(plain) is not None


def asks_in_part(plain: str) -> bool:
    """Whether a later part of the message asks something: "more important, are any of them new", "newer how"."""
    words = plain.split()
    bare = JOINED.sub("", plain)
    if len(words) > 1 and wholly(words[-1], "wh_last") and not (starts_with_verb(bare) or looks_like_order(bare)):
        return True
    return any(at_head(JOINED.sub("", part), "asks") and has(part, "inverted") for part in PARTS.split(plain)[1:])


def own_order(heard: Heard) -> bool:
    """Whether a later part of the message orders something: "it was better before, change it back"."""
    for part in PARTS.split(heard.plain)[1:]:
        bare = JOINED.sub("", part)
        if starts_with_verb(bare) and not at_head(bare, "degree") and (bare != part or _OBJECT.match(bare)):
            return True
    return False


def names_option(heard: Heard) -> bool:
    """Whether the message is one of the names the assistant gave to choose from."""
    return heard.words < 3 and any(f" {heard.plain} " in f" {option} " for option in heard.said.options)
