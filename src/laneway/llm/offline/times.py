"""Times as people say them in four languages, told in the plain English that tools read.

in 20 minutes · in half an hour · dans deux heures      → in 20 minutes · in 30 minutes · in 2 hours
tomorrow at 9 · morgen um acht · mañana a las 8         → tomorrow at 09:00 · tomorrow at 08:00
on friday at 14:00 · at 5pm · 2026-12-01 at noon        → on friday at 14:00 · at 17:00 · 2026-12-01 12:00
"""

from __future__ import annotations

import re

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
    "monday": r"monday|montag|lundi|lunes",
    "tuesday": r"tuesday|dienstag|mardi|martes",
    "wednesday": r"wednesday|mittwoch|mercredi|miercoles",
    "thursday": r"thursday|donnerstag|jeudi|jueves",
    "friday": r"friday|freitag|vendredi|viernes",
    "saturday": r"saturday|samstag|samedi|sabado",
    "sunday": r"sunday|sonntag|dimanche|domingo",
}
_NUMBERS = {
    "1": r"an?|one|eins|einer?|einem|une?|una?",
    "2": r"two|zwei|deux|dos",
    "3": r"three|drei|trois|tres",
    "4": r"four|vier|quatre|cuatro",
    "5": r"five|funf|cinq|cinco",
    "6": r"six|sechs|seis",
    "7": r"seven|sieben|sept|siete",
    "8": r"eight|acht|huit|ocho",
    "9": r"nine|neun|neuf|nueve",
    "10": r"ten|zehn|dix|diez",
    "11": r"eleven|elf|onze|once",
    "12": r"twelve|zwolf|douze|doce",
}
_UNIT, _DAY, _NUMBER = ("|".join(table.values()) for table in (_UNITS, _DAYS, _NUMBERS))
_HALF_AN_HOUR = r"half\s+an\s+hour|einer\s+halben\s+stunde|une\s+demi-heure|media\s+hora"
_CLOCK = (
    rf"(?:noon|midnight|(?P<hour>\d{{1,2}}|{_NUMBER})(?:[:.h](?P<minute>[0-5]\d))?"
    r"\s*(?:(?P<half>[ap])\.?m\b\.?|(?P<sure>uhr|h(?:eures?)?)|o'clock)?)"
)
_AT = r"(?:,?\s*(?:at|um|a\s+las?|a)\s+)"
_ENDS = r"(?!\w|:\d)"
_LATER = rf"(?:in|dans|en|dentro\s+de)\s+(?:(?P<count>\d{{1,4}}|{_NUMBER})\s+(?P<unit>{_UNIT})\b|(?:{_HALF_AN_HOUR})\b)"
_ON = r"(?:(?:on|am|le|el)\s+)?(?:(?P<next>next|nachsten?)\s+)?"
TIMES = tuple(
    re.compile(pattern)
    for pattern in (
        _LATER,
        rf"{_ON}(?P<day>{_DAY}|\d{{4}}-\d\d-\d\d)\b(?:{_AT}{_CLOCK})?{_ENDS}",
        rf"{_AT}{_CLOCK}(?:\s+(?P<day>{_DAY}))?{_ENDS}",
    )
)
CLOCK = re.compile(rf"{_CLOCK}{_ENDS}")
# "At 5" is said of the afternoon by most and of the morning by some.
_DOUBTFUL_HOURS = range(1, 7)


def in_english(found: re.Match[str]) -> str | None:
    """The time one of the patterns has found, or None if there is no such time of day."""
    named = found.groupdict()
    if named.get("unit"):
        count, unit = int(_known(_NUMBERS, named["count"])), _known(_UNITS, named["unit"])
        return f"in {count} {unit}{'' if count == 1 else 's'}"
    if re.search(_HALF_AN_HOUR, found.group()):
        return "in 30 minutes"
    day = _known(_DAYS, named["day"]) if named.get("day") else ""
    clock = _clock(found)
    if clock is None:
        return None
    if day[:1].isdigit():
        return f"{day} {clock}".strip()
    on = day if day in ("", "today", "tomorrow") else f"{'next' if named.get('next') else 'on'} {day}"
    return " ".join(part for part in (on, clock and f"at {clock}") if part)


def is_doubtful(found: re.Match[str]) -> bool:
    """True if half of the listeners would expect it twelve hours later."""
    named = found.groupdict()
    if not named.get("hour") or named.get("minute") or named.get("half") or named.get("sure"):
        return False
    return int(_known(_NUMBERS, named["hour"])) in _DOUBTFUL_HOURS


def _clock(found: re.Match[str]) -> str | None:
    for word, clock in (("noon", "12:00"), ("midnight", "00:00")):
        if word in found.group():
            return clock
    named = found.groupdict()
    if not named.get("hour"):
        return ""
    hour = int(_known(_NUMBERS, named["hour"]))
    if named.get("half"):
        hour = hour % 12 + (12 if named["half"] == "p" else 0)
    return f"{hour:02}:{named['minute'] or '00'}" if hour < 24 else None


def _known(table: dict[str, str], word: str) -> str:
    return next((name for name, pattern in table.items() if re.fullmatch(pattern, word)), word)
