"""A document or a patch on trial: what it comes to, or Rejected with every finding."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from laneway.domain.workflow import Document, Operations
from laneway.errors import BadInput
from laneway.lanes.workflow.checks import check, patched
from laneway.lanes.workflow.document import bounded
from laneway.lanes.workflow.node_paths import compiled
from laneway.lanes.workflow.refusing import refuse

_OURS = ("$schema", "nodes", "edges", "metadata", "overlap", "triggers")


def tried(before: Document, operations: Any) -> tuple[Document, Operations]:
    """The document after the operations, and the operations with plain paths only."""
    verdict = patched(before, operations)
    refuse(verdict.findings)
    assert verdict.document is not None
    return verdict.document, [dict(operation) for operation in compiled(before, operations)]


def checked(document: Any) -> Document:
    """The document, if it may be stored and run."""
    refuse(check(document))
    found: Document = document
    return found


def normalised(sent: Any) -> Document:
    """A workflow as somebody sent it, in our shape: its nodes may be a list, or a map by their ids."""
    if not isinstance(sent, Mapping):
        raise BadInput("The workflow sent along is no object.", hint='Send {"nodes": [...], "edges": [...]}.')
    bounded(dict(sent))
    nodes = sent.get("nodes", [])
    edges = sent.get("edges")
    if isinstance(nodes, Mapping):
        edges = _ways(nodes) if edges is None else edges
        nodes = [{"id": name, **_plain(node)} for name, node in sorted(nodes.items())]
    if not isinstance(nodes, list) or not all(isinstance(node, Mapping) for node in nodes):
        raise BadInput("The nodes of the workflow are no list of objects.", hint='Send {"nodes": [{"id": …}]}.')
    known = {key: sent[key] for key in _OURS if key in sent}
    return {**known, "nodes": nodes, "edges": [] if edges is None else edges}


def _plain(node: Any) -> dict[str, Any]:
    if not isinstance(node, Mapping):
        raise BadInput("A node of the workflow sent along is no object.", hint='Send {"id": {"type": …}}.')
    return {key: value for key, value in node.items() if key not in ("dependents", "dependencies", "id")}


def _ways(nodes: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The edges of a compiled workflow, which keeps them with the nodes they begin at."""
    return [
        {"from": name, "to": follower}
        for name, node in nodes.items()
        if isinstance(node, Mapping)
        for follower in _followers(node.get("dependents"))
    ]


def _followers(dependents: Any) -> list[Any]:
    if dependents is None or isinstance(dependents, list):
        return dependents or []
    raise BadInput("The `dependents` of a node are no list.", hint='Send {"dependents": ["id"]}.')
