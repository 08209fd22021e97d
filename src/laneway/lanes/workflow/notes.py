"""What is worth saying about a workflow that may be stored: keys nobody reads, nodes that cannot run yet, and so on.

A preview shows these beside the change; only a run is refused for a node that is incomplete.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from laneway.lanes.workflow.checks import settled
from laneway.lanes.workflow.conditions import compiled
from laneway.lanes.workflow.document import Document
from laneway.lanes.workflow.finding import Finding
from laneway.lanes.workflow.graph import Graph
from laneway.lanes.workflow.patching import pointer
from laneway.lanes.workflow.quoting import short
from laneway.lanes.workflow.refusing import refuse
from laneway.lanes.workflow.schema import unfit
from laneway.lanes.workflow.unknown_keys import unknown_keys
from laneway.lanes.workflow.worked_out import OF_NODES

NEEDS: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "function": (("name",),),
    "http": (("url",),),
    "transform": (("set", "expression"),),
    "aggregate": (("values", "do"),),
    "filter": (("where", "condition"),),
    "agent": (("prompt", "task"),),
    "notify": (("message", "text", "body"),),
    "pipeline": (("plan", "prompt"),),
    "subworkflow": (("workflow",),),
    "wait": (("seconds", "duration_ms", "until", "event"),),
}
"""Per type what a node needs to run: one key out of each group."""


def notes(document: Document) -> list[Finding]:
    """Notes on a document that has passed its checks."""
    told = (incomplete, _unused, _alone, _double, _forgotten, _shadowed)
    return [finding for one in told for finding in one(document)]


def incomplete(document: Document) -> Iterator[Finding]:
    """Nodes that lack what they need to run, or have settings nobody can work with."""
    for index, node in enumerate(document["nodes"]):
        config = node.get("config", {})
        for keys in NEEDS.get(node["type"], ()):
            if not any(key in config for key in keys):
                wanted = " or ".join(map(repr, keys))
                message = f"The node {node['id']!r} ({node['type']}) cannot run yet: its config has no {wanted}."
                yield Finding("incomplete", message, f"Add {wanted}.", node["id"], f"/nodes/{index}/config")
        for wrong, repair, path in [*unfit(node), *_expressions(node)]:
            message = f"The node {node['id']!r} ({node['type']}) cannot run yet: {wrong}"
            yield Finding("incomplete", message, repair, node["id"], pointer(("nodes", index, "config", *path)))


def _expressions(node: Mapping[str, Any]) -> Iterator[tuple[str, str, list[Any]]]:
    """What is wrong with the CEL a node works with, what to do, and where below its config.

    No check lets it pass any more; a version that was stored before there was one may hold it.
    """
    setting = OF_NODES.get(node["type"])
    wrong = setting.wrong(node.get("config", {})) if setting else None
    if setting and wrong:
        yield wrong.message, wrong.hint, [setting.key]


def _unused(document: Document) -> Iterator[Finding]:
    yield from (found.finding("unused-key") for found in unknown_keys(document))


def _alone(document: Document) -> Iterator[Finding]:
    graph = Graph(document)
    if len(graph.nodes) < 2:
        return
    for index, node in enumerate(document["nodes"]):
        if not graph.into(node["id"]) and not graph.out(node["id"]):
            message = f"No edge leads to or from the node {node['id']!r}: it runs on its own when a run begins."
            yield Finding("starts-alone", message, "Add an edge if it should wait.", node["id"], f"/nodes/{index}")


def _double(document: Document) -> Iterator[Finding]:
    seen = Counter((edge["from"], edge["to"], edge.get("condition"), edge.get("on")) for edge in document["edges"])
    for (source, target, *_), count in seen.items():
        if count > 1:
            message = f"The edge {source} → {target} stands there {count} times with the same condition."
            yield Finding("double-edge", message, "Keep one of them.", str(source), "/edges")


def _forgotten(document: Document) -> Iterator[Finding]:
    names = {"input", "previous", *(node["id"] for node in document["nodes"])}
    for index, edge in enumerate(document["edges"]):
        read = compiled(edge["condition"]).expression.reads.get("ctx") if "condition" in edge else None
        for name in dict.fromkeys(path[0] for path in read or () if path[0] not in names):
            read_of = f"The condition of {edge['from']} → {edge['to']} reads ctx.{short(name, 60)}"
            message = f"{read_of}, and there is no such node."
            repair = "Name a node that runs before; the condition errs without it."
            yield Finding("no-such-ctx", message, repair, edge["from"], f"/edges/{index}/condition")


def _shadowed(document: Document) -> Iterator[Finding]:
    """Ways of a node that takes only one, behind a rule that always holds."""
    graph = Graph(document)
    for name in filter(graph.exclusive, graph.nodes):
        rules = [settled(branch.condition) for branch in graph.branches(name)]
        behind = graph.branches(name)[rules.index(True) + 1 :] if True in rules else []
        for edge in (edge for branch in behind for edge in branch.edges):
            message = f"The way {edge.source} → {edge.target} is never taken: a rule before it is always true."
            yield Finding("never-taken", message, "Mend that rule if it should be.", name, f"/edges/{edge.index}")


def check_ready(document: Document, knows_model: Callable[[str], bool], pinned: Collection[str] = ()) -> None:
    """Returns only if every node has what it needs: not found out in the middle, when half is done.

    Nodes with pinned outputs need nothing.
    """
    refuse([one for one in (*incomplete(document), *_models(document, knows_model)) if one.node not in pinned])


def _models(document: Document, knows_model: Callable[[str], bool]) -> Iterator[Finding]:
    for index, node in enumerate(document["nodes"]):
        name = node.get("config", {}).get("model") if node["type"] == "agent" else None
        # A reference is known when the node runs.
        if isinstance(name, str) and name and "$" not in name and not knows_model(name):
            message = f"No model `{name[:80]}` is configured, which the node {node['id']!r} (agent) asks for."
            repair = "Name one of the configured models, or leave `model` out."
            yield Finding("no-such-model", message, repair, node["id"], f"/nodes/{index}/config/model")
