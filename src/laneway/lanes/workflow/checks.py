"""Everything that is checked before a workflow is stored, the most basic first: one function for each reason.

`check(document)` says what is wrong with a document, `patched(document, operations)` what is wrong with a patch and
what the document is after it. Checks of the graph run only on documents whose nodes and edges can be told apart.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError

from laneway.errors import BadInput
from laneway.lanes.workflow import schema
from laneway.lanes.workflow.conditions import compiled as compiled_condition
from laneway.lanes.workflow.document import AGENTS_PER_PATCH, Document, bounded, whole_number
from laneway.lanes.workflow.finding import Finding, in_order
from laneway.lanes.workflow.graph import Edge, Graph
from laneway.lanes.workflow.leaving import step_back, ways_out
from laneway.lanes.workflow.node_paths import compiled
from laneway.lanes.workflow.patching import applied
from laneway.lanes.workflow.quoting import quoted, short, shown
from laneway.lanes.workflow.references import Placed, placed, whole
from laneway.lanes.workflow.secrets import secrets
from laneway.lanes.workflow.unknown_keys import misspelt
from laneway.lanes.workflow.worked_out import OF_EDGES, OF_NODES, OF_TRIGGERS, WorkedOut

MOST_ITERATIONS = 10_000
MOST_NAMED = 12
Agent = tuple[str, str]
"""The id of an agent node, and where it stands."""
OR_LOOP = "or go back by a loop node (loop_back_to, max_iterations)"
LEAVE_OUT = "leave join out: it then waits for what can still come"


def duplicate_ids(document: Document) -> Iterator[Finding]:
    """duplicate-id: every node has an id of its own."""
    first: dict[str, int] = {}
    for index, node in enumerate(document["nodes"]):
        if node["id"] in first:
            yield Finding(
                "duplicate-id",
                f"The nodes {first[node['id']]} and {index} have the same id {node['id']!r}.",
                "Give one of them another id, or change the one that is there.",
                node["id"],
                f"/nodes/{index}/id",
            )
        first.setdefault(node["id"], index)


def dangling_edges(document: Document) -> Iterator[Finding]:
    """dangling-edge: both ends of every edge are nodes of the workflow."""
    known = [node["id"] for node in document["nodes"]]
    names = set(known)
    for index, edge in enumerate(document["edges"]):
        for end in ("from", "to"):
            if edge[end] not in names:
                yield Finding(
                    "dangling-edge",
                    f"Edge {index} ({edge['from']} → {edge['to']}) names the node {edge[end]!r}, which does not exist.",
                    f"{suggestion(edge[end], known)} or remove the edge.",
                    None,
                    f"/edges/{index}/{end}",
                )


def suggestion(name: str, known: list[str]) -> str:
    """What to do about a node that is not there, without the end of the sentence."""
    near = difflib.get_close_matches(name, known, 1, 0.6)
    return f"Write {near[0]!r}," if near else f"Add a node {name!r},"


def loops(document: Document) -> Iterator[Finding]:
    """loop-config: a loop goes back to a node before it, a limited number of times, and its ways on exist."""
    graph = Graph(document)
    for index, node in enumerate(document["nodes"]):
        if node["type"] == "loop":
            yield from _loop(graph, node["id"], node.get("config", {}), f"/nodes/{index}/config")


def _loop(graph: Graph, name: str, config: dict[str, Any], path: str) -> Iterator[Finding]:
    def finding(key: str, what: str, repair: str) -> Finding:
        return Finding("loop-config", f"The loop {name!r} {what}.", repair, name, f"{path}/{key}")

    back = config.get("loop_back_to")
    if back is not None and not isinstance(back, str):
        what = f"has {shown(back)} as its loop_back_to, which is no text"
        yield finding("loop_back_to", what, "Make it a text: the id of a node that comes before.")
    elif not back:
        yield finding("loop_back_to", "does not say where it goes back to", "Add 'loop_back_to', the id of a node.")
    elif back not in graph.nodes:
        yield finding("loop_back_to", f"goes back to {back!r}, which does not exist", "Name a node that comes before.")
    elif back == name:
        yield finding("loop_back_to", "goes back to itself", "Name the first node of what is repeated.")
    elif name not in graph.after(back):
        what = f"goes back to {back!r}, which does not come before it"
        yield finding("loop_back_to", what, f"Name a node from which edges lead to {name!r}.")
    most = config.get("max_iterations")
    if not 1 <= (whole_number(most) or 0) <= MOST_ITERATIONS:
        what = "has no limit" if most is None else f"has the limit {shown(most)}"
        yield finding("max_iterations", what, f"Set 'max_iterations' to a whole number from 1 to {MOST_ITERATIONS}.")
    if "condition" in config and not isinstance(config["condition"], str):
        yield finding("condition", "has a condition that is no text", "Write it as CEL, such as $.left > 0.")
    for key in ("break_path", "timeout_path"):
        for what, repair in _wrong_ways(graph, config.get(key), back):
            yield finding(key, f"has a {key} {what}", f"{repair}, or leave it out.")


def _wrong_ways(graph: Graph, ways: Any, back: Any) -> Iterator[tuple[str, str]]:
    if ways is None:
        return
    names = [ways] if isinstance(ways, str) else ways
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        yield "that is no node id and no list of them", "Name existing nodes"
        return
    for name in names:
        if name not in graph.nodes:
            yield f"to {name!r}, which does not exist", "Name existing nodes"
        elif name == back:
            yield f"to {name!r}, which it goes back to: it would never be left", "Name nodes that come after it"


def conditions(document: Document) -> Iterator[Finding]:
    """condition: what decides on a way, keeps a row or makes a value is CEL that compiles and knows its names."""
    for index, edge in enumerate(document["edges"]):
        place = f"Edge {index} ({edge['from']} → {edge['to']})"
        yield from _condition(edge, OF_EDGES, place, f"/edges/{index}", edge["from"])
    for index, node in enumerate(document["nodes"]):
        if (setting := OF_NODES.get(node["type"])) is not None:
            place, path = f"Node {node['id']!r}", f"/nodes/{index}/config"
            yield from _condition(node.get("config", {}), setting, place, path, node["id"])
    for index, trigger in enumerate(document.get("triggers", [])):
        yield from _condition(trigger, OF_TRIGGERS, f"Trigger {index}", f"/triggers/{index}", None)


def _condition(
    holder: Mapping[str, Any], setting: WorkedOut, place: str, path: str, node: str | None
) -> Iterator[Finding]:
    wrong = setting.wrong(holder)
    if wrong is not None:
        yield Finding("condition", f"{place}: {wrong.message}", wrong.hint, node, f"{path}/{setting.key}")


def cycles(document: Document) -> Iterator[Finding]:
    """cycle: edges lead forward; only a loop node goes back, to the node its config names."""
    graph = Graph(document)
    # Without what closes its circle no loop goes round; nor does it without its own step, wherever that stands.
    circle = _circle(graph, lambda edge: _closes(graph, edge)) or _circle(graph, lambda edge: step_back(graph, edge))
    if circle:
        way = " → ".join([circle[0].source, *(edge.target for edge in circle)])
        # A loop's failure that leads into its own body is no part of the loop, wherever the circle was begun.
        failure = next((edge for edge in circle if edge.on_error and graph.loop(edge.source)), None)
        path, repair = _mended(graph, failure or circle[-1])
        message = f"The edges {way} go round in a circle."
        yield Finding("cycle", message, f"{repair}, {OR_LOOP}.", circle[0].source, path)


def _closes(graph: Graph, edge: Edge) -> bool:
    """Whether an edge closes the circle of a loop: by its step back, or by its body's return to it."""
    if (edge.source, edge.target) not in graph.back:
        return False
    if step_back(graph, edge):
        return True
    end = graph.loop(edge.target)
    if edge.source == edge.target or end is None or end.back_to not in graph.nodes:
        return False
    return edge.source in graph.reached([str(end.back_to)])


