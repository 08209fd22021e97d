"""duplicate-id: every node has an id of its own."""

from __future__ import annotations

from collections.abc import Iterator

from laneway.lanes.workflow.document import Document
from laneway.lanes.workflow.finding import Finding


def duplicate_ids(document: Document) -> Iterator[Finding]:
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
