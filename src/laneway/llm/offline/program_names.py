"""Which program a question asks about: `nginx` in "is nginx still running?"."""

from __future__ import annotations

import re

from laneway.llm.offline.reading import Reading, is_known
from laneway.llm.offline.words import PROGRAMS

_NAME = r"(?P<name>[a-z][\w.+-]*)"
_ARTICLE = r"(?:the |my |our |der |die |das |mein |el |la |mi |le |mon )?"
_BETWEEN = r"(?: (?:process|service|daemon|dienst|prozess|proceso|servicio|processus|still|currently|now|really|actually|noch|gerade|even|encore|toujours|aun|todavia|ahora|already|on|here|this|server|box))*"
_RUNNING = r"(?:running|lauft|laeuft|corriendo|ejecutandose|en ejecucion|tourne|en marcha|am laufen|en cours|started|gestartet)"

# A program nobody here knows by name is asked about only where the sentence leaves no other reading.
_PATTERNS = tuple(
    re.compile(pattern)
    for pattern in (
        rf"\bis {_NAME}{_BETWEEN} {_RUNNING}\b",
        rf"\b(?:is|are) there (?:a |an |any )?{_NAME} (?:process|processes|daemon|service|instance|running)\b",
        rf"\b(?:if|whether|ob|si) {_NAME} (?:is |esta )?(?:still |noch )?{_RUNNING}\b",
        rf"\b(?:have|got) (?:a |an |any )?{_NAME} running\b",
        rf"\b(?:process|daemon|service|prozess|dienst|proceso|servicio|processus) (?:named |called |namens |llamado |nomme )?{_NAME}\b",
        rf"^{_NAME} (?:process|daemon|service|{_RUNNING})$",
        rf"\b(?:lauft|laeuft) {_ARTICLE}{_NAME}\b",
        rf"\b(?:esta|sigue) {_NAME} {_RUNNING}\b",
        rf"\b(?:esta|sigue) {_RUNNING} {_ARTICLE}{_NAME}\b",
        rf"\bque {_NAME} tourne\b",
    )
)


def asked_program(reading: Reading) -> str | None:
    """The program's name, or None if the question names none."""
    known = next((word for word in reading.words if word in PROGRAMS), None)
    if known is not None:
        return known if _asks_about(reading, known) else None
    for pattern in _PATTERNS:
        for match in pattern.finditer(reading.text):
            name = match.group("name")
            if not is_known(name) and not _is_a_proper_name(reading.raw, name):
                return name
    return None


def _asks_about(reading: Reading, name: str) -> bool:
    """True if the state or the consumption of a known program is asked for, or its name is all there is."""
    if re.search(rf"\b{re.escape(name)} (?:version|config\w*|logs?|sessions?)\b", reading.text):
        return False
    return len(reading.words) <= 2 or bool(
        reading.has("alive", "process", "health", "hog", "used", "memory", "cpu")
        or re.search(r"\b(?:run|marche|going|there|around)\b", reading.text)
    )


def _is_a_proper_name(raw: str, name: str) -> bool:
    """True for Alice, who is not a program, even when she is running."""
    return re.search(rf"\b{re.escape(name.capitalize())}\b", raw) is not None