def _circle(graph: Graph, left_out: Callable[[Edge], bool]) -> list[Edge]:
    """The edges of one circle, the one that closes it last; none if there is no circle."""
    following = {name: [edge for edge in graph.out(name) if not left_out(edge)] for name in graph.nodes}
    marks = dict.fromkeys(following, 0)
    # From where a run begins: the last edge is then the one that leads back.
    for begin in dict.fromkeys([*graph.entries, *graph.nodes]):
        way, stack = list[Edge](), [(begin, iter(following[begin]))] if not marks[begin] else []
        marks[begin] = marks[begin] or 1
        while stack:
            name, rest = stack[-1]
            edge = next(rest, None)
            if edge is None:
                marks[name] = 2
                stack.pop()
                del way[len(stack) - 1 :]
            elif marks[edge.target] == 1:
                names = [each for each, _ in stack]
                return [*way[names.index(edge.target) :], edge]
            elif not marks[edge.target]:
                marks[edge.target] = 1
                way.append(edge)
                stack.append((edge.target, iter(following[edge.target])))
    return []


def _mended(graph: Graph, edge: Edge) -> tuple[str, str]:
    """Where the edge stands, and how it goes; a loop's way that is not drawn stands in its config."""
    if edge.index >= 0:
        return f"/edges/{edge.index}", f"Remove the edge {edge.source} → {edge.target}"
    loop, index = graph.loop(edge.source), list(graph.nodes).index(edge.source)
    key = "break_path" if loop is not None and edge.target in loop.on_break else "timeout_path"
    return f"/nodes/{index}/config/{key}", f"Take {edge.target!r} out of the {key} of {edge.source!r}"


