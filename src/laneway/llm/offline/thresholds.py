"""Skill: a look at the server that is worth telling only beyond a limit, by the `server_info` tool.

Shapes:
    check the disk and tell me above 80 % · watch disk and memory and warn me if they are over 90 %
    tell me if the load is above 4 · if the CPU exceeds 90 %, let me know · notify me when less than 10 GB is free on /
    check nginx and tell me if it uses more than 500 MB · alert me if nginx is not running
    prüfe die Festplatte und sag mir Bescheid, wenn sie über 80 % liegt · warne mich, wenn nginx nicht läuft

Where the instructions allow silence (`Turn.may_be_silent`), as those of a schedule do, a limit that is not passed is
answered with the word that means nothing is to be said. A look that failed is always told.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from laneway.domain.schedule import NOTHING
from laneway.llm.offline.carrying_out import carried_out
from laneway.llm.offline.measures import Figure, Unreadable, figures
from laneway.llm.offline.orders import Ask, Offer, Order
from laneway.llm.offline.outcomes import Ending, Outcome, told
from laneway.llm.offline.server_questions import SERVER_INFO, offers
from laneway.llm.offline.turn import Answer, Turn, text
from laneway.llm.offline.watching import Watch, watch_of

LONGEST_WATCH = 300
LOOKED_ONCE = "I looked once, now; `laneway schedule add` makes me look again."

_PASSED = {"above": "above", "at_least": "at least", "below": "below", "at_most": "at most"}
_NOT_PASSED = {"above": "not above", "at_least": "less than", "below": "not below", "at_most": "more than"}


def thresholds(turn: Turn) -> Answer | None:
    """The look at the server and then what it found, if the user's own words name a figure and its limit."""
    if len(turn.own_words) > LONGEST_WATCH or SERVER_INFO not in turn.tools:
        return None
    watch = watch_of(turn.own_words)
    if watch is None:
        return None
    if isinstance(watch, Ask):
        return text(watch.text)
    order = _order(watch, turn)
    return None if order is None else carried_out(turn, [order])


def _order(watch: Watch, turn: Turn) -> Order | None:
    topics = list(dict.fromkeys(measure.topic for measure in watch.measures))
    if not all(offers(turn.tools[SERVER_INFO], topic) for topic in topics):
        return None
    program = watch.measures[0].program
    more: dict[str, Any] = {} if program is None else {"process": program}
    order = Offer(turn.tools).order(
        SERVER_INFO, "look at that", lambda outcome: _found(watch, outcome, turn.may_be_silent), topics=topics, **more
    )
    return None if order is None else replace(order, tells_all=True)


def _found(watch: Watch, outcome: Outcome, may_be_silent: bool) -> str:
    """What passed its limit, or could not be looked at; else that nothing did, or the word for silence."""
    if outcome.ending is not Ending.DONE:
        return told("look at that", outcome, "")
    read, problems = _read(watch, outcome)
    passed, calm = _judged(watch, read)
    if passed or problems:
        return " ".join([*passed, *problems])
    if may_be_silent:
        return NOTHING
    return f"{calm} {LOOKED_ONCE}" if watch.is_lasting else calm


def _read(watch: Watch, outcome: Outcome) -> tuple[list[Figure], list[str]]:
    read: list[Figure] = []
    problems: list[str] = []
    for measure in watch.measures:
        if measure.topic not in outcome.fields:
            why = f": {outcome.error}" if outcome.error else ""
            problems.append(f"I could not read {measure.topic}{why}.")
            continue
        try:
            read += figures(measure, outcome.fields[measure.topic])
        except Unreadable as missing:
            problems.append(str(missing))
    return read, problems


def _judged(watch: Watch, read: Sequence[Figure]) -> tuple[list[str], str]:
    """The sentence about what passed the limit, if anything did, and the one for when nothing did."""
    limit = watch.limit
    if limit is None:
        return [], _sentence(read, "")
    passed = [figure for figure in read if limit.is_passed(figure.value)]
    beyond = [_sentence(passed, f", {_PASSED[limit.kind]} {limit.shown}")] if passed else []
    return beyond, _sentence(read, f", {_NOT_PASSED[limit.kind]} {limit.shown}")


def _sentence(read: Sequence[Figure], verdict: str) -> str:
    return " and ".join([figure.said if at else figure.first for at, figure in enumerate(read)]) + f"{verdict}."
