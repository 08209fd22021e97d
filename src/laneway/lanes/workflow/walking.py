"""How a run walks through its graph: which nodes are next, which never come, and where a finished one leads.

Pure: a document, the visits that count and what is on record of them go in. A node without a join setting waits for
every edge that can still be taken, so one behind exclusive branches runs after the branch that was taken.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from laneway.domain.workflow_run import NodeRecord
from laneway.lanes.workflow.conditions import Erred, compiled
from laneway.lanes.workflow.document import Document
from laneway.lanes.workflow.graph import Branch, Edge, Graph
from laneway.lanes.workflow.leaving import ways_out

Visits = Mapping[str, int]
"""Which visit of a node counts; the first, if it is not named."""
Records = Mapping[tuple[str, int], NodeRecord]


class Standing(StrEnum):
    """Where a node stands in a run."""

    READY = "ready"
    OPEN = "open"
    ENDED = "ended"
    BLOCKED = "blocked"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class Lost:
    """No edge can be chosen: a condition is neither true nor false."""

    why: str


class Walk:
    """A document as a run sees it; every edge and every jump of a loop has a place, by which it is on record."""

    def __init__(self, document: Document) -> None:
        self.graph = Graph(document)
        jumps = {(edge.source, edge.target): len(self.graph.edges) + at for at, edge in enumerate(self.graph.jumps)}
        self._jumps = jumps
        # A loop that stands before what it repeats: the way from it to its first node is no way back.
        self._heads = {
            loop.back_to: name
            for name in self.graph.nodes
            if (loop := self.graph.loop(name)) and loop.back_to and (name, loop.back_to) not in self.graph.back
        }

    def place(self, edge: Edge) -> int:
        return edge.index if edge.index >= 0 else self._jumps[edge.source, edge.target]

    def node(self, name: str) -> Mapping[str, Any]:
        return self.graph.nodes[name]

    def body(self, loop: str) -> set[str]:
        """The nodes that run again when the loop goes back, itself included."""
        return self.graph.between(str(self.graph.config(loop).get("loop_back_to")), loop)

    def standings(self, visits: Visits, records: Records) -> dict[str, Standing]:
        """Where every node stands."""
        found: dict[str, Standing] = {}
        for name in self.graph.order:
            record = records.get((name, visits.get(name, 1)))
            if record is not None:
                found[name] = Standing.ENDED if record.ended else Standing.OPEN
            else:
                found[name] = self._standing(name, visits, records, found)
        return found

    def _standing(self, name: str, visits: Visits, records: Records, found: Mapping[str, Standing]) -> Standing:
        ways = [
            self._taken(edge, records.get((edge.source, visits.get(edge.source, 1))), found)
            for edge in self._into(name, visits, records)
        ]
        if not ways:
            return Standing.READY
        dead = all(way is False for way in ways)
        match self.graph.join(name):
            case "any":
                ready = True in ways
            case "all":
                ready, dead = all(ways), False in ways
            case _:
                ready = None not in ways and True in ways
        return Standing.READY if ready else Standing.SKIPPED if dead else Standing.BLOCKED

    def _into(self, name: str, visits: Visits, records: Records) -> list[Edge]:
        """The edges a node waits for; one that a loop before its body has sent for again waits for that body only."""
        if name in self._heads and _went_back(self._heads[name], visits, records):
            return []
        if name in self._heads.values() and _went_back(name, visits, records):
            return [edge for edge in self.graph.into(name) if (edge.source, name) in self.graph.back]
        return self.graph.forward_into(name)

    def _taken(self, edge: Edge, record: NodeRecord | None, found: Mapping[str, Standing]) -> bool | None:
        """Whether the edge was taken; None while nobody knows."""
        if record is not None and record.ended:
            return self.place(edge) in record.taken
        return False if found.get(edge.source, Standing.SKIPPED) is Standing.SKIPPED else None

    def came_from(self, name: str, visits: Visits, records: Records) -> list[str]:
        """The nodes whose edges to this one were taken, each once."""
        if (loop := self._heads.get(name)) and _went_back(loop, visits, records):
            return [loop]
        found = [
            edge.source
            for edge in self._into(name, visits, records)
            if (record := records.get((edge.source, visits.get(edge.source, 1)))) and self.place(edge) in record.taken
        ]
        return list(dict.fromkeys(found))

    def chosen(self, name: str, output: Any, ctx: Mapping[str, Any]) -> list[int] | Lost:
        """The places of the edges to follow after the node gave `output`; Lost if a condition fails."""
        branches = self.graph.branches(name)
        if self.graph.loop(name) is not None:
            return self._out_of_loop(name, output, ctx)
        if self.graph.type(name) == "hitl" and not any(branch.condition for branch in branches):
            # Nobody goes on past a person who said no only because the way has no condition.
            said_yes = isinstance(output, Mapping) and output.get("decision") not in ("rejected", "expired", None)
            return self._places(branches) if said_yes else []
        return self._picked(branches, output, ctx, exclusive=self.graph.exclusive(name))

    def pinned(self, name: str, visit: int, output: Any) -> Any:
        """What a test gave for the node; a loop goes back no more often than it may, and ends where nothing says so."""
        loop = self.graph.loop(name)
        if loop is None:
            return output
        rounds = visit - 1 + self.graph.first_round(name)
        if not isinstance(output, Mapping):
            return {"iterations": rounds, "value": output, "again": False, "ended": "condition"}
        return {**output, "again": False, "ended": "limit"} if output.get("again") and rounds >= loop.most else output

    def on_error(self, name: str) -> list[int]:
        """The places of the edges that are followed when the node, or choosing its way, fails."""
        return [self.place(edge) for edge in self.graph.error_edges(name)]

    def ends(self, visits: Visits, records: Records) -> list[str]:
        """The nodes a run has ended at: those that gave something and from which no edge was taken."""
        found = [(name, records.get((name, visits.get(name, 1)))) for name in self.graph.order]
        return [name for name, record in found if record is not None and record.ended and not record.taken]

    def _out_of_loop(self, name: str, output: Any, ctx: Mapping[str, Any]) -> list[int] | Lost:
        if output.get("again"):
            return []
        branches = ways_out(self.graph, name, at_limit=output.get("ended") == "limit")
        return self._picked(branches, output, ctx, exclusive=False)

    def _picked(
        self, branches: Sequence[Branch], output: Any, ctx: Mapping[str, Any], *, exclusive: bool
    ) -> list[int] | Lost:
        taken: list[Branch] = []
        for branch in branches:
            verdict = True if branch.condition is None else compiled(branch.condition).value(output, ctx)
            if isinstance(verdict, Erred):
                edge = branch.edges[0]
                told = f"The condition `{str(branch.condition)[:200]}` of the edge {edge.source} → {edge.target} failed"
                return Lost(f"{told}: {verdict.why}.")
            if verdict:
                taken.append(branch)
                if exclusive:
                    break
        return self._places(taken)

    def _places(self, branches: Sequence[Branch]) -> list[int]:
        return [self.place(edge) for branch in branches for edge in branch.edges]


def _went_back(loop: str, visits: Visits, records: Records) -> bool:
    """Whether the loop itself began this round, and not one around it."""
    last = records.get((loop, visits.get(loop, 1) - 1))
    return last is not None and last.ended and not last.taken
