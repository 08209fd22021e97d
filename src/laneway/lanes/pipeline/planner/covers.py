"""Ways to account for every word of a request: sequences of parts, the least far-fetched first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from laneway.lanes.pipeline.planner.grammar import Chart, Edge
from laneway.lanes.pipeline.planner.parts.pieces import Filler, Group, Opener, Tie

BEAM = 40
"""So many ways to read the words up to a place are kept."""
PASSED_OVER = 0.5
"""What it costs to take a word that a column bears for one that says nothing."""
_SMALL = (Filler, Opener, Tie)


@dataclass(frozen=True, slots=True)
class Way:
    """One way to read the request up to a place."""

    cost: float
    part: Any
    before: Way | None
    told: tuple[int, ...]
    """The parts that say something, to know the same way by."""
    start: int = 0
    fresh: bool = True
    """Nothing was said yet since the beginning or the last tie."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of the request and where it stands."""

    part: Any
    start: int
    end: int


def covers(chart: Chart) -> Iterator[tuple[float, list[Piece]]]:
    """Every way that is kept, with its cost; the furthest place that any way reaches is left in the chart."""
    ways: list[dict[tuple[int, ...], Way]] = [{} for _ in range(chart.size + 1)]
    ways[0][()] = Way(0.0, None, None, ())
    for at in range(chart.size):
        kept = sorted(ways[at].values(), key=lambda way: way.cost)[:BEAM]
        if kept:
            chart.furthest = at
        for way in kept:
            for edge in chart.edges("part", at):
                if _follows(way, edge.value, edge.end == chart.size):
                    cost = edge.cost + (PASSED_OVER if _passes_over(chart, edge, at) else 0.0)
                    _keep(ways[edge.end], way, edge.value, 1.0 + cost, at)
    for way in sorted(ways[chart.size].values(), key=lambda way: way.cost):
        yield way.cost, _pieces(way, chart.size)


def _passes_over(chart: Chart, edge: Edge, at: int) -> bool:
    """Whether words that say nothing elsewhere are those of a column here: on display, of an on_display."""
    if not isinstance(edge.value, Filler | Opener):
        return False
    return any(chart.text(place) in chart.schema.words for place in range(at, edge.end)) and at > 0


def _keep(ways: dict[tuple[int, ...], Way], way: Way, part: Any, cost: float, at: int) -> None:
    told = way.told if isinstance(part, Filler | Opener) else (*way.told, id(part))
    total = way.cost + cost
    known = ways.get(told)
    if known is None or total < known.cost:
        fresh = isinstance(part, Tie | Group) or (way.fresh and isinstance(part, _SMALL))
        ways[told] = Way(total, part, way, told, at, fresh)


def _follows(way: Way, part: Any, last: bool) -> bool:
    """Whether the part may stand here: a tie joins something to something, and an opener begins."""
    if isinstance(part, Opener):
        return way.fresh
    if not isinstance(part, Tie):
        return True
    return not last and way.part is not None and not isinstance(way.part, Tie)


def _pieces(way: Way, end: int) -> list[Piece]:
    found: list[Piece] = []
    at: Way | None = way
    while at is not None and at.part is not None:
        parts = at.part if isinstance(at.part, tuple) else (at.part,)
        found[:0] = [Piece(part, at.start, end) for part in parts if part is not None]
        end, at = at.start, at.before
    return found
