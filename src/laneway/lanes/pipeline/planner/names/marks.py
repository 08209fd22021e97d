"""What each word of a column's name is for: `mkt_value_meur` is the market's, a value, and in millions of euros."""

from __future__ import annotations

from dataclasses import dataclass

from laneway.lanes.pipeline.planner.phrasing import words
from laneway.lanes.pipeline.planner.spelling import FRONT_UNITS, full, is_period, is_unit, name_parts, unit_of
from laneway.lanes.pipeline.planner.words.naming import COMPOUNDS, DATED, NAMING, PREFIXES, STATS, TAILS, WEAK_MODIFIERS

DIRECTIONS = words("from to origin destination departure arrival pickup dropoff source target start end")
PLACES = words("city airport station port country zone town location code place stop terminal hub name")
UNSAID = "\0"
"""The one word of a name that has none, as `#` or `%`; nobody says it."""
_STOPS = words("of the in and for per")
_LINKS = words("of in per on for at with")
LABELS = words("tag now field")
"""Tails that no name is about, if another word is in it: a `kind_tag` tells a kind."""


@dataclass(frozen=True)
class Mark:
    """One word of a name, as it is meant and as it is written, and its role.

    core: what it is about · stat: how it is counted · tail: what kind of thing it holds · weak: a modifier nobody
    says · unit, period, flag (is, has), place (behind a direction), stop (of, in): what may always be left out.
    """

    word: str
    raw: str
    role: str


def marks_of(name: str) -> tuple[Mark, ...]:
    """The words of a column's name; at least one of them is what it is about."""
    parts = list(name_parts(name))
    measured = len(parts) > 1 and is_unit(parts)
    found: list[Mark] = []
    for place, part in enumerate(parts):
        last = place == len(parts) - 1
        if not place and not measured and len(parts) > 1 and part in FRONT_UNITS:
            found.append(Mark(full(part)[0], part, "unit"))
            continue
        if measured and (
            last
            or (place and place >= len(parts) - 3 and "".join(parts[place + 1 : -1]).isdigit())
            or (last is False and place == len(parts) - 2 and part.isdigit())
        ):
            # Metres do not name a `pop_m`, which counts millions.
            million = last and unit_of(parts) == "mio"
            found.append(Mark("million", "mio", "unit") if million else Mark(full(part)[0], part, "unit"))
            continue
        # In `cases_in_stock` and `price_per_night` the first noun counts.
        behind = not _LINKS.isdisjoint(parts[1:place])
        for word in full(part, place > 0 and last):
            found.append(Mark(word, part, "weak" if behind else _role(word, part, place, len(parts))))
    return tuple(_directed(_with_core(_whole(found))))


def _whole(found: list[Mark]) -> list[Mark]:
    """The words with those that are one written as one."""
    for place in range(len(found) - 1):
        whole = COMPOUNDS.get((found[place].word, found[place + 1].word))
        if whole:
            # In `qty_on_hand` the quantity counts.
            role = "weak" if place and whole == "stock" else "core"
            return [*found[:place], Mark(whole, whole, role), *found[place + 2 :]]
    return found


def _role(word: str, part: str, place: int, count: int) -> str:
    if place == 0 and count > 1 and part in PREFIXES:
        return "flag"
    if is_period(part) or (part.isdigit() and place):
        return "period"
    if word in _STOPS and not (word == "for" and place == count - 1):
        # In `goals_for` the last word counts: there may be goals_against.
        return "stop"
    if word in STATS:
        return "stat"
    if word in TAILS:
        return "tail"
    return "weak" if word in WEAK_MODIFIERS else "core"


def _with_core(found: list[Mark]) -> list[Mark]:
    """A name of nothing but tails is about the last of them: `full_name` about a name, `weekly_hrs` about hours."""
    if not found:
        return [Mark(UNSAID, UNSAID, "core")]
    roles = {mark.role for mark in found}
    if "core" in roles:
        return found
    if found[0].word == "unit" and {mark.word for mark in found[1:]} <= NAMING:
        # A `unit_code` is about the unit.
        return [Mark(found[0].word, found[0].raw, "core"), *found[1:]]
    for role in ("stat", "tail", "weak", "unit", "period", "flag", "stop"):
        if role == "tail" and (owners := {m.word for m in found if m.role == "tail"} - NAMING - DATED - LABELS):
            # A `site_name` is about the site.
            return [Mark(m.word, m.raw, "core") if m.word in owners else m for m in found]
        if role == "stat" and role in roles:
            last = max(place for place, mark in enumerate(found) if mark.role == "stat")
            return [Mark(m.word, m.raw, "core") if place == last else m for place, m in enumerate(found)]
        if role in roles:
            return [Mark(mark.word, mark.raw, "core") if mark.role == role else mark for mark in found]
    return found


def _directed(found: list[Mark]) -> list[Mark]:
    """In `from_city` the direction counts, and the city is what everybody expects there."""
    if len(found) < 2 or found[0].word not in DIRECTIONS or not {mark.word for mark in found[1:]} <= PLACES:
        return found
    return [Mark(found[0].word, found[0].raw, "core"), *(Mark(one.word, one.raw, "place") for one in found[1:])]