def references(document: Document) -> Iterator[Finding]:
    """reference: a config refers only to nodes that come before it, and in a way that can be read."""
    graph = Graph(document)
    for index, node in enumerate(document["nodes"]):
        for found in placed(node.get("config", {}), ("nodes", index, "config")):
            wrong = _wrong_reference(graph, node["id"], found)
            if wrong:
                message = f"The config of node {node['id']!r} refers to {short(found.text)}{wrong[0]}."
                yield Finding("reference", message, wrong[1], node["id"], found.path)


def _wrong_reference(graph: Graph, name: str, found: Placed) -> tuple[str, str] | None:
    if found.reference is None:
        return ", which cannot be read", "Write $nodes.id.field, or ${$nodes.id.field} inside a text."
    if found.reference.root in ("nodes", "secrets") and not found.reference.parts:
        return ", which names nothing", f"Write ${found.reference.root}.NAME."
    node = found.reference.node
    if node is None:
        return None
    if node not in graph.nodes:
        return f": the node {node!r} does not exist", f"{suggestion(node, list(graph.nodes))} or remove the reference."
    if node not in graph.before(name):
        return f": the node {node!r} does not come before it", f"Add a way of edges from {node!r} to {name!r}."
    return None


ALIASES = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}


def cron(schedule: str) -> str:
    """The schedule in five fields."""
    return ALIASES.get(schedule.strip().lower(), schedule.strip())


def triggers(document: Document) -> Iterator[Finding]:
    """trigger: a schedule can be read and fires one day, its time zone exists; a webhook's secret is a reference."""
    for index, trigger in enumerate(document.get("triggers", [])):
        wrong = _CHECKS.get(trigger["type"], lambda _: None)(trigger)
        if wrong:
            key, message, repair = wrong
            yield Finding(
                "trigger", f"Trigger {index} ({trigger['type']}): {message}.", repair, None, f"/triggers/{index}/{key}"
            )


def _cron(trigger: Mapping[str, Any]) -> tuple[str, str, str] | None:
    zone = trigger.get("timezone", "UTC")
    try:
        ZoneInfo(zone)
    except (KeyError, ValueError, OSError):
        return "timezone", f"the time zone {zone!r} is unknown", "Use an IANA name such as Europe/Berlin."
    schedule = trigger["schedule"]
    try:
        next(CronSim(cron(schedule), datetime(2026, 1, 1, tzinfo=UTC)))
    except (CronSimError, StopIteration):
        return (
            "schedule",
            f"the schedule {schedule!r} cannot be read or never comes",
            "Write five fields: minute, hour, day of month, month, day of week, such as 0 9 * * 1-5.",
        )
    return None


def _webhook(trigger: Mapping[str, Any]) -> tuple[str, str, str] | None:
    secret = trigger.get("secret")
    reference = whole(secret) if isinstance(secret, str) else None
    if secret is not None and (reference is None or reference.root != "secrets" or not reference.parts):
        return "secret", "the secret is written out", "Write $secrets.NAME; secrets are never stored in a workflow."
    return None


_CHECKS = {"cron": _cron, "webhook": _webhook}


def unreachable(document: Document) -> Iterator[Finding]:
    """unreachable: a way leads from an entry to every node, by edges that can be taken."""
    graph = Graph(document)
    reached, waiting = set[str](), list(graph.entries)
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached.add(name)
            waiting.extend(edge.target for edge in takeable(graph, name))
    # Where loops go into one another, a node may be left that only steps back lead to: no run comes to it.
    visited = reached & set(graph.order)
    for index, node in enumerate(document["nodes"]):
        if node["id"] not in visited:
            yield Finding(
                "unreachable",
                f"The node {node['id']!r} can never run: no way that can be taken leads to it.",
                _way_to(graph, node["id"]),
                node["id"],
                f"/nodes/{index}",
            )


