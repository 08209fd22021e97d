"""The graph of a workflow: which nodes come first, which edges exclude one another, where ways meet again.

The same reading of edges serves the checks, the diagram, the replay and the runs:

- A node without an edge into it is an entry: it runs when the run begins.
- From a conditional or hitl node exactly one branch is taken: edges with the same condition form a branch, branches
  are tried in the order of their first edge, edges without condition are the default. From any other node every edge
  is taken whose condition is true (or that has none).
- An edge with on: "error" is taken only when the node, or a condition of its edges, fails.
- A loop node goes back to `loop_back_to`, or on by `break_path` or `timeout_path`; these count as edges (jumps),
  whether or not an edge is drawn for them. An edge that closes such a circle is a back edge: no join waits for it.
- A node that several edges lead into is a join. Without `join` in its config it waits until each of those edges was
  taken or can no longer be taken; "any" goes on at the first, "all" needs every one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from laneway.lanes.workflow.document import Document, whole_number

EXCLUSIVE = ("conditional", "hitl")
"""Node types that take exactly one branch."""


@dataclass(frozen=True)
class Edge:
    """An edge as it stands in the document; `index` is its place there, -1 for a loop's jump that is not drawn."""

    index: int
    source: str
    target: str
    condition: str | None = None
    on_error: bool = False


@dataclass(frozen=True)
class Branch:
    """Edges of one node that are taken together; no condition is the default."""

    condition: str | None
    edges: tuple[Edge, ...]


