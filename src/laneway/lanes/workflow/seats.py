"""How many branches behind a `parallel` node are under way at once, where it sets `max_concurrency`.

A branch is what only one of the node's edges leads to. It has its seat from its first node until nothing of it is left
to do, waiting included; what several edges lead to (the join and all behind it) takes none.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from laneway.lanes.workflow.graph import Graph
from laneway.lanes.workflow.walking import Standing

_LEFT = frozenset({Standing.READY, Standing.OPEN, Standing.BLOCKED})
_BEGUN = frozenset({Standing.OPEN, Standing.ENDED})
Branch = frozenset[str]


class Seats:
    """The seats of a document."""

    def __init__(self, graph: Graph) -> None:
        self._rows = [
            (most, _branches(graph, name))
            for name in graph.nodes
            if graph.type(name) == "parallel" and (most := graph.config(name).get("max_concurrency")) is not None
        ]

    def free_for(
        self, wanted: Collection[str], standings: Mapping[str, Standing], working: Collection[str]
    ) -> list[str]:
        """Those of the wanted nodes, in their order, that have a seat or need none."""
        begun = {name for name, standing in standings.items() if standing in _BEGUN} | set(working)
        left = {name for name, standing in standings.items() if standing in _LEFT} | set(working)
        found: list[str] = []
        for name in wanted:
            if all(self._has_seat(name, most, branches, begun, left) for most, branches in self._rows):
                found.append(name)
                begun.add(name)
        return found

    def _has_seat(self, name: str, most: int, branches: list[Branch], begun: set[str], left: set[str]) -> bool:
        own = next((branch for branch in branches if name in branch), None)
        if own is None or own & begun:
            return True
        return sum(bool(branch & begun) and bool(branch & left) for branch in branches) < int(most)


def _branches(graph: Graph, name: str) -> list[Branch]:
    targets = list(dict.fromkeys(edge.target for edge in graph.out(name) if not edge.on_error))
    reached = {target: graph.onward.get(target, {target}) for target in targets}
    return [
        frozenset(reached[one] - set().union(*(reached[other] for other in targets if other != one))) for one in targets
    ]
