"""Skill: reminders at a time the user names, by the `remind` tool.

Shapes:
    remind me in 20 minutes to … · remind me tomorrow at 9 that … · remind me to … on friday at 14:00
    set a reminder for 17:30: … · in half an hour remind me to …
    erinnere mich in 10 Minuten an … · erinnere mich morgen um 8 Uhr, … · rappelle-moi dans 2 heures de …
    recuérdame en 15 minutos …

The tool is told the time in plain English, whatever language it was said in: `in 20 minutes`, `tomorrow at 09:00`.
"""

from __future__ import annotations

import re

from laneway.llm.offline.marking import Said
from laneway.llm.offline.orders import Offer, Understood, one
from laneway.llm.offline.politeness import Words
from laneway.llm.offline.shapes import fitting, shapes

REMIND = "remind"

_UNITS = {
    "second": r"seconds?|secs?|sekunden?|secondes?|segundos?",
    "minute": r"minutes?|mins?|minuten?|minutos?",
    "hour": r"hours?|hrs?|stunden?|heures?|horas?",
    "day": r"days?|tage?n?|jours?|dias?",
    "week": r"weeks?|wochen?|semaines?|semanas?",
    "month": r"months?|monate?n?|mois|mes|meses",
}
_DAYS = {
    "today": r"today|heute|aujourd'hui|hoy",
    "tomorrow": r"tomorrow|morgen|demain|manana",
    "tonight": r"tonight|heute abend|ce soir|esta noche",
    "monday": r"monday|montag|lundi|lunes",
    "tuesday": r"tuesday|dienstag|mardi|martes",
    "wednesday": r"wednesday|mittwoch|mercredi|miercoles",
    "thursday": r"thursday|donnerstag|jeudi|jueves",
    "friday": r"friday|freitag|vendredi|viernes",
    "saturday": r"saturday|samstag|samedi|sabado",
    "sunday": r"sunday|sonntag|dimanche|domingo",
}
_ANY_UNIT = "|".join(_UNITS.values())
_ANY_DAY = "|".join(_DAYS.values())
_CLOCK = r"(?:noon|midnight|(?P<hour>\d{1,2})(?:[:.h](?P<minute>\d{2}))?\s*(?:(?P<half>[ap])\.?m\.?|uhr|o'clock|h(?:eures?)?)?)"
_LATER = rf"(?:in|dans|en|dentro\s+de)\s+(?P<count>\d{{1,4}}|half\s+an|an?|one|einer?|einem|une?|una)\s+(?P<unit>{_ANY_UNIT})\b"
_AT = r"(?:,?\s*(?:at|um|a\s+las?|a)\s+)"
_WHENS = tuple(
    re.compile(pattern)
    for pattern in (
        _LATER,
        rf"(?:(?:on|next|this|am|nachsten|le|el)\s+)*(?P<day>{_ANY_DAY}|\d{{4}}-\d\d-\d\d)\b(?:{_AT}{_CLOCK})?(?!\w|:\d)",
        rf"{_AT}{_CLOCK}(?:\s+(?P<day>{_ANY_DAY}))?(?!\w|:\d)",
    )
)
_BARE_CLOCK = re.compile(rf"{_CLOCK}(?!\w|:\d)")
_TO = r"\s*(?:[,:]\s*)?(?:(?:to|that|about|of|daran,?\s+dass|daran,?|dass|an|zu|de|d'|que)\b\s*)?(?P<text>\S.*)"
_ME = r"(?:remind me|erinnere? mich|rappelle[ -]moi|rappelez[ -]moi|recuerdame|recordarme)"
_SHAPES = shapes(
    rf"{_ME}(?: (?:please|bitte))? <rest:rest>",
    r"(?:set|create|add|make)(?: me)? @thereminder(?: (?P<set>for))? <rest:rest>",
)
_FIRST_THE_TIME = shapes(rf"<when:rest>,? {_ME} (?P<text>(?:to|that|about|of|de|que|an)\b\s*\S.*)")


def reminders(words: Words, offer: Offer) -> Understood:
    """A call that sets the reminder, if both its time and its text are told."""
    for found in fitting(words.free, _SHAPES):
        rest = found.part("rest")
        told = _time_first(rest, found.has("set")) or _time_last(rest)
        return None if told is None else _remind(*told, offer)
    for found in fitting(words.free, _FIRST_THE_TIME):
        when, text = _whole(found.part("when").marked), found.part("text")
        said = re.fullmatch(_TO, text.marked, re.S)
        if when is not None and said is not None:
            return _remind(when, text.cut(*said.span("text")).value, offer)
    return None


def _remind(when: str, text: str, offer: Offer) -> Understood:
    done = f"I will remind you {when}: {text}"
    return one(offer.order(REMIND, "set the reminder", lambda _: done, is_free=True, text=text, when=when))


def _time_first(rest: Said, is_set: bool) -> tuple[str, str] | None:
    for pattern in (*_WHENS, *((_BARE_CLOCK,) if is_set else ())):
        if found := pattern.match(rest.marked):
            after = rest.cut(found.end(), len(rest.marked))
            said = re.fullmatch(_TO, after.marked, re.S)
            return None if said is None else (_english(found), after.cut(*said.span("text")).value)
    return None


def _time_last(rest: Said) -> tuple[str, str] | None:
    for pattern in _WHENS:
        for found in pattern.finditer(rest.marked):
            before = rest.cut(0, found.start())
            said = re.fullmatch(_TO, before.marked, re.S)
            if found.end() == len(rest.marked) and said is not None and said.start("text") > 0:
                return _english(found), before.cut(*said.span("text")).value.rstrip(" ,")
    return None


def _whole(marked: str) -> str | None:
    founds = (pattern.fullmatch(marked.strip(" ,")) for pattern in _WHENS)
    return next((_english(found) for found in founds if found is not None), None)


def _english(found: re.Match[str]) -> str:
    """The time as the tool reads it."""
    named = found.groupdict()
    if named.get("unit"):
        return _span(" ".join(named["count"].split()), _known(_UNITS, named["unit"]))
    day = _known(_DAYS, named["day"]) if named.get("day") else ""
    clock = _clock(found, named)
    if day in ("", "today", "tomorrow", "tonight"):
        return " ".join(part for part in (day, f"at {clock}" if clock else "") if part)
    return f"on {day}" + (f" at {clock}" if clock else "")


def _span(count: str, unit: str) -> str:
    if count == "half an":
        return "in 30 minutes" if unit == "hour" else f"in half a {unit}"
    number = int(count) if count.isdigit() else 1
    return f"in {number} {unit}{'' if number == 1 else 's'}"


def _clock(found: re.Match[str], named: dict[str, str | None]) -> str:
    for word, clock in (("noon", "12:00"), ("midnight", "00:00")):
        if word in found.group():
            return clock
    if not named.get("hour"):
        return ""
    hour = int(named["hour"] or 0)
    if named.get("half"):
        hour = hour % 12 + (12 if named["half"] == "p" else 0)
    return f"{hour:02}:{named.get('minute') or '00'}"


def _known(table: dict[str, str], word: str) -> str:
    return next((name for name, pattern in table.items() if re.fullmatch(pattern, word)), word)
