"""A message in its place: what the assistant said before it, offers and options included."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from laneway.classify.context_words import ENDS, at_head, has, source, wholly
from laneway.classify.grammar import starts_with_verb

_SENTENCES = re.compile(r"(?<=[.!?;。！？؟])\s+|(?<=[。！？])|\n|;\s+")
_QUOTED = re.compile(r"\"[^\"\n]*\"|“[^”\n]*”|„[^“”\n]*[“”]|«[^»\n]*»")
_PARTICLE = re.compile(r"(?:か|吗)。?$")
_LISTED = re.compile(r"(?:^|(?<=[\s(:]))\(?(?:[a-e]\)|\d[).:])\s+")


@dataclass(frozen=True)
class Meaning:
    """The text to judge in place of a message, and what the dialogue makes certain whatever the words.

    An `order` is a command. A `label` or a `confirm` that is not None holds; the rest is judged by the text.
    """

    text: str
    order: bool = False
    label: str | None = None
    confirm: bool | None = None


@dataclass(frozen=True)
class Said:
    """What the assistant said last, as far as one can answer to it."""

    offer: str | None = None
    asks: bool = False
    choice: bool = False
    clarifies: bool = False
    options: tuple[str, ...] = ()
    last: str = ""
    done: bool = False
    plain: str = ""
    answered: bool = False
    """It said something before it asked."""
    standing: bool = False
    """It was said some turns ago, and nothing has settled it since."""


@dataclass(frozen=True)
class Heard:
    """A message in its place: its words without noise, the request before it, and what was answered."""

    text: str
    lead: str
    plain: str
    asks: bool
    said: Said
    asked: Meaning | None
    earlier: Meaning | None

    @property
    def words(self) -> int:
        return len(self.plain.split())


def read_answer(text: str) -> Said:
    plain = _QUOTED.sub(" ", text.casefold().replace("’", "'"))
    sentences = [one.strip() for one in _SENTENCES.split(plain) if one and one.strip(" .")]
    sentences = [one for one in sentences if not has(one, "closing")]
    asked = [one for one in sentences[-2:] if one.endswith(tuple(ENDS)) or _PARTICLE.search(one)]
    last = asked[-1].strip(f" {ENDS}¿") if asked else ""
    choice = any(_asks_which(one.lstrip("¿ ")) for one in asked)
    return Said(
        _offer(sentences, bool(asked)), bool(asked), choice, bool(has(last, "clarifies")), _options(plain), last,
        has(plain, "done") is not None, plain, bool(asked) and len(sentences) > len(asked),
    )  # fmt: skip


def _asks_which(sentence: str) -> bool:
    offers = at_head(sentence, "offers", "offers_asked", "clarifies")
    return offers is None and at_head(sentence, "asks") is not None


def _offer(sentences: Sequence[str], asks: bool) -> str | None:
    """What the assistant offered to do, in the words of an order; None if it offered nothing."""
    for sentence in reversed(sentences):
        order = _offered(sentence.strip(" ¿¡-*"), asks)
        if order is not None and not wholly(order, "empty_offer"):
            return order
    return None


def _offered(sentence: str, asks: bool) -> str | None:
    if (demanded := at_head(sentence, "demands")) is not None:
        return sentence[len(demanded) :].strip(" .!")
    groups = ["offers"]
    groups += ["promises"] if asks or has(sentence, "conditional") else []
    groups += ["offers_asked"] if sentence.endswith(tuple(ENDS)) else []
    found = min((hit for name in groups if (hit := has(sentence, name))), key=lambda hit: hit.start(), default=None)
    if found is None:
        bare = sentence.rstrip(f" .!{ENDS}")
        return bare if sentence.endswith(tuple(ENDS)) and starts_with_verb(bare) else None
    order = sentence[found.end() :].strip(f" .!,:{ENDS}")
    # "Do you want them per store?" offers to give, "want to see it?" to do.
    wanted = re.search(r"\b(?:want|like|need|prefer)$", found[0])
    return f"give me {order}" if wanted and order else order


def _options(plain: str) -> tuple[str, ...]:
    """The things to choose from: a numbered list, or both sides of an "or"."""
    listed = [part.strip(" ,.;?") for part in _LISTED.split(plain)[1:]]
    if len(listed) > 1:
        return tuple(re.split(r"[.?!](?:\s|$)", part)[0].strip(" ,;") for part in listed)
    for sentence in reversed(_SENTENCES.split(plain)):
        sides = re.split(rf"\s+(?:{source('alternatives')})\s+", sentence.strip(" .?!"))
        if len(sides) > 1:
            start = has(sides[0], "offers")
            head = sides[0][start.end() :] if start else sides[0]
            return tuple(side.strip(" ,") for side in (*re.split(r",\s+", head), *sides[1:]) if side.strip(" ,"))
    return ()


def asking(text: str) -> Meaning:
    return Meaning(text, label="question", confirm=False)
