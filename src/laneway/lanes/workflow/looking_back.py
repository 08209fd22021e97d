"""Whether a workflow looks at what its run before gave, and whether its runs go one after the other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from laneway.lanes.workflow.document import Document
from laneway.lanes.workflow.expression_text import named, plain
from laneway.lanes.workflow.references import placed


def looks_back(document: Document) -> bool:
    """Whether a condition reads `ctx.previous`, or a setting `$previous`."""
    return next(_ways(document), None) is not None


def in_line(document: Document) -> bool:
    """Whether its runs wait for one another: they look back, or their owner wants it so."""
    return document.get("overlap") == "queue" or looks_back(document)


def looked_at(document: Document) -> set[str]:
    """The nodes whose outputs of the run before it reads; all of them, where it reads that run as a whole."""
    ways = list(_ways(document))
    return {node["id"] for node in document["nodes"]} if () in ways else {way[0] for way in ways}


def _ways(document: Document) -> Iterator[tuple[str, ...]]:
    """The paths below the run before that anything in the document reads."""
    for node in document["nodes"]:
        for found in placed(node.get("config", {})):
            if found.reference and found.reference.root == "previous":
                yield tuple(map(str, found.reference.parts))
    for text in _codes(document):
        paths = named(plain(text), ("ctx",)).get("ctx", [])
        yield from [()] if paths is None else (path[1:] for path in paths if path[0] == "previous")


def _codes(document: Document) -> Iterator[str]:
    """Every CEL text of the document that is worked out in a run."""
    holders: list[Any] = [*document["edges"], *(node.get("config", {}) for node in document["nodes"])]
    for holder in holders:
        yield from (holder[key] for key in ("condition", "expression") if isinstance(holder.get(key), str))
