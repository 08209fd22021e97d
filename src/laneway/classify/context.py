"""What a short message means after what was said before: "do it", "and web2 too", "yes, the second one".

A message that cannot stand alone is judged by what it refers to: the offer it accepts, the option it picks, or the
request it adds to, corrects, repeats, bends or makes precise. Nothing is guessed: where there is nothing to refer
to, it stands as it is. The words are in `context_words.toml`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from laneway.classify.context_acts import ACTS, ANSWERS
from laneway.classify.context_requests import is_question, is_request, settled
from laneway.classify.context_said import Heard, Meaning, Said, read_answer
from laneway.classify.context_words import BUT, LONGEST_SHORT, at_head, stripped
from laneway.classify.grammar import starts_with_verb
from laneway.domain.conversation import Author
from laneway.transcript import Turn

__all__ = ["LONGEST_SHORT", "Meaning", "meant", "stands_alone"]
LONGEST_ANSWER = 25


def meant(turns: Sequence[Turn]) -> Meaning:
    """What the last message says once the turns before it are heard."""
    return _meaning(turns, _requests(turns))


def hear(turns: Sequence[Turn]) -> Heard:
    """The last message in its place, whatever its length."""
    return _heard(turns, _requests(turns))


def _requests(turns: Sequence[Turn]) -> list[Meaning]:
    """What the user asked for before the last message, the latest first."""
    requests: list[Meaning] = []
    for place, turn in enumerate(turns[:-1]):
        if turn.author is Author.USER:
            meaning = _meaning(turns[: place + 1], requests)
            if is_request(meaning):
                requests = [settled(meaning), *requests]
    return requests


def stands_alone(turns: Sequence[Turn]) -> bool:
    """Whether the last turn means the same whatever was said before it."""
    text = turns[-1].text
    if len(turns) < 2 or len(text.split()) > LONGEST_ANSWER:
        return True
    lead, plain, _ = stripped(text)
    answers = at_head(plain, "yes", "no") or (lead and BUT.match(plain))
    return len(plain.split()) > LONGEST_SHORT and not answers


def _open(turns: Sequence[Turn]) -> Said:
    """What the assistant said last, or its offer that questions and remarks since then have left open."""
    if len(turns) < 2 or turns[-2].author is not Author.ASSISTANT:
        return Said()
    said = read_answer(turns[-2].text)
    if said.asks or said.offer or said.done or len(turns) < 4 or not _leaves_open(turns[-3]):
        return said
    before = _open(turns[:-2])
    return replace(before, standing=True) if before.offer and before.asks else said


def _leaves_open(turn: Turn) -> bool:
    """Whether a message of the user neither accepts nor refuses nor orders."""
    _, plain, asks = stripped(turn.text)
    settles = not plain or at_head(plain, "yes", "no") is not None or starts_with_verb(plain)
    return turn.author is Author.USER and (asks or not settles)


def _meaning(turns: Sequence[Turn], requests: Sequence[Meaning]) -> Meaning:
    """What the last of these turns says, with the requests before it known, the latest first."""
    text = turns[-1].text
    if len(turns) < 2 or len(text.split()) > LONGEST_ANSWER:
        return Meaning(text)
    heard = _heard(turns, requests)
    acts = ACTS if heard.words <= LONGEST_SHORT else ANSWERS
    return next((found for act in acts if (found := act(heard)) is not None), Meaning(text))


def _heard(turns: Sequence[Turn], requests: Sequence[Meaning]) -> Heard:
    lead, plain, asks = stripped(turns[-1].text)
    order = next((one for one in requests if not is_question(one)), None)
    return Heard(turns[-1].text, lead, plain, asks, _open(turns), requests[0] if requests else None, order)