def _way_to(graph: Graph, name: str) -> str:
    for edge in graph.into(name):
        loop = graph.loop(edge.source)
        if loop is not None and loop.on_break and not edge.on_error:
            return f"Name it in the break_path of {edge.source!r}, which is taken instead of its edges, or remove it."
    return "Add an edge to it from a node that runs, mend the condition of its edge, or remove it."


def takeable(graph: Graph, name: str) -> Iterator[Edge]:
    """The edges from a node that can be taken: none whose rule never holds, none of a loop beside its `break_path`.

    What stands behind a rule that always holds counts: whoever writes `true` there wants that way for now, and is told.
    """
    yield from graph.error_edges(name)
    yield from (edge for edge in graph.out(name) if step_back(graph, edge))
    loop = graph.loop(name) is not None
    ways = [branch for limit in (False, True) for branch in ways_out(graph, name, at_limit=limit)]
    for branch in ways if loop else graph.branches(name):
        if settled(branch.condition) is not False:
            yield from branch.edges


def settled(condition: str | None) -> bool | None:
    """What a condition gives whatever happens; None when that depends on what happens."""
    found = compiled_condition(condition) if condition is not None else None
    if found is None or found.expression.reads:
        return None
    value = found.value(None)
    return value if isinstance(value, bool) else None


def joins(document: Document) -> Iterator[Finding]:
    """join: a node that waits for every edge into it must be able to get them all.

    A node with `join: all` behind the branches of a conditional or hitl node, or behind both ways out of a loop, waits
    for ways of which only one is ever taken; so does one with an edge into it that is never taken. Without `join` a
    node waits only for what can still come, so the same picture works.

    """
    graph = Graph(document)
    waiting = {name: edges for name, edges in graph.joins.items() if graph.join(name) == "all"}
    splits = [Split(graph, name) for name in graph.nodes if len(ways(graph, name)) > 1] if waiting else []
    sources = {edge.source for edges in waiting.values() for edge in edges}
    takeables = {edge for name in sources for edge in takeable(graph, name)}
    places = {node["id"]: index for index, node in enumerate(document["nodes"])}
    for name, edges in waiting.items():
        wrong = _never_taken(takeables, edges) or _parted(splits, edges)
        if wrong:
            message, repair = f"The node {name!r} waits for all edges into it, but {wrong[0]}.", wrong[1]
            yield Finding("join", message, repair, name, f"/nodes/{places[name]}/config/join")


def _never_taken(takeables: set[Edge], edges: list[Edge]) -> tuple[str, str] | None:
    """What is wrong, and what to do, where one of the edges is waited for in vain."""
    edge = next((edge for edge in edges if edge not in takeables), None)
    if edge is None:
        return None
    what = f"the edge {edge.source} → {edge.target} is never taken"
    return what, f"Mend that edge or remove it, or {LEAVE_OUT}."


def _parted(splits: list[Split], edges: list[Edge]) -> tuple[str, str] | None:
    """The same where two of the edges exclude one another."""
    split = next((split for split in splits if split.parts(edges)), None)
    return (f"{split.name!r} takes only one way", f"Set its join to 'any', or {LEAVE_OUT}.") if split else None


def ways(graph: Graph, name: str) -> list[tuple[Edge, ...]]:
    """Ways on from a node of which at most one is taken: its branches, and what is done about an error."""
    branches = [branch.edges for branch in graph.branches(name)]
    together = branches if graph.exclusive(name) else [tuple(edge for edges in branches for edge in edges)]
    if (loop := graph.loop(name)) is not None:
        limits = (False, True) if loop.on_most else (False,)
        found = [ways_out(graph, name, at_limit=limit) for limit in limits]
        together = [tuple(edge for branch in branches for edge in branch.edges) for branches in found]
    return [edges for edges in [*together, tuple(graph.error_edges(name))] if edges]


