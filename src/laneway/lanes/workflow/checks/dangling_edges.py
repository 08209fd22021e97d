"""dangling-edge: both ends of every edge are nodes of the workflow."""

from __future__ import annotations

import difflib
from collections.abc import Iterator

from laneway.lanes.workflow.document import Document
from laneway.lanes.workflow.finding import Finding


def dangling_edges(document: Document) -> Iterator[Finding]:
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
