"""Skill: what a message orders, as a whole or step by step: all of it is understood, or none of it is done.

    restart nginx, then show me notes.txt      delete old.log; list the files      numbered and bulleted lists

Each part must be an order by itself. A part that is not understood stops everything before anything was done.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from laneway.llm.offline.carrying_out import carried_out
from laneway.llm.offline.file_orders import file_orders
from laneway.llm.offline.file_requests import file_reading
from laneway.llm.offline.marking import BLOT, Said, said
from laneway.llm.offline.notes import notes
from laneway.llm.offline.orders import Ask, Offer, Order, Reader, Understood
from laneway.llm.offline.politeness import words
from laneway.llm.offline.reminders import reminders
from laneway.llm.offline.run_commands import run_commands
from laneway.llm.offline.search_orders import search_orders
from laneway.llm.offline.server_questions import server_reading
from laneway.llm.offline.service_orders import service_orders
from laneway.llm.offline.shapes import shape
from laneway.llm.offline.task_orders import task_orders
from laneway.llm.offline.text_orders import text_orders
from laneway.llm.offline.turn import HOW_TO_SET_ONE, NEEDS_KEY, Answer, Turn, text
from laneway.llm.offline.web_orders import web_orders

MOST_STEPS = 10
LONGEST_ORDER = 8000
LONGEST_SENTENCE = 600
READERS: tuple[Reader, ...] = (
    run_commands,
    web_orders,
    reminders,
    notes,
    task_orders,
    service_orders,
    text_orders,
    file_orders,
    search_orders,
)

_THEN = (
    r"(?:and then|then|and after that|after that|and afterwards|afterwards|and finally|finally|und dann|dann|danach"
    r"|anschliessend|et puis|et ensuite|puis|ensuite|y luego|y despues|luego|despues)"
).replace(" ", r"\s+")
_STEPS = re.compile(rf"\s*;\s*(?:{_THEN}\s+)?|\s*[,.]?\s+{_THEN}[\s,]+|\s*\n+\s*")
_ALSO = re.compile(r"\s*,\s*(?:(?:and|und|et|y)\s+)?|\s+(?:and|und|et|y)\s+(?:also\s+)?|\s*[.!]\s+")
_ITEM = re.compile(r"(?:\d{1,2}\s*[.)]|[-*•])\s+")
_FIRST = re.compile(r"(?:first|firstly|zuerst|als\s+erstes|d'abord|primero)[\s,:]+")
_HEADER = shape("@list_follows")


@dataclass(frozen=True)
class Refusal:
    """Nothing is done: these words are understood and those are not."""

    understood: tuple[str, ...]
    strange: tuple[str, ...]


Plan = Sequence[Order] | Ask | Refusal | None


def orders(turn: Turn) -> Answer | None:
    """The next call, a question back, or what became of it all, if the user's own words order something known here."""
    if len(turn.own_words) > LONGEST_ORDER:
        return None
    planned = plan(turn.own_words, Offer(turn.tools), turn.hostname)
    if planned is None:
        return None
    if isinstance(planned, Ask):
        return text(planned.text)
    return text(_refused(planned)) if isinstance(planned, Refusal) else carried_out(turn, planned)


def plan(message: str, offer: Offer, hostname: str) -> Plan:
    """The orders in this message, in their order; None if it orders nothing that is known here."""
    spoken = _text_apart(said(message))
    if len(spoken.marked.replace(BLOT, "")) > LONGEST_SENTENCE:
        return None
    whole = _read(spoken, offer)
    parts = _parts(spoken)
    steps = _steps(parts, offer, hostname) if len(parts) > 1 else None
    if isinstance(whole, list) and isinstance(steps, list) and any(order.is_free for order in whole):
        return Ask("I cannot tell where the text ends and the next order begins. Put the text in quotation marks.")
    found = whole if isinstance(whole, list) or steps is None else steps
    if isinstance(found, list) and len(found) > MOST_STEPS:
        return Ask(f"Those are {len(found)} steps, and I do at most {MOST_STEPS} at once. Ask for fewer.")
    return found


def _text_apart(spoken: Said) -> Said:
    """In a message too long for rules, all that follows its first colon is text and no order."""
    colon = spoken.marked.find(":") + 1
    if len(spoken.marked.replace(BLOT, "")) <= LONGEST_SENTENCE or not colon:
        return spoken
    start = colon + len(spoken.marked[colon:]) - len(spoken.marked[colon:].lstrip())
    return Said(spoken.raw, spoken.marked[:start] + BLOT * (len(spoken.marked) - start))


def _read(spoken: Said, offer: Offer) -> Understood:
    spoken_words = words(spoken)
    readings = (reader(spoken_words, offer) for reader in READERS)
    return next((reading for reading in readings if reading is not None), None)


def _steps(parts: Sequence[Said], offer: Offer, hostname: str) -> list[Order] | Ask | Refusal | None:
    read = [(part, _step(part, offer, hostname)) for part in parts]
    known = [step for _, step in read if step]
    if not any(order.tool not in ("server_info", "read_file") for step in known for order in step):
        # Questions alone are answered together, by the skills that know them.
        return None
    if len(known) == len(read):
        return [order for step in known for order in step]
    return Refusal(tuple(part.raw for part, step in read if step), tuple(part.raw for part, step in read if not step))


def _step(part: Said, offer: Offer, hostname: str) -> list[Order]:
    """The orders of one part; empty if it is not understood."""
    whole = _single(part, offer, hostname)
    if whole:
        return whole
    pieces = _split(part, _ALSO)
    read = [_single(piece, offer, hostname) for piece in pieces]
    return [order for step in read for order in step] if len(pieces) > 1 and all(read) else []


def _single(part: Said, offer: Offer, hostname: str) -> list[Order]:
    reading = _read(part, offer)
    if isinstance(reading, list):
        return reading
    if isinstance(reading, Ask) or re.search(r"\b(?:if|whether|falls|wenn|ob|si)\b", part.marked):
        return []
    question = file_reading(part.raw, offer) or server_reading(part.raw, offer, hostname)
    return [question] if question else []


def _parts(spoken: Said) -> list[Said]:
    """The steps of the message: the items of a list, or what "then" and the like divide."""
    header = _HEADER.match(spoken.marked)
    spoken = spoken.cut(header.end() if header else 0, len(spoken.marked))
    parts = [_without_number(part) for part in _split(spoken, _STEPS)]
    if len(parts) > 1:
        return parts
    return [_without_number(part) for part in _split(spoken, _ALSO)]


def _split(spoken: Said, border: re.Pattern[str]) -> list[Said]:
    places = [found.span() for found in border.finditer(spoken.marked)]
    starts, ends = [0, *(end for _, end in places)], [*(start for start, _ in places), len(spoken.marked)]
    parts = (spoken.cut(start, end) for start, end in zip(starts, ends, strict=True))
    return [part for part in parts if part.raw]


def _without_number(part: Said) -> Said:
    for lead in (_ITEM, _FIRST):
        if found := lead.match(part.marked):
            part = part.cut(found.end(), len(part.marked))
    return part


def _refused(refusal: Refusal) -> str:
    strange = " and ".join(f"“{part}”" for part in refusal.strange)
    return f"I did nothing, because I do not understand {strange} without a model. {NEEDS_KEY} {HOW_TO_SET_ONE}"
