"""Which facts about this server a question asks for, or none when it asks for something else."""

from __future__ import annotations

import re
from dataclasses import dataclass

from laneway.llm.offline.boundaries import is_about_the_past, is_beyond, is_more_than_a_remark, names_another_host
from laneway.llm.offline.commands import command_topics
from laneway.llm.offline.program_names import asked_program
from laneway.llm.offline.reading import Reading, is_known, plain, read
from laneway.llm.offline.strangeness import is_strange
from laneway.llm.offline.topic_rules import RULES, asks_how_it_is

LONGEST_QUESTION = 40
DEFAULT_LINES = 20
LINES_TO_SEARCH = 200
HEALTH = ("uptime", "load", "memory", "disk")


@dataclass(frozen=True)
class ServerQuestion:
    """What to ask the `server_info` tool for."""

    topics: tuple[str, ...]
    process: str | None = None
    lines: int = DEFAULT_LINES
    only_errors: bool = False
    warmth: bool = False


def server_question(raw: str, hostname: str) -> ServerQuestion | None:
    """The facts asked for, or None if the question is not surely about this server now."""
    if commanded := command_topics(raw):
        return ServerQuestion(commanded)
    if _asks_whether_it_fits(raw, hostname):
        return ServerQuestion(("disk",))
    question = _without_purpose(_without_asides(raw))
    return _understood(question, hostname) or _after_a_remark(_without_purpose(raw), hostname)


_FITS = re.compile(
    r"\b(?:will|would|does|do|can|could|passt|cabe|caben|tient|rentre)\b(?:\W+\w+){0,5}?\W+fit\b|\bcaben?\b"
)
_SIZE = re.compile(r"\b\d+\s*(?:[kmgt]i?b|gigs?|gigabytes?|megs?|megabytes?|terabytes?|gigas?)\b")


def _asks_whether_it_fits(raw: str, hostname: str) -> bool:
    """True for "would 40 GB fit?": the room left is a fact of now, and the reader can compare."""
    text = plain(raw)
    measured = _SIZE.search(text) is not None and (read(raw).has("disk", "drive", "server") or "here" in text)
    return measured and _FITS.search(text) is not None and not names_another_host(raw, hostname)


def _understood(raw: str, hostname: str) -> ServerQuestion | None:
    reading = read(raw)
    if not reading.words or len(reading.words) > LONGEST_QUESTION or is_beyond(reading, hostname):
        return None
    program = asked_program(reading)
    topics = _topics(reading, program)
    if not topics or is_strange(reading, topics, {program or "", hostname.lower(), hostname.lower().split(".")[0]}):
        return None
    if _asks_for_another_time(reading, set(topics)):
        return None
    only_errors = "logs" in topics and reading.has("error", "complaint", "grumble")
    warmth = re.search(r"\bhot\b", reading.text) is not None
    return ServerQuestion(topics, program, _lines(reading, only_errors), only_errors, warmth)


def _asks_for_another_time(reading: Reading, topics: set[str]) -> bool:
    """True unless it is about now, or about what the last boot, the logs and the clock can tell."""
    if is_about_the_past(reading) and not topics & {"uptime", "logs"}:
        return True
    when = re.search(r"\b(?:when|wann|cuando|quand)\b", reading.text)
    return when is not None and not topics & {"uptime", "logs", "time"}


def _topics(reading: Reading, program: str | None) -> tuple[str, ...]:
    readings = [reading, *_listed(reading)]
    found = [topic for topic, is_asked in RULES.items() if any(is_asked(one) for one in readings)]
    if program is not None:
        # "How much memory does nginx use?" asks about the program, not about the whole server.
        joined = re.search(r"\b(?:and|und|y|et|also)\b", reading.text)
        return ("processes", *(topic for topic in found if joined and topic not in ("uptime", "processes")))
    return tuple(found) or (HEALTH if asks_how_it_is(reading) else ())


def _listed(reading: Reading) -> list[Reading]:
    """The parts of a list such as "time, load and users", each read as a question of its own."""
    parts = re.split(r"\s*(?:[,;&+/]|\b(?:and|und|y|e|et|plus|sowie)\b)\s*", plain(reading.raw))
    return [read(part) for part in parts if len(parts) > 1 and 0 < len(part.split()) <= 3]


_PURPOSE = re.compile(
    r"(\b(?:left|free|remaining|available|room|space|platz|espacio|sitio|place|frei|übrig|libres?|disponible)\b)"
    r"\s+(?:on \w+ \w+\s+)?(?:to|for|so|before|für|um|para|pour)\b.*$",
    re.I | re.S,
)


def _without_purpose(raw: str) -> str:
    """The question without what the room is wanted for: how much is left is the same for every purpose."""
    return _PURPOSE.sub(r"\1", raw)


_POINTS_BACK = re.compile(
    r"\b(?:it|its|they|them|their|he|she|his|her|er|sie|seine?|su|sus|lo|il|elle|ils|son|sa|ses)\b"
)


def _after_a_remark(raw: str, hostname: str) -> ServerQuestion | None:
    """The last sentence understood alone, where what was said before it only tells the occasion."""
    *remarks, question = re.split(r"(?<=[,;:.!])\s+|\s+[–-]\s+", raw.strip())
    remark = read(" ".join(remarks))
    if not remarks or is_more_than_a_remark(remark, hostname):
        return None
    # "It" would be the thing remarked upon, which need not be this server.
    if _POINTS_BACK.search(plain(question)) and not read(question).has("server"):
        return None
    asked = _understood(question, hostname)
    return None if asked and asked.topics == ("time",) and remark.unknown else asked


_GREETING = re.compile(
    r"^\W*(?:hi|hey|hello|hallo|hola|bonjour|salut|moin|servus|yo|good (?:morning|evening|afternoon|day)"
    r"|guten (?:morgen|tag|abend)|buenos dias|buenas (?:tardes|noches)|bonsoir|thanks?|thank you|thx|danke|gracias"
    r"|merci|ok|okay|cool|great|super|perfect)\b"
)
_MATTERS = {"why", "warum", "pourquoi", "will", "tomorrow", "should", "if", "when", "not", "then", "and", "or"}


def _without_asides(raw: str) -> str:
    """The question without a greeting or a name before its first comma, or after its last."""
    pieces = re.split(r"(?<=[,;:!.?–])\s+|\s+[–-]\s+|\n+", raw.strip())
    kept = [piece for piece in pieces if not _is_aside(piece)]
    return " ".join(kept) if kept else raw


def _is_aside(piece: str) -> bool:
    greets, reading = bool(_GREETING.match(plain(piece))), read(piece)
    if len(reading.words) > (4 if greets else 2) or piece.rstrip().endswith("?") or is_beyond(reading, ""):
        return False
    if re.match(r"\W*(?:in|at|on|for|from|of|auf|en|a|dans|sur)\b", plain(piece)):
        return False
    if reading.concepts - {"health", "long", "much", "user"} or _MATTERS.intersection(reading.words):
        return False
    return greets or any(not is_known(word) for word in reading.words)


_LINES = re.compile(
    r"\b(\d{1,3})\b(?=(?:\s+\w+){0,3}\s+(?:lines?|entries|zeilen|lineas|lignes|logs?|eintrage|entradas|logzeilen))"
)


def _lines(reading: Reading, only_errors: bool) -> int:
    asked = _LINES.search(reading.text)
    if asked and int(asked.group(1)):
        return min(int(asked.group(1)), LINES_TO_SEARCH)
    return LINES_TO_SEARCH if only_errors else DEFAULT_LINES
