"""What somebody wants to be told about, read from words that name a figure of this server and its limit.

A metric, a unit or a word that is not known here means that nothing is understood. Where the words leave open whether
the room in use or the room left is meant, that is asked.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from laneway.llm.offline.marking import Said, said
from laneway.llm.offline.measures import MB_PER_GB, Measure, Unit
from laneway.llm.offline.orders import Ask
from laneway.llm.offline.politeness import words
from laneway.llm.offline.shapes import Found, fitting, shape, shapes
from laneway.llm.offline.words import PROGRAMS

# The tool tells gigabytes with one decimal: a finer limit could not be judged.
SMALLEST_GB = 0.1

_BEYOND = r"@limit(?: @of_what)?(?: @state)?(?: @verb_last)?"
_WHAT = r"(?P<what>\S.*?)(?: @this_server)?"
_LIMITED = shapes(
    rf"@look_at {_WHAT}@and_also@warn_me(?: @only_if)?(?: @it)?(?: @moves)? {_BEYOND}",
    rf"@warn_me @only_if {_WHAT}(?: @moves)? {_BEYOND}",
    rf"@only_if {_WHAT}(?: @moves)? {_BEYOND} ?,? (?:(?:then|dann) )?@warn_me",
    rf"@warn_me @only_if (?:@there_is )?@limit(?: @state)?(?: @of_or_on)? {_WHAT}",
)
_DOWN = shapes(
    rf"@look_at {_WHAT}@and_also@warn_me @only_if @it(?: @is_now)? @down",
    rf"@warn_me @only_if {_WHAT}(?: @is_now)? @down",
    rf"@only_if {_WHAT}(?: @is_now)? @down ?,? (?:(?:then|dann) )?@warn_me",
)
_PROGRAM = shapes(
    "(?:@the(?P<of>@program_uses)(?: @used)? (?:of|by|von) )?@the<name>(?: (?P<kind>@program_kind))?",
    "@the<name> (?P<of>@program_uses)(?: @used)?",
    "@the(?P<kind>@program_kind) <name>",
)
_TOPICS = {topic: shape(f"@watched_{topic}") for topic in ("disk", "memory", "swap", "cpu", "load")}
_USED, _FREE = shape(r"\b@used\b"), shape(r"\b@free\b")
_LITTLE = shape(r"\b@little_words\b")
_JOINED = shape(r" ?,(?: (?:and|und|or|oder))? | (?:and|und|or|oder|&) ")
_PATH = re.compile(r"(?<!\S)/\S*")
_LASTING = shape(r"\b@lasting\b")


@dataclass(frozen=True)
class Limit:
    """From where on it is to be told; `shown` is the number as it was said."""

    kind: str
    number: float
    unit: Unit
    shown: str

    def is_passed(self, value: float) -> bool:
        """True if this value is to be told."""
        if self.kind in ("above", "at_least"):
            return value > self.number or (self.kind == "at_least" and value == self.number)
        return value < self.number or (self.kind == "at_most" and value == self.number)


@dataclass(frozen=True)
class Watch:
    """What is looked at, and its limit; without one, a program that is told about when it is not running."""

    measures: tuple[Measure, ...]
    limit: Limit | None
    is_lasting: bool
    """True if the words want more than one look, as "warn me when" does."""


@dataclass(frozen=True)
class _Item:
    """One thing that was named: a topic, or a program and what it uses."""

    topic: str
    free: bool | None = None
    mount: str | None = None
    minutes: str = "1"


def watch_of(message: str) -> Watch | Ask | None:
    """What these words want to be told about, what they leave open, or None if they want something else."""
    spoken = words(said(message)).core
    is_lasting = _LASTING.search(spoken.marked) is not None
    for found in fitting(spoken, _DOWN):
        program, uses = _program(found.part("what"))
        if program and uses is None:
            return Watch((Measure("processes", Unit.NONE, program=program),), None, is_lasting)
    for found in fitting(spoken, _LIMITED):
        limit = _limit(found)
        measures = _measures(found, limit) if limit else None
        if limit and measures:
            return measures if isinstance(measures, Ask) else Watch(measures, limit, is_lasting)
    return None


def _limit(found: Found) -> Limit | None:
    kind = next(kind for kind in ("above", "at_least", "below", "at_most") if found.has(kind))
    number = float(found.value("number").replace(",", "."))
    if found.has("percent"):
        return Limit(kind, number, Unit.PERCENT, f"{number:g} %")
    if not found.has("size"):
        return Limit(kind, number, Unit.NONE, f"{number:g}")
    letter = found.value("size")[0].upper()
    gigabytes = number * {"M": 1 / MB_PER_GB, "G": 1, "T": MB_PER_GB}[letter]
    return Limit(kind, gigabytes, Unit.GB, f"{number:g} {letter}B")


def _measures(found: Found, limit: Limit) -> tuple[Measure, ...] | Ask | None:
    what = found.part("what")
    items = [_item(piece) for piece in _pieces(what)]
    if all(items) and not found.has("of"):
        said_of_all = _quality(found.has("used"), found.has("free"))
        measures = [_measure(item, limit, said_of_all) for item in items if item]
        asked = next((one for one in measures if isinstance(one, Ask)), None)
        known = tuple(one for one in measures if isinstance(one, Measure))
        return known if len(known) == len(items) else asked
    return _of_program(what, found, limit)


def _measure(item: _Item, limit: Limit, said_of_all: bool | None) -> Measure | Ask | None:
    """The figure meant, if the unit fits it and the words say which side of it is meant."""
    if said_of_all is not None and item.free is not None and said_of_all != item.free:
        return None
    free = said_of_all if item.free is None else item.free
    if item.topic in ("cpu", "load"):
        fits = limit.unit is (Unit.PERCENT if item.topic == "cpu" else Unit.NONE) and not free
        return Measure(item.topic, limit.unit, minutes=item.minutes) if fits and _is_sane(limit) else None
    if limit.unit is Unit.NONE or not _is_sane(limit):
        return None
    if free is None and not (limit.unit is Unit.PERCENT and limit.kind in ("above", "at_least")):
        return Ask(
            "I cannot tell whether what is used or what is free is meant."
            f" Say it with one of them: “{limit.kind.replace('_', ' ')} {limit.shown} free” or “… {limit.shown} used”."
        )
    return Measure(item.topic, limit.unit, free=bool(free), mount=item.mount)


def _is_sane(limit: Limit) -> bool:
    """False for a limit that no figure can pass, or that is finer than what is read."""
    if limit.unit is Unit.PERCENT:
        return limit.number <= 100
    return limit.unit is Unit.NONE or limit.number >= SMALLEST_GB


def _quality(used: bool, free: bool) -> bool | None:
    """True for what is free, False for what is used, None if nothing was said."""
    return free if used or free else None


def _pieces(what: Said) -> list[Said]:
    places = [found.span() for found in _JOINED.finditer(what.marked)]
    starts, ends = [0, *(end for _, end in places)], [*(start for start, _ in places), len(what.marked)]
    return [what.cut(start, end) for start, end in zip(starts, ends, strict=True)]


def _item(piece: Said) -> _Item | None:
    """The topic these words name, without those that say which side of it, where, and nothing."""
    used, free = _USED.search(piece.marked) is not None, _FREE.search(piece.marked) is not None
    path = _PATH.search(piece.raw)
    rest = piece.marked if path is None else piece.marked[: path.start()] + piece.marked[path.end() :]
    rest = " ".join(_LITTLE.sub(" ", _FREE.sub(" ", _USED.sub(" ", rest))).split())
    matches = ((topic, pattern.fullmatch(rest)) for topic, pattern in _TOPICS.items())
    topic, match = next(
        ((topic, match) for topic, match in matches if match), ("disk" if path and not rest else "", None)
    )
    if not topic or (used and free) or (path and topic != "disk"):
        return None
    minutes = match["minutes"] if match and topic == "load" else None
    mount = None if path is None else path.group().rstrip("/") or "/"
    return _Item(topic, _quality(used, free), mount, minutes or "1")


def _of_program(what: Said, found: Found, limit: Limit) -> tuple[Measure, ...] | None:
    """What a program uses: of the memory in bytes, of the CPU in percent."""
    program, uses = _program(what)
    said_of = {part for part in (uses, _use(found)) if part is not None}
    fits = {Unit.GB: said_of <= {"memory"}, Unit.PERCENT: said_of == {"cpu"}, Unit.NONE: False}
    if program is None or found.has("free") or not fits[limit.unit]:
        return None
    return (Measure("processes", limit.unit, program=program),)


def _program(what: Said) -> tuple[str | None, str | None]:
    """The program named and what of it, where its name is known, in backticks, or spelled like that of a service."""
    for found in fitting(what, _PROGRAM):
        name = found.part("name")
        plain = name.value if name.quoted is not None else name.value.removesuffix("'s")
        spelled = found.has("kind") and re.search(r"[a-z0-9][-_@]\w|\d", plain.lower())
        if re.fullmatch(r"[A-Za-z0-9][\w@.:+-]{0,80}", plain) is None:
            continue
        if plain.lower() in PROGRAMS or name.quoted is not None or spelled:
            return (plain.lower() if plain.lower() in PROGRAMS else plain), _use(found)
    return None, None


def _use(found: Found) -> str | None:
    if not found.has("of"):
        return None
    return "cpu" if found.value("of").lower().startswith(("cpu", "pro")) else "memory"
