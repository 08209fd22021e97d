"""condition: whatever decides on a way is CEL that compiles, speaks of what it is given, and can be true or false."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from laneway.lanes.workflow.conditions import EDGE_NAMES, BadCondition, compiled
from laneway.lanes.workflow.document import Document
from laneway.lanes.workflow.finding import Finding

EVENT_NAMES = ("output",)
"""What the condition of an event trigger, or of a wait for an event, may speak of: `$` is the event there."""

_NAMES = {"loop": EDGE_NAMES, "wait": EVENT_NAMES}


def conditions(document: Document) -> Iterator[Finding]:
    for index, edge in enumerate(document["edges"]):
        place = f"Edge {index} ({edge['from']} → {edge['to']})"
        yield from _one(edge, "condition", EDGE_NAMES, place, f"/edges/{index}", edge["from"])
    for index, node in enumerate(document["nodes"]):
        place, path = f"Node {node['id']!r}", f"/nodes/{index}/config"
        if node["type"] in _NAMES:
            yield from _one(node.get("config", {}), "condition", _NAMES[node["type"]], place, path, node["id"])
    for index, trigger in enumerate(document.get("triggers", [])):
        yield from _one(trigger, "condition", EVENT_NAMES, f"Trigger {index}", f"/triggers/{index}", None)


def _one(
    holder: Mapping[str, Any], key: str, names: tuple[str, ...], place: str, path: str, node: str | None
) -> Iterator[Finding]:
    text = holder.get(key)
    if not isinstance(text, str):
        return
    try:
        compiled(text, names)
    except BadCondition as wrong:
        yield Finding("condition", f"{place}: {wrong.message}", wrong.hint, node, f"{path}/{key}")
