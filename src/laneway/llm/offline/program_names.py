"""Which program a question asks about: `nginx` in "is nginx still running?"."""

from __future__ import annotations

import re

from laneway.llm.offline.reading import Reading, is_known
from laneway.llm.offline.words import PROGRAMS

_NAME = r"(?P<name>[a-z][\w.+-]*)"
_KIND = r"(?:process|processes|daemon|service|instance|prozess|dienst|proceso|servicio|processus)"
_STILL = (
    rf"(?:\ (?:{_KIND}|still|currently|now|really|actually|even|already|on|here|this|server|box|noch|gerade|encore"
    r"|toujours|aun|todavia|ahora))*"
)
_RUNNING = (
    r"(?:running|started|lauft|laeuft|am\ laufen|gestartet|corriendo|ejecutandose|en\ ejecucion|en\ marcha|tourne"
    r"|en\ cours)"
)
_END = r"(?:\ (?:on|here|now|right|at|properly|ok|okay|correctly|and|yet|again|today)\b|$)"
_ARTICLE = r"(?:(?:the|my|our|der|die|das|mein|el|la|mi|le|mon)\ )?"
# A program nobody here knows by name is asked about only where the sentence leaves no other reading.
_PATTERNS = tuple(
    re.compile(pattern, re.X)
    for pattern in (
        rf"\bis\ {_NAME}{_STILL}\ {_RUNNING}{_END}",
        rf"\b(?:is|are)\ there\ (?:an?\ |any\ )?{_NAME}\ (?:{_KIND}|running)\b",
        rf"\b(?:if|whether|ob|si)\ {_NAME}\ (?:is\ |esta\ )?(?:still\ |noch\ )?{_RUNNING}\b",
        rf"\b(?:have|got)\ (?:an?\ |any\ )?{_NAME}\ running\b",
        rf"\b{_KIND}\ (?:(?:named|called|namens|llamado|nomme)\ )?{_NAME}\b",
        rf"^{_NAME}\ (?:{_KIND}|{_RUNNING})$",
        rf"\b(?:lauft|laeuft)\ {_ARTICLE}{_NAME}\b",
        rf"\b(?:esta|sigue)\ {_NAME}\ {_RUNNING}\b",
        rf"\b(?:esta|sigue)\ {_RUNNING}\ {_ARTICLE}{_NAME}\b",
        rf"\bque\ {_NAME}\ tourne\b",
    )
)


def asked_program(reading: Reading) -> str | None:
    """The program's name, or None if the question names none."""
    known = next((word for word in reading.words if word in PROGRAMS), None)
    if known is not None:
        return known if _asks_about(reading, known) else None
    matches = (match for pattern in _PATTERNS for match in pattern.finditer(reading.text))
    names = (match.group("name") for match in matches)
    return next((name for name in names if not is_known(name) and not _is_somebody(reading.raw, name)), None)


def _asks_about(reading: Reading, name: str) -> bool:
    """True if the state or the consumption of a known program is asked for, or its name is all there is."""
    if re.search(rf"\b{re.escape(name)} (?:version|config\w*|logs?|sessions?)\b", reading.text):
        return False
    if len(reading.words) <= 2 or reading.has("alive", "process", "health", "hog", "used", "memory", "cpu"):
        return True
    return re.search(r"\b(?:run|marche|going|there|around)\b", reading.text) is not None


def _is_somebody(raw: str, name: str) -> bool:
    """True for Alice, who is not a program, even when she is running."""
    return re.search(rf"\b{re.escape(name.capitalize())}\b", raw) is not None