class Graph:
    """The nodes and edges of a document that has passed its schema and whose edges name existing nodes."""

    def __init__(self, document: Document) -> None:
        self.nodes: dict[str, Mapping[str, Any]] = {node["id"]: node for node in document["nodes"]}
        self.edges = [
            Edge(index, edge["from"], edge["to"], edge.get("condition"), edge.get("on") == "error")
            for index, edge in enumerate(document["edges"])
        ]
        drawn = {(edge.source, edge.target) for edge in self.edges}
        self.jumps = [
            Edge(-1, source, target)
            for source, target in dict.fromkeys(self._loop_ways())
            if (source, target) not in drawn
        ]
        self._kept: dict[tuple[str, str], set[str]] = {}
        self._out: dict[str, list[Edge]] = {name: [] for name in self.nodes}
        self._into: dict[str, list[Edge]] = {name: [] for name in self.nodes}
        for edge in self.edges + self.jumps:
            if edge.source in self._out and edge.target in self._into:
                self._out[edge.source].append(edge)
                self._into[edge.target].append(edge)

    def type(self, node: str) -> str:
        return str(self.nodes[node]["type"])

    def config(self, node: str) -> Mapping[str, Any]:
        config = self.nodes[node].get("config")
        return config if isinstance(config, Mapping) else {}

    def out(self, node: str) -> list[Edge]:
        """Edges from a node, in the order of the document; jumps of a loop that are not drawn come last."""
        return self._out[node]

    def into(self, node: str) -> list[Edge]:
        return self._into[node]

    def branches(self, node: str) -> list[Branch]:
        """The ways on from a node that went well: rules in their order, the default last (no undrawn jumps)."""
        found: dict[str | None, list[Edge]] = {}
        for edge in self._out[node]:
            if not edge.on_error and edge.index >= 0:
                found.setdefault(edge.condition, []).append(edge)
        rules = [Branch(condition, tuple(edges)) for condition, edges in found.items() if condition is not None]
        return rules + ([Branch(None, tuple(found[None]))] if None in found else [])

    def error_edges(self, node: str) -> list[Edge]:
        """The edges that are taken when the node, or a condition of its edges, fails."""
        return [edge for edge in self._out[node] if edge.on_error]

    def exclusive(self, node: str) -> bool:
        """Whether only one branch of the node is ever taken."""
        return self.type(node) in EXCLUSIVE

    def loop(self, node: str) -> Loop | None:
        """What a loop node does, None for any other node."""
        return Loop.of(self.config(node)) if self.type(node) == "loop" else None

    def first_round(self, node: str) -> int:
        """How often a loop's body has run when the loop is come to: once, unless only the loop leads to it."""
        loop = self.loop(node)
        return 0 if loop is not None and loop.back_to and self.dominates(node, loop.back_to) else 1

    def join(self, node: str) -> str | None:
        """`all`, `any`, or None: wait for what can still come."""
        mode = self.config(node).get("join")
        return mode if mode in ("all", "any") else None

    @cached_property
    def entries(self) -> list[str]:
        """The nodes a run begins with, in the order of the document."""
        found = [name for name in self.nodes if not self._into[name]]
        seen = self.reached(found)
        for name in self.nodes:
            if name not in seen and self._begins(name):
                found.append(name)
                seen |= self.reached([name])
        return [name for name in self.nodes if name in set(found)]

    @cached_property
    def exits(self) -> list[str]:
        """The nodes nothing follows."""
        return [name for name in self.nodes if not self._out[name]]

    @cached_property
    def reachable(self) -> set[str]:
        return self.reached(self.entries)

    @cached_property
    def order(self) -> list[str]:
        """All reachable nodes, each after those that lead to it (loops going back apart)."""
        return self._ordered(self.back)

    @cached_property
    def back(self) -> set[tuple[str, str]]:
        """Pairs of nodes whose edge closes a circle: it leads back to a node that came before."""
        pairs = [(edge.source, edge.target) for edge in self.edges + self.jumps]
        found = {(source, target) for source, target in pairs if self.dominates(target, source)}
        forward = self._without(found)
        for name in self.nodes:
            loop = self.loop(name)
            # A way into the middle of a loop's body: the loop's own step back is what closes the circle then.
            back_to = loop.back_to if loop and loop.back_to in self.nodes else None
            if back_to is None or (name, back_to) in found:
                continue
            if name in self._spread([back_to], forward, lambda edge: edge.target):
                found.add((name, back_to))
                forward = self._without(found)
        return found

    @cached_property
    def joins(self) -> dict[str, list[Edge]]:
        """Nodes that several edges lead into, back edges of loops not counted, with those edges."""
        found = {name: self.forward_into(name) for name in self.nodes}
        return {name: edges for name, edges in found.items() if len(edges) > 1}

    def forward_into(self, node: str) -> list[Edge]:
        """The edges into a node that a join waits for: drawn ones and jumps, without those that close a loop."""
        return [edge for edge in self._into[node] if (edge.source, edge.target) not in self.back]

    def before(self, node: str) -> set[str]:
        """Every node from which a way leads to this one."""
        return self._once(
            ("before", node),
            lambda: self._spread([edge.source for edge in self._into[node]], self._into, lambda edge: edge.source),
        )

    def after(self, node: str) -> set[str]:
        """Every node to which a way leads from this one."""
        return self._once(
            ("after", node),
            lambda: self._spread([edge.target for edge in self._out[node]], self._out, lambda edge: edge.target),
        )

    def reached(self, begin: Iterable[str]) -> set[str]:
        """The given nodes and every node to which a way leads from them."""
        return self._spread(begin, self._out, lambda edge: edge.target)

    def between(self, begin: str, end: str) -> set[str]:
        """The two, and every node on a way between them that passes neither of them on the way."""
        out, into = {**self._out, end: []}, {**self._into, begin: []}
        onward = self._spread([begin], out, lambda edge: edge.target)
        return {begin, end} | (onward & self._spread([end], into, lambda edge: edge.source))

    def dominates(self, one: str, other: str) -> bool:
        """Whether every way to the other node goes through the one (or they are the same)."""
        bits = self._dominators
        return one in bits and other in bits and bool(bits[other][1] & bits[one][0])

    @cached_property
    def onward(self) -> dict[str, set[str]]:
        """For each reachable node itself and all that follow it without going back."""
        out, found = self._without(self.back), dict[str, set[str]]()
        for name in reversed(self.order):
            found[name] = {name}.union(*(found.get(edge.target, ()) for edge in out[name]))
        return found

    def _once(self, key: tuple[str, str], work: Callable[[], set[str]]) -> set[str]:
        if key not in self._kept:
            self._kept[key] = work()
        return self._kept[key]

    def _spread(self, begin: Iterable[str], by: Mapping[str, list[Edge]], end: Any) -> set[str]:
        found, waiting = set[str](), list(begin)
        while waiting:
            name = waiting.pop()
            if name not in found:
                found.add(name)
                waiting.extend(end(edge) for edge in by[name])
        return found

    def _begins(self, name: str) -> bool:
        """Whether a circle that nothing leads into begins here: at its loop, or at where that goes back to."""
        loop = self.loop(name)
        if loop is not None and loop.back_to in self.nodes:
            drawn = any(edge.index >= 0 and edge.target == loop.back_to for edge in self._out[name])
            return drawn and name in self.before(name) and self.before(name) <= self.after(name)
        return bool(self._into[name]) and all(self._jumps_back(edge) for edge in self._into[name])

    def _jumps_back(self, edge: Edge) -> bool:
        loop = self.loop(edge.source)
        return loop is not None and loop.back_to == edge.target

    def _loop_ways(self) -> Iterable[tuple[str, str]]:
        for name in self.nodes:
            loop = self.loop(name)
            for target in loop.ways if loop else ():
                if target in self.nodes:
                    yield name, target

    def _without(self, pairs: set[tuple[str, str]]) -> dict[str, list[Edge]]:
        return {name: [e for e in edges if (e.source, e.target) not in pairs] for name, edges in self._out.items()}

    def _ordered(self, ignored: set[tuple[str, str]]) -> list[str]:
        """Reachable nodes, depth first without recursion, each before all that follow it."""
        out, seen, done = self._without(ignored), set[str](), list[str]()
        for entry in reversed(self.entries):
            stack = [] if entry in seen else [(entry, iter(reversed(out[entry])))]
            seen.add(entry)
            while stack:
                edge = next(stack[-1][1], None)
                if edge is None:
                    done.append(stack.pop()[0])
                elif edge.target not in seen:
                    seen.add(edge.target)
                    stack.append((edge.target, iter(reversed(out[edge.target]))))
        return done[::-1]

    @cached_property
    def _dominators(self) -> dict[str, tuple[int, int]]:
        """For each reachable node its own bit, and the bits of the nodes that every way to it goes through."""
        order, entries = self._ordered(set()), set(self.entries)
        bit = {name: 1 << number for number, name in enumerate(order)}
        found = {name: bit[name] if name in entries else (1 << len(order)) - 1 for name in order}
        changed = True
        while changed:
            changed = False
            for name in order:
                if name in entries:
                    continue
                new = (1 << len(order)) - 1
                for edge in self._into[name]:
                    new &= found.get(edge.source, new)
                new |= bit[name]
                changed, found[name] = changed or new != found[name], new
        return {name: (bit[name], found[name]) for name in order}


@dataclass(frozen=True)
class Loop:
    """What a loop node does; ids are as written, the checks say whether they are right."""

    back_to: str | None
    most: int
    condition: str | None
    on_break: tuple[str, ...]
    on_most: tuple[str, ...]
    delay_ms: int = 0

    @property
    def ways(self) -> tuple[str, ...]:
        return ((self.back_to,) if self.back_to else ()) + self.on_break + self.on_most

    @staticmethod
    def of(config: Mapping[str, Any]) -> Loop:
        back, condition = config.get("loop_back_to"), config.get("condition")
        return Loop(
            back if isinstance(back, str) else None,
            whole_number(config.get("max_iterations")) or 0,
            condition if isinstance(condition, str) else None,
            _names(config.get("break_path")),
            _names(config.get("timeout_path")),
            whole_number(config.get("delay_ms")) or 0,
        )


def _names(value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    return tuple(name for name in value if isinstance(name, str)) if isinstance(value, list) else ()
