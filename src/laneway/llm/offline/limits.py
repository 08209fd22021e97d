"""Limits: a figure of the server is read, and told if it is beyond what was named; a schedule is silent otherwise.

Where the words leave open whether the room in use or the room left is meant, that is asked.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from laneway.llm.offline.kinds import JOINED
from laneway.llm.offline.orders import Ask, Offer, Order, Understood, rows
from laneway.llm.offline.outcomes import Ending, Outcome, describe
from laneway.llm.offline.server_questions import facts_order, program_name
from laneway.llm.offline.shapes import Match, Text

LOOKED_ONCE: Final = "I looked once, now; `laneway schedule add` makes me look again."
# The tool tells gigabytes with one decimal: a finer limit could not be judged.
SMALLEST_GB: Final = 0.1
IN_GB: Final = {"m": 1 / 1024, "g": 1, "t": 1024}

# How each limit is judged, and what is said beyond it and within it.
_KINDS: Final = {
    "above": (operator.gt, "above", "not above"), "at_least": (operator.ge, "at least", "less than"),
    "below": (operator.lt, "below", "not below"), "at_most": (operator.le, "at most", "more than"),
}  # fmt: skip
_LASTING: Final = re.compile(r"\b(?:watch|monitor|keep an eye|when|whenever|once|as soon as|warn|alert|notify)\b")
_MINUTES: Final = re.compile(r"\b(1|5|15)[ -]?min")
_TOPICS: Final = {"memory": "memory", "ram": "memory", "swap": "swap", "cpu": "cpu", "proc": "cpu", "load": "load"}
_USED, _FREE = re.compile(r"\b(?:used|full|busy|usage|in use)\b"), re.compile(r"\b(?:free|available|left|remaining)\b")

Figure = tuple[str, float]


@dataclass(frozen=True)
class Limit:
    """From where on it is to be told, in %, GB or a plain number; `shown` is the number as it was said."""

    kind: str
    number: float
    unit: str
    shown: str


@dataclass(frozen=True)
class Measure:
    """What is looked at: the room in use or left, a rate, or what one program uses."""

    topic: str
    unit: str
    free: bool = False
    mount: str | None = None
    minutes: str = "1"
    program: str | None = None


class UnreadableFigure(ValueError):
    """What was to be looked at is not there; the message is a sentence for the user."""


def _watch(match: Match, offer: Offer) -> Understood:
    limit, said = _limit(match), f"{match.part('state').marked} {match.part('kept').marked}"
    pieces = match.part("what" if "what" in match.places else "mount").split(re.compile(JOINED))
    measures = [_measure(piece, f"{piece.marked} {said}", limit) for piece in pieces]
    known = [one for one in measures if isinstance(one, Measure)]
    if len(known) < len(measures):
        return next((one for one in measures if isinstance(one, Ask)), None)
    return _look(match, offer, known, limit)


def _watch_program(match: Match, offer: Offer) -> Understood:
    name, limit = program_name(match.part("program")), _limit(match) if "number" in match.places else None
    if name is None or (limit and limit.unit != ("%" if match.part("of").marked == "cpu" else "GB")):
        return None
    return _look(match, offer, [Measure("processes", limit.unit if limit else "", program=name)], limit)


def _look(match: Match, offer: Offer, measures: Sequence[Measure], limit: Limit | None) -> list[Order]:
    once = f" {LOOKED_ONCE}" if _LASTING.search(match.text.marked) else ""

    def tell(outcome: Outcome) -> str:
        news, calm = _judge(measures, limit, outcome)
        return describe("look at that", outcome, news or f"{calm}{once}")

    def is_silent(outcome: Outcome) -> bool:
        return outcome.ending is Ending.DONE and not _judge(measures, limit, outcome)[0]

    more = {} if measures[0].program is None else {"process": measures[0].program}
    topics = list(dict.fromkeys(measure.topic for measure in measures))
    return facts_order(offer, topics, tell, "look at", is_silent=is_silent, **more)


def _limit(match: Match) -> Limit:
    kind = next(kind for kind in _KINDS if kind in match.places)
    number, unit = float(match.value("number").replace(",", ".")), match.part("unit").marked[:1]
    if unit in IN_GB:
        return Limit(kind, number * IN_GB[unit], "GB", f"{number:g} {unit.upper()}B")
    return Limit(kind, number, "%" if unit else "", f"{number:g}{' %' if unit else ''}")


def _measure(piece: Text, said: str, limit: Limit) -> Measure | Ask | None:
    """The figure meant, if the limit can be passed, its unit fits, and the words say which side of it is meant."""
    path = re.search(r"(?<!\S)/\S*", piece.marked)
    topic = next((topic for word, topic in _TOPICS.items() if re.search(rf"\b{word}", piece.marked)), "disk")
    free, used = bool(_FREE.search(said)), bool(_USED.search(said))
    is_sane = limit.number <= 100 if limit.unit == "%" else not limit.unit or limit.number >= SMALLEST_GB
    if (free and used) or not is_sane or (path and topic != "disk"):
        return None
    if topic in ("cpu", "load"):
        found = _MINUTES.search(piece.marked)
        fits = limit.unit == ("%" if topic == "cpu" else "") and not free
        return Measure(topic, limit.unit, minutes=found[1] if found else "1") if fits else None
    if not limit.unit:
        return None
    if not (free or used or (limit.unit == "%" and limit.kind in ("above", "at_least"))):
        shown = f"{_KINDS[limit.kind][1]} {limit.shown}"
        return Ask(
            "I cannot tell whether what is used or what is free is meant."
            f" Say it with one of them: “{shown} free” or “{shown} used”."
        )
    return Measure(topic, limit.unit, free, piece.raw[path.start() :].rstrip("/") or "/" if path else None)


def _judge(measures: Sequence[Measure], limit: Limit | None, outcome: Outcome) -> tuple[str, str]:
    """What passed its limit or could not be looked at, and the sentence for when nothing did."""
    read: list[Figure] = []
    problems: list[str] = []
    for measure in measures:
        if measure.topic not in outcome.fields:
            problems.append(f"I could not read {measure.topic}{f': {outcome.error}' if outcome.error else ''}.")
            continue
        try:
            read += _figures(measure, outcome.fields[measure.topic])
        except UnreadableFigure as missing:
            problems.append(str(missing))
    if limit is None:
        return " ".join(problems), _sentence(read, ".")
    passes, beyond, within = _KINDS[limit.kind]
    passed = [figure for figure in read if passes(figure[1], limit.number)]
    news = [_sentence(passed, f", {beyond} {limit.shown}.")] if passed else []
    return " ".join([*news, *problems]), _sentence(read, f", {within} {limit.shown}.")


def _sentence(read: Sequence[Figure], verdict: str) -> str:
    joined = " and ".join(words for words, _ in read)
    # The name of a program is written as it is.
    is_name = not joined.startswith(("the ", "memory ", "swap "))
    return f"{joined if is_name else joined[:1].upper() + joined[1:]}{verdict}"


def _figures(measure: Measure, facts: Mapping[str, Any]) -> list[Figure]:
    """Every figure of this measure, after the words that say it: one per disk, else one."""
    if measure.program is not None:
        return [_program_figure(measure.unit, measure.program, facts)]
    if measure.topic == "disk":
        disks = [disk for disk in facts["disks"] if measure.mount in (None, disk["mount"])]
        if not disks:
            raise UnreadableFigure(f"No disk{f' at {measure.mount}' if measure.mount else ''} is visible from here.")
        return [_room_figure(measure, f"the disk at {disk['mount']}", disk) for disk in disks]
    if measure.topic == "cpu":
        return [(f"the CPU is {facts['used_percent']:g} % busy", facts["used_percent"])]
    if measure.topic == "load":
        average = facts[f"{measure.minutes}_min"]
        return [(f"the load average is {average:g} ({measure.minutes} min)", average)]
    if measure.topic == "swap" and not facts["total_gb"]:
        raise UnreadableFigure("This server has no swap.")
    return [_room_figure(measure, measure.topic, facts)]


def _room_figure(measure: Measure, name: str, facts: Mapping[str, Any]) -> Figure:
    """How much of a disk, of the memory or of the swap is in use or left."""
    used = facts["used_percent"]
    if measure.unit == "%" and not measure.free:
        return f"{name} is {used:g} % {'full' if measure.topic == 'disk' else 'used'}", used
    if measure.unit == "%":
        value = round(100 - used, 1)
    else:
        left = facts.get("free_gb", facts.get("available_gb", round(facts["total_gb"] - facts["used_gb"], 1)))
        value = left if measure.free else facts["used_gb"]
    return f"{name} has {value:g} {measure.unit} {'free' if measure.free else 'used'}", value


def _program_figure(unit: str, program: str, facts: Mapping[str, Any]) -> Figure:
    if not facts["running"]:
        raise UnreadableFigure(f"{program} is not running.")
    if not unit:
        return f"{program} is running", facts["matches"]
    if unit == "%":
        return f"{program} uses {facts['matching_cpu_percent']:g} % CPU", facts["matching_cpu_percent"]
    return f"{program} uses {facts['matching_memory_mb']:g} MB of memory", facts["matching_memory_mb"] / 1024


_LOOK: Final = "(check | watch | monitor | look at | keep an eye on)"
_AND: Final = "[and|then [then]]"
_WARN: Final = "(tell|warn|alert|notify|inform|message|ping me|us | let me|us know) [only]"
_IF: Final = "(if|when|whenever|once | as soon as)"
_IS: Final = "[it|they|usage|its | the usage | any] [is|are|it's|gets|goes|rises|falls|drops|has|have] [to]"
_USES: Final = "[it] uses|takes|needs <limit> [of] [<of:usage>]"
_DOWN: Final = "(is|are [not|no [longer] running|up|alive | down|dead|stopped] | isn't running|up | stops|dies)"
LIMITS: Final = (
    *rows(_watch_program, f"{_LOOK} <program> {_AND} {_WARN} {_IF} it {_DOWN}", f"{_WARN} {_IF} <program> {_DOWN}",
          f"{_LOOK} <program> {_AND} {_WARN} {_IF} {_USES}", f"{_WARN} {_IF} <program> {_USES}",
          f"{_IF} <program> ({_DOWN} | {_USES}) [then] {_WARN}"),
    *rows(_watch, f"{_LOOK} <what:figures> {_AND} {_WARN} [{_IF}] {_IS} <limit> [<state>]",
          f"{_WARN} {_IF} <what:figures> {_IS} <limit> [<state>]",
          f"{_IF} <what:figures> {_IS} <limit> [<state>] [then] {_WARN}",
          f"{_WARN} {_IF} [there is] <limit> [<kept:state>] [of] <what:figures> [is] [<state>]",
          f"{_WARN} {_IF} [there is] <limit> [is] <state> on|at <mount:figures>"),
)  # fmt: skip
