"""Times of day: `before 8 am`, `departing after 17:30`, `between 9 and 11 o'clock`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from laneway.lanes.pipeline.planner.grammar import Chart, Edge, Rules
from laneway.lanes.pipeline.planner.names.columns import listed
from laneway.lanes.pipeline.planner.names.likeness import related
from laneway.lanes.pipeline.planner.parts.pieces import Test, compared
from laneway.lanes.pipeline.planner.phrasing import meanings
from laneway.lanes.pipeline.planner.refusal import Refused
from laneway.lanes.pipeline.planner.schema import Column

RULES = Rules()
_NAMED = {"noon": "12:00", "midday": "12:00", "midnight": "00:00"}
_HALVES = {"am": 0, "pm": 12}
RULES.words("daytime", meanings(
    """
    <: before | earlier than | ahead of
    >: after | later than | past
    >=: from | since | at or after | no earlier than
    <=: by | until | till | no later than | up to
    ==: at
    """
))  # fmt: skip


@RULES.finder("clock")
def clock(chart: Chart, at: int) -> Iterator[Edge]:
    """A time of day, as the tables write it."""
    token = chart.token(at)
    if token is None:
        return
    if chart.text(at) in _NAMED:
        yield Edge(at + 1, _NAMED[chart.text(at)])
    elif token.kind == "time":
        hour, minute = token.text.split(":")
        yield from _halved(chart, at + 1, int(hour), minute, sure=True)
    elif token.kind == "number" and token.text.isdigit() and int(token.text) < 25:
        yield from _halved(chart, at + 1, int(token.text), "00", sure=False)


def _halved(chart: Chart, at: int, hour: int, minute: str, *, sure: bool) -> Iterator[Edge]:
    """The time with am or pm behind it, if that is said; a mere number is none without."""
    said = chart.text(at)
    if said in _HALVES and 1 <= hour <= 12:
        yield Edge(at + 1, f"{hour % 12 + _HALVES[said]:02}:{minute}")
    elif chart.text(at) in ("o'clock", "oclock", "h") or sure:
        yield Edge(at + (not sure), f"{hour:02}:{minute}")


@RULES.finder("timed")
def timed(chart: Chart, at: int) -> Iterator[Edge]:
    """A column of times, by its name or by the verb that it is called after."""
    columns = [column for column in chart.schema.columns if column.kind == "time"]
    for edge in chart.edges("column", at) if columns else ():
        if edge.value in columns:
            yield edge
    word = chart.text(at)
    found = [column for column in columns if len(word) > 3 and related(word, column)]
    if len(found) == 1:
        yield Edge(at + 1, found[0], 0.1)


@RULES.rule("test", "<timed> [is|are|time] <daytime> <clock>")
def at_time(chart: Chart, column: Column, by: str, time: str) -> Test:
    """`departing after 17:30`."""
    seconds = ":00" if len(str(column.low)) > 5 else ""
    return Test(compared(column.name, by, f"{time}{seconds}"))


@RULES.rule("test", "<timed> [is|are|time] [at|from] <clock> <onwards> ; <timed> [is|are|time] at <onwards> <clock>")
def onwards(chart: Chart, column: Column, *said: str) -> Test:
    """`beginning at 8 am or later`."""
    by = {"since": ">=", "through": "<="}
    time = next(one for one in said if one not in by)
    return at_time(chart, column, next(by[one] for one in said if one in by), time)


@RULES.rule("test", "<timed> between <clock> and <clock>")
def between_times(chart: Chart, column: Column, low: str, high: str) -> Test:
    tests = [at_time(chart, column, by, time) for by, time in ((">=", low), ("<=", high))]
    return Test({"and": [test.where for test in tests]})


@RULES.rule("test", "<daytime> <clock>", cost=0.3)
def bare_time(chart: Chart, by: str, time: str) -> Test:
    """`before 8 am`: of the one column of times, or of those the one of the departure."""
    return at_time(chart, _usual(chart), by, time)


@RULES.rule("test", "between <clock> and <clock>", cost=0.3)
def bare_times(chart: Chart, low: str, high: str) -> Test:
    return between_times(chart, _usual(chart), low, high)


def _usual(chart: Chart) -> Any:
    found = [column for column in chart.schema.columns if column.kind == "time"]
    if len(found) != 1:
        said = f"The time may be about {listed(found, ' or ')}." if found else "No column holds times of day."
        raise Refused(said, f"Name a column: {listed(chart.schema.columns)}.")
    return found[0]
