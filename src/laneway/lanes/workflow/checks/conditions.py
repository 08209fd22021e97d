"""condition: what decides on a way, keeps a row or makes a value is CEL that compiles and speaks of what is there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from laneway.lanes.workflow.document import Document
from laneway.lanes.workflow.finding import Finding
from laneway.lanes.workflow.worked_out import OF_EDGES, OF_NODES, OF_TRIGGERS, WorkedOut


def conditions(document: Document) -> Iterator[Finding]:
    for index, edge in enumerate(document["edges"]):
        place = f"Edge {index} ({edge['from']} → {edge['to']})"
        yield from _one(edge, OF_EDGES, place, f"/edges/{index}", edge["from"])
    for index, node in enumerate(document["nodes"]):
        if (setting := OF_NODES.get(node["type"])) is not None:
            place, path = f"Node {node['id']!r}", f"/nodes/{index}/config"
            yield from _one(node.get("config", {}), setting, place, path, node["id"])
    for index, trigger in enumerate(document.get("triggers", [])):
        yield from _one(trigger, OF_TRIGGERS, f"Trigger {index}", f"/triggers/{index}", None)


def _one(holder: Mapping[str, Any], setting: WorkedOut, place: str, path: str, node: str | None) -> Iterator[Finding]:
    wrong = setting.wrong(holder)
    if wrong is not None:
        yield Finding("condition", f"{place}: {wrong.message}", wrong.hint, node, f"{path}/{setting.key}")
