"""Recorded runs, led through a changed workflow on paper: where would each have ended?

Nothing is run. Edges and conditions are followed over the outputs that were recorded. A node that is new, or whose
work was changed, has no output here; as long as no condition asks for it the way is known all the same, and where one
does, nobody can tell from here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from laneway.domain.workflow import Document
from laneway.lanes.workflow.conditions import Condition, Erred, compiled
from laneway.lanes.workflow.document import equal
from laneway.lanes.workflow.graph import Edge, Graph
from laneway.lanes.workflow.leaving import ways_out

DONE, FAILED, UNKNOWN = "done", "failed", "unknown"
CONDITION = "condition"
"""The code of a node that did its work and whose conditions erred."""
_NOT_WORK = frozenset({"timeout_ms", "retry", "name", "description", "position"})
"""What may change in a node without changing what comes out of it."""


class RecordedRun(Protocol):
    """A run that has ended, with what came out of its nodes."""

    @property
    def id(self) -> Any: ...
    @property
    def version(self) -> int: ...
    @property
    def input(self) -> Any: ...
    @property
    def outputs(self) -> Mapping[str, Any]: ...
    @property
    def status(self) -> str: ...


@dataclass(frozen=True)
class Ending:
    """Where a run ends: the last nodes it reaches, and how; unknown where an output is missing."""

    status: str
    nodes: frozenset[str]
    asks: str | None = None
    """The node whose output nobody knows here, where one is needed."""

    @property
    def words(self) -> str:
        at = ", ".join(f"`{name}`" for name in sorted(self.nodes)) or "nowhere"
        return f"fails at {at}" if self.status == FAILED else f"ends at {at}"


@dataclass(frozen=True)
class Replay:
    """One recorded run: how it ends now, and how it would."""

    run: str
    now: Ending
    then: Ending

    @property
    def differs(self) -> bool:
        return self.then.status != UNKNOWN and (self.now.status, self.now.nodes) != (self.then.status, self.then.nodes)

    @property
    def unknown(self) -> bool:
        return self.then.status == UNKNOWN

    def document(self) -> dict[str, Any]:
        """The replay as JSON."""
        then = None if self.unknown else {"status": self.then.status, "nodes": sorted(self.then.nodes)}
        return {
            "run": self.run, "differs": None if self.unknown else self.differs,
            "now": {"status": self.now.status, "nodes": sorted(self.now.nodes)}, "then": then,
            "cannot_tell_from": self.then.asks,
        }  # fmt: skip


def replayed(before: Document, after: Document, runs: Sequence[RecordedRun]) -> list[Replay]:
    """Each run through the workflow as it is and as it would be; runs that did not come to an end tell nothing."""
    ended = [run for run in runs if run.status in (DONE, FAILED)]
    return [Replay(str(run.id), _led(before, before, run), _led(before, after, run)) for run in ended]


def _led(recorded: Document, document: Document, run: RecordedRun) -> Ending:
    if not document["nodes"]:
        return Ending(DONE, frozenset())
    return _Walk(Graph(document), _known(recorded, document, run), run, _unlike(recorded, document)).ending()


def _known(recorded: Document, document: Document, run: RecordedRun) -> dict[str, Any]:
    """The recorded outputs of nodes that would still do the same work."""
    was = {node["id"]: _work(node) for node in recorded["nodes"]}
    now = {node["id"]: _work(node) for node in document["nodes"]}
    same = {name for name in run.outputs if name in now and equal(was.get(name), now[name])}
    # Of a node whose conditions erred only that is on record; with other conditions nobody knows what they would say.
    lost = {name for name in same if _fault(run, name) == CONDITION and _ways(recorded, name) != _ways(document, name)}
    return {name: run.outputs[name] for name in same - lost - _unlike(recorded, document)}


def _unlike(recorded: Document, document: Document) -> frozenset[str]:
    """The nodes that are new or changed, and those after them: what they give was made from something else."""
    was = {node["id"]: _work(node) for node in recorded["nodes"]}
    now = {node["id"]: _work(node) for node in document["nodes"]}
    other = {name for name in now if name not in was or not equal(was[name], now[name])}
    graph = Graph(document)
    return frozenset(other | {follower for name in other for follower in graph.after(name)})


def _ways(document: Document, name: str) -> list[tuple[Any, ...]]:
    return [(edge["to"], edge.get("condition"), edge.get("on")) for edge in document["edges"] if edge["from"] == name]


def _fault(run: RecordedRun, name: str) -> str | None:
    """By what the node failed, where it did: that is all it gave."""
    output = run.outputs.get(name)
    error = output.get("error") if isinstance(output, Mapping) else None
    return str(error.get("code")) if isinstance(error, Mapping) and error.get("node") == name else None


def _work(node: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in node.items() if key not in _NOT_WORK}


@dataclass
class _Walk:
    """A run on its way through the graph, node after node in their order."""

    graph: Graph
    outputs: dict[str, Any]
    run: RecordedRun
    unlike: frozenset[str]
    """The nodes that gave something else before, or nothing."""
    taken: dict[Edge, bool | None] = field(default_factory=dict)
    """Whether an edge is taken; None where nobody can tell."""
    asks: str | None = None
    failed: str | None = None
    unsure: bool = False

    def ending(self) -> Ending:
        reached: dict[str, bool | None] = {}
        for name in self.graph.order:
            reached[name] = self._reached(name)
            self._leave(name, reached[name])
            if self.failed is not None:
                return Ending(FAILED, frozenset({self.failed}))
        ends = frozenset(name for name, certain in reached.items() if certain and not self._goes_on(name))
        if self.unsure or any(certain is None for certain in reached.values()):
            return Ending(UNKNOWN, ends, self.asks)
        return Ending(DONE, ends)

    def _reached(self, name: str) -> bool | None:
        edges = self.graph.forward_into(name)
        if name in self.graph.entries or not edges:
            return True
        ways = [self.taken.get(edge, False) for edge in edges]
        if self.graph.join(name) == "all":
            return False if False in ways else None if None in ways else True
        return True if True in ways else None if None in ways else False

    def _leave(self, name: str, reached: bool | None) -> None:
        """Every edge from the node is taken, not taken, or unknown."""
        out = self.graph.out(name)
        if not reached:
            self.taken.update(dict.fromkeys(out, reached if reached is None else False))
            return
        self.taken.update(dict.fromkeys(out, False))
        loop = self.graph.loop(name)
        if self._broke(name):
            self._err(name)
        elif name not in self.outputs and _fault(self.run, name) not in (None, CONDITION):
            # It failed on what it was given then; what it would do with something else nobody knows.
            self.asks, self.unsure = self.asks or name, True
            self.taken.update(dict.fromkeys(out))
        elif loop is not None:
            self._out_of_loop(name, loop.condition)
        else:
            self._branch(name)

    def _broke(self, name: str) -> bool:
        """Whether the node failed in the recorded run: it came here, and nothing but the error came out."""
        if name in self.outputs and _fault(self.run, name) is not None:
            return True
        return self.run.status == FAILED and name not in self.run.outputs and name in _names(self.run)

    def _branch(self, name: str) -> None:
        for branch in self.graph.branches(name):
            value = True if branch.condition is None else self._value(name, branch.condition)
            if isinstance(value, Erred):
                return self._err(name)
            if branch.condition is None and self.graph.exclusive(name):
                # The default: taken if nothing before it was, and unknown if something before it is.
                earlier = [self.taken[edge] for edge in self.graph.out(name) if edge.condition is not None]
                value = False if True in earlier else None if None in earlier else True
            self.taken.update(dict.fromkeys(branch.edges, value))
            if value is True and self.graph.exclusive(name):
                return None
            if value is None and self.graph.exclusive(name):
                rest = [edge for edge in self.graph.out(name) if not edge.on_error and not self.taken[edge]]
                self.taken.update(dict.fromkeys(rest))
                return None
        return None

    def _out_of_loop(self, name: str, condition: str | None) -> None:
        """What was recorded is the last turn: its condition was false then, or it had had enough."""
        again = True if condition is None else self._value(name, condition)
        if isinstance(again, Erred):
            again = False
        branches = ways_out(self.graph, name, at_limit=bool(again))
        ways = {edge for branch in branches for edge in branch.edges}
        for edge in self.graph.out(name):
            if edge.on_error or (edge.source, edge.target) in self.graph.back:
                continue
            self.taken[edge] = None if again is None else edge in ways

    def _value(self, name: str, text: str) -> bool | Erred | None:
        """What a condition says of the recorded outputs; None if it asks for one that is not there."""
        condition = compiled(text)
        missing = self._missing(name, condition)
        if missing is not None:
            self.asks = self.asks or missing
            return None
        return condition.value(self._output(name), {"previous": self.previous, "input": self.run.input, **self.outputs})

    def _missing(self, name: str, condition: Condition) -> str | None:
        reads = condition.expression.reads
        if "output" in reads and not self._has_output(name):
            return name
        paths = reads.get("ctx", ())
        asked = [edge.source for edge in self.graph.edges] if paths is None else [str(path[0]) for path in paths]
        known = {*self.outputs, "input", "previous"}
        missing = next((one for one in asked if one in self.graph.nodes and one not in known), None)
        return missing or self._missing_before(paths)

    def _missing_before(self, paths: Any) -> str | None:
        """The node that a condition asks the run before for, where it would have given something else there."""
        if "previous" in self.graph.nodes or not self.previous:
            return None
        before = [path[1:2] for path in paths or () if path[0] == "previous"]
        if paths is None or () in before:
            return min(self.unlike, default=None)
        return next((str(path[0]) for path in before if path[0] in self.unlike), None)

    @property
    def previous(self) -> Mapping[str, Any]:
        """What the run before it gave."""
        found: Mapping[str, Any] = getattr(self.run, "previous", {})
        return found

    def _has_output(self, name: str) -> bool:
        return name in self.outputs or self._passed_on(name) is not None

    def _output(self, name: str) -> Any:
        if name in self.outputs:
            return self.outputs[name]
        held = self._passed_on(name)
        assert held is not None
        return held[0]

    def _passed_on(self, name: str) -> tuple[Any] | None:
        """What a new conditional node hands on: its input, where that is the one node's before it or the run's own."""
        if self.graph.type(name) != "conditional":
            return None
        wants = self.graph.config(name).get("input")
        sources = [edge.source for edge in self.graph.forward_into(name) if self.taken.get(edge)]
        if wants is None:
            if not sources:
                return (self.run.input,)
            return (self._output(sources[0]),) if len(sources) == 1 and self._has_output(sources[0]) else None
        root, *path = str(wants).removeprefix("$nodes.").split(".")
        if root != "$input" and root not in self.outputs:
            return None
        found = self.run.input if root == "$input" else self.outputs[root]
        for part in path:
            if not isinstance(found, Mapping) or part not in found:
                return None
            found = found[part]
        return (found,)

    def _err(self, name: str) -> None:
        edges = self.graph.error_edges(name)
        self.taken.update(dict.fromkeys(self.graph.out(name), False))
        self.taken.update(dict.fromkeys(edges, True))
        if not edges:
            self.failed = name

    def _goes_on(self, name: str) -> bool:
        onward = (edge for edge in self.graph.out(name) if (edge.source, edge.target) not in self.graph.back)
        return any(self.taken.get(edge) is not False for edge in onward)


def _names(run: RecordedRun) -> frozenset[str]:
    """The nodes a recorded run came to, as far as it says."""
    return frozenset(getattr(run, "ended_at_nodes", ()) or ())
