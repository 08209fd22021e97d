"""Whether a workflow can run at all, asked before a run starts: not in the middle, when half of it is done."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

from laneway.lanes.workflow.document import Document
from laneway.lanes.workflow.finding import Finding
from laneway.lanes.workflow.notes import incomplete
from laneway.lanes.workflow.refusing import Rejected


def check_ready(document: Document, knows_model: Callable[[str], bool], pinned: Collection[str] = ()) -> None:
    """Returns only if every node has what it needs; nodes with pinned outputs need nothing."""
    found = [one for one in (*incomplete(document), *_models(document, knows_model)) if one.node not in pinned]
    if found:
        raise Rejected([one.document() for one in found])


def _models(document: Document, knows_model: Callable[[str], bool]) -> Iterator[Finding]:
    for index, node in enumerate(document["nodes"]):
        name = node.get("config", {}).get("model") if node["type"] == "agent" else None
        # A reference is known when the node runs.
        if isinstance(name, str) and name and "$" not in name and not knows_model(name):
            message = f"No model `{name[:80]}` is configured, which the node {node['id']!r} (agent) asks for."
            repair = "Name one of the configured models, or leave `model` out."
            yield Finding("no-such-model", message, repair, node["id"], f"/nodes/{index}/config/model")
