"""Skill: reminders at a time the user names, by the `remind` tool.

Shapes:
    remind me in 20 minutes to … · remind me tomorrow at 9 that … · remind me to … on friday at 14:00
    set a reminder for 17:30: … · in half an hour remind me to …
    erinnere mich in 10 Minuten an … · erinnere mich morgen um 8 Uhr, … · rappelle-moi dans 2 heures de …
    recuérdame en 15 minutos …

The tool is told the time in plain English, whatever language it was said in (`times.py`).
"""

from __future__ import annotations

import re

from laneway.llm.offline.marking import Said
from laneway.llm.offline.orders import Ask, Offer, Telling, Understood, one
from laneway.llm.offline.politeness import Words
from laneway.llm.offline.shapes import fitting, shapes
from laneway.llm.offline.times import CLOCK, TIMES, in_english, is_doubtful

REMIND = "remind"
WHICH_HALF = "In the morning or in the afternoon? Say the time like 05:00 or 17:00."

_ABOUT = re.compile(
    r"(?:\s*[,:]\s*|\s*)(?:(?:to|that|about|of|daran,?\s+dass|daran,?|dass|an|zu|de|que)\s+|d'|qu')(?P<text>\S.*)"
    r"|\s*[,:]\s*(?P<plain>\S.*)|(?P<infinitive>\w+[aei]r(?:se|me)?\s.*)",
    re.S,
)
# "Remind me to stretch every day at 9" and "… to cancel by Thursday" name no time to be reminded at.
_NO_TIME = re.compile(
    r"\b(?:every|each|daily|jeden?|jede|chaque|cada|by|before|until|till|after|around|since|if|bis)\b"
)
_SHAPES = shapes(
    "@remind_me(?: (?:please|bitte))? <rest:rest>",
    "(?:set|create|add|make)(?: me)? @the(?:reminder)(?: (?P<set>for))? <rest:rest>",
)
_TIME_BEFORE = shapes("<when:rest>,? @remind_me <about:rest>")

_Told = tuple[re.Match[str], str]


def reminders(words: Words, offer: Offer) -> Understood:
    """A call that sets the reminder, if both its time and its text are told."""
    for found in fitting(words.free, _SHAPES):
        rest = found.part("rest")
        return _remind(_time_first(rest, found.has("set")) or _time_last(rest), offer)
    for found in fitting(words.free, _TIME_BEFORE):
        return _remind(_time_alone(found.part("when"), found.part("about")), offer)
    return None


def _remind(told: _Told | None, offer: Offer) -> Understood:
    if told is None or (when := in_english(told[0])) is None:
        return None
    if is_doubtful(told[0]):
        return Ask(WHICH_HALF) if offer.has(REMIND) else None
    return one(offer.order(REMIND, "set the reminder", _set(told[1], when), is_free=True, text=told[1], when=when))


def _set(text: str, when: str) -> Telling:
    """Says when the tool is going to do it; in the user's words only if the tool does not say."""
    return lambda outcome: f"I will remind you {outcome.fields.get('due') or when}: {text}"


def _time_first(rest: Said, is_set: bool) -> _Told | None:
    for pattern in (*TIMES, *((CLOCK,) if is_set else ())):
        if found := pattern.match(rest.marked):
            about = _about(rest.cut(found.end(), len(rest.marked)))
            return None if about is None else (found, about)
    return None


def _time_last(rest: Said) -> _Told | None:
    for found in (found for pattern in TIMES for found in pattern.finditer(rest.marked)):
        about = _about(rest.cut(0, found.start())) if found.end() == len(rest.marked) else None
        if about is not None and not _NO_TIME.search(about.lower()):
            return found, about.rstrip(" ,")
    return None


def _time_alone(when: Said, rest: Said) -> _Told | None:
    about = _about(rest)
    founds = (pattern.fullmatch(when.marked.rstrip(" ,")) for pattern in TIMES)
    found = next((found for found in founds if found is not None), None)
    return None if found is None or about is None else (found, about)


def _about(said: Said) -> str | None:
    """What to be reminded of, in "to …", "that …", ": …"."""
    found = _ABOUT.fullmatch(said.marked)
    if found is None:
        return None
    name = next(name for name in ("text", "plain", "infinitive") if found[name] is not None)
    return said.cut(*found.span(name)).value
