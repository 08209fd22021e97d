"""A workflow as a picture: Mermaid for those who can draw it, lines of text for chat; what changes is marked."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from laneway.lanes.workflow.differences import changed_ways, marks, trigger_words
from laneway.lanes.workflow.document import Document
from laneway.lanes.workflow.graph import Edge, Graph

_SHAPES = {
    "conditional": ("{", "}"),
    "hitl": ("{{", "}}"),
    "loop": ("{{", "}}"),
    "parallel": ("[[", "]]"),
    "subworkflow": ("[[", "]]"),
    "agent": ("([", "])"),
    "notify": (">", "]"),
    "wait": ("((", "))"),
}
_CLASSES = (
    "classDef added fill:#d5f5d5,stroke:#2a7f2a,color:#0b3d0b",
    "classDef removed fill:#fbdada,stroke:#a02020,color:#5a0f0f,stroke-dasharray: 5 5",
    "classDef changed fill:#fff3c4,stroke:#b08900,color:#4d3b00",
)
_SIGNS = {"added": "+", "removed": "-", "changed": "~"}
LONGEST_LABEL = 60


def mermaid(document: Document, before: Document | None = None) -> str:
    """A Mermaid flowchart; with the document before a change, its nodes are marked added, removed or changed, and
    so are edges with another condition."""
    changes = marks(before, document) if before else {}
    gone = [node for node in before["nodes"] if changes.get(node["id"]) == "removed"] if before else []
    nodes = [*document["nodes"], *gone]
    # Ids of ours: a name out of a document never stands where Mermaid reads its own words.
    numbers = {node["id"]: f"n{index}" for index, node in enumerate(nodes)}
    lines = ["flowchart TD"]
    lines += [f"    {numbers[node['id']]}{_shape(node)}" for node in nodes]
    others = changed_ways(before, document) if before else frozenset()
    lines += [f"    {_arrow(numbers, edge, _changed(label, edge, others))}" for edge, label in _edges(document)]
    lines += [f"    {line}" for line in _lost(document, before, numbers)]
    classed = [f"    class {numbers[name]} {kind}" for name, kind in changes.items() if name in numbers]
    return "\n".join([*lines, *(f"    {line}" for line in _CLASSES if classed), *classed]) + "\n"


def text(document: Document, before: Document | None = None) -> str:
    """The workflow in lines: each node with its ways on; +, - and ~ mark what a change adds, removes and changes."""
    changes, graph = marks(before, document) if before else {}, Graph(document)
    rest = [name for name in graph.nodes if name not in graph.reachable]
    lines = [f"starts {trigger_words(trigger)}" for trigger in document.get("triggers", [])]
    others = changed_ways(before, document) if before else frozenset()
    for name in [*graph.order, *rest]:
        sign = f"{_SIGNS[changes[name]]} " if name in changes else ""
        lines.append(f"{sign}{name} ({graph.type(name)})")
        lines += [f"    {'~ ' if edge.index in others else ''}{_way(graph, edge)}" for edge in graph.out(name)]
    gone = [node for node in before["nodes"] if changes.get(node["id"]) == "removed"] if before else []
    return "\n".join([*lines, *(f"- {node['id']} ({node['type']})" for node in gone)])


def _way(graph: Graph, edge: Edge) -> str:
    if edge.on_error:
        return f"if it fails → {edge.target}"
    if edge.condition is not None:
        return f"{_line(edge.condition)} → {edge.target}"
    loop = graph.loop(edge.source)
    if loop is not None and loop.back_to == edge.target:
        return f"again, {loop.most} rounds at most → {edge.target}"
    return f"{'else ' if graph.exclusive(edge.source) and len(graph.branches(edge.source)) > 1 else ''}→ {edge.target}"


def _edges(document: Document) -> Iterator[tuple[Edge, str]]:
    graph = Graph(document)
    for edge in [*graph.edges, *graph.jumps]:
        if edge.target in graph.nodes and edge.source in graph.nodes:
            yield edge, _way(graph, edge).removesuffix(f"→ {edge.target}").strip()


def _changed(label: str, edge: Edge, others: Collection[int]) -> str:
    """What stands at an edge, which says so if its condition is another than before."""
    return f"changed: {label or 'always'}" if edge.index in others else label


def _arrow(numbers: Mapping[str, str], edge: Edge, label: str) -> str:
    line = "-.->" if edge.on_error or edge.index < 0 else "-->"
    return f"{numbers[edge.source]} {line}{f'|{_label(label)}|' if label else ''} {numbers[edge.target]}"


def _lost(document: Document, before: Document | None, numbers: Mapping[str, str]) -> Iterator[str]:
    """Edges that go away, drawn as lines without an arrow."""
    there = {(edge["from"], edge["to"]) for edge in document["edges"]}
    for edge in before["edges"] if before else ():
        ends = (edge["from"], edge["to"])
        if ends not in there and all(end in numbers for end in ends):
            yield f'{numbers[ends[0]]} -.-|"removed"| {numbers[ends[1]]}'


def _shape(node: Mapping[str, Any]) -> str:
    left, right = _SHAPES.get(node["type"], ("[", "]"))
    label = f"{node['id']} ({node['type']})"
    return f"{left}{_label(label)}{right}"


def _label(words: str) -> str:
    """Words in quotes, every sign that Mermaid or HTML could read as its own written as its number."""
    safe = "".join(sign if sign.isalnum() or sign in " _-.,:()=+!?'/→%" else f"#{ord(sign)};" for sign in _line(words))
    return f'"{safe}"'


def _line(words: str) -> str:
    line = " ".join("".join(sign if sign.isprintable() else " " for sign in words).split())
    return line if len(line) <= LONGEST_LABEL else line[: LONGEST_LABEL - 1] + "…"