class Split:
    """A node whose ways exclude one another, and what lies behind each of them."""

    def __init__(self, graph: Graph, name: str) -> None:
        self.name, self.ways, self._graph = name, ways(graph, name), graph
        self._behind = [set().union(*(graph.onward.get(edge.target, ()) for edge in way)) for way in self.ways]

    def parts(self, edges: list[Edge]) -> bool:
        """Whether two of these edges can only come by ways that exclude one another."""
        needed = [through for edge in edges if (through := self._through(edge))]
        return any(not one & other for n, one in enumerate(needed) for other in needed[n + 1 :])

    def _through(self, edge: Edge) -> set[int]:
        """Which of the ways can lead to this edge; none when it can be reached without this node."""
        if not self._graph.dominates(self.name, edge.source):
            return set()
        if edge.source == self.name:
            # Going round it may come by all of its ways, but only what it did last counts.
            return {number for number, way in enumerate(self.ways) if edge in way}
        return {number for number, behind in enumerate(self._behind) if edge.source in behind}


def agent_limit(before: Any, after: Document, operations: Sequence[Mapping[str, Any]]) -> list[Finding]:
    """agent-limit: one finding when the patch adds, or turns into agents, more nodes than it may."""
    had, has = dict(_agents(before)), dict(_agents(after))
    new = [(name, path) for name, path in _agents(after) if name not in had]
    added = [(name, has.get(name, path)) for name, path in map(_added, operations) if path]
    brought = max(new, added, key=len)
    if len(brought) <= AGENTS_PER_PATCH:
        return []
    message = f"The patch brings in {len(brought)} agent nodes: {_listed([f'{name} ({at})' for name, at in brought])}."
    later = brought[AGENTS_PER_PATCH:]
    repair = f"Bring in at most {AGENTS_PER_PATCH} at a time: leave {_listed([quoted(name) for name, _ in later])} "
    return [Finding("agent-limit", message, f"{repair}for another patch.", *later[0])]


def _listed(names: list[str]) -> str:
    more = len(names) - MOST_NAMED
    return ", ".join(names[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def _agents(document: Any) -> list[Agent]:
    nodes = document.get("nodes") if isinstance(document, Mapping) else None
    return [
        (node["id"], f"/nodes/{index}")
        for index, node in enumerate(nodes if isinstance(nodes, list) else ())
        if isinstance(node, Mapping) and node.get("type") == "agent" and isinstance(node.get("id"), str)
    ]


def _added(operation: Mapping[str, Any]) -> Agent:
    """The agent node that an operation adds by itself; without a place where it adds none."""
    value, path = operation.get("value"), str(operation.get("path"))
    single = operation.get("op") == "add" and path.startswith("/nodes/") and path.count("/") == 2
    if not single or not isinstance(value, Mapping) or value.get("type") != "agent":
        return "", ""
    return str(value.get("id")), path


Check = Callable[[Document], Iterable[Finding]]
PLAIN: tuple[Check, ...] = (duplicate_ids, dangling_edges)
"""Checks of nodes and edges one by one."""
DEEP: tuple[Check, ...] = (loops, conditions, cycles, references, triggers)
"""Checks that follow the edges."""
DEEPEST: tuple[Check, ...] = (unreachable, joins)
"""Checks of ways through a graph that is otherwise in order."""


@dataclass(frozen=True)
class Verdict:
    """What the checks say: no findings and the document, or findings and none."""

    document: Document | None
    findings: tuple[Finding, ...] = ()

    @property
    def accepted(self) -> bool:
        return not self.findings

    @property
    def reason(self) -> str | None:
        return self.findings[0].reason if self.findings else None

    @property
    def message(self) -> str:
        return " ".join(finding.sentence for finding in self.findings[:5])


def check(document: Any) -> list[Finding]:
    """What is wrong with a document, the most basic first; none when it may be stored and run."""
    try:
        bounded(document)
    except BadInput as wrong:
        return [Finding("schema", wrong.message, wrong.hint)]
    # The secret of a webhook has a check of its own, which takes nothing but a reference.
    written = [one for one in secrets(document) if one.node or not str(one.path).endswith("/secret")]
    found = written or schema.problems(document) or misspelt(document)
    for checks in (PLAIN, DEEP, DEEPEST):
        if not found:
            found = [finding for one in checks for finding in one(document)]
    return in_order(found)


def patched(document: Any, operations: Sequence[Mapping[str, Any]]) -> Verdict:
    """The verdict on a patch, node-id paths allowed; an accepted one comes with the document after it."""
    try:
        plain = compiled(document, operations)
        after = applied(document, plain)
    except BadInput as wrong:
        return Verdict(None, (Finding("json-patch", wrong.message, wrong.hint, None, getattr(wrong, "path", None)),))
    found = in_order([*check(after), *agent_limit(document, after, plain)])
    return Verdict(None if found else after, tuple(found))
