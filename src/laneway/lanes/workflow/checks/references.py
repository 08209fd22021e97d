"""reference: a config refers only to nodes that come before it, and in a way that can be read."""

from __future__ import annotations

from collections.abc import Iterator

from laneway.lanes.workflow.checks.dangling_edges import suggestion
from laneway.lanes.workflow.document import Document
from laneway.lanes.workflow.finding import Finding
from laneway.lanes.workflow.graph import Graph
from laneway.lanes.workflow.quoting import short
from laneway.lanes.workflow.references import Placed, placed


def references(document: Document) -> Iterator[Finding]:
    graph = Graph(document)
    for index, node in enumerate(document["nodes"]):
        for found in placed(node.get("config", {}), ("nodes", index, "config")):
            wrong = _wrong(graph, node["id"], found)
            if wrong:
                message = f"The config of node {node['id']!r} refers to {short(found.text)}{wrong[0]}."
                yield Finding("reference", message, wrong[1], node["id"], found.path)


def _wrong(graph: Graph, name: str, found: Placed) -> tuple[str, str] | None:
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
