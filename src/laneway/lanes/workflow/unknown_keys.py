"""Keys of a workflow that nobody reads: a slip of the pen is refused, any other is kept and told."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from laneway.lanes.workflow.document import Document
from laneway.lanes.workflow.finding import Finding
from laneway.lanes.workflow.patching import pointer
from laneway.lanes.workflow.quoting import quoted
from laneway.lanes.workflow.schema import config_keys, schema

LOOP_NEEDS = ("loop_back_to", "max_iterations")
"""A loop without these is refused for that, by whatever name they stand there."""


@dataclass(frozen=True)
class UnknownKey:
    """A key nobody reads: where it stands, in words and as a path, and the one that was probably meant."""

    key: str
    place: str
    node: str | None
    path: tuple[str | int, ...]
    known: tuple[str, ...]
    near: str | None
    slip: bool

    def finding(self, reason: str) -> Finding:
        hint = f"Did you mean {self.near!r}?" if self.near else f"Known: {', '.join(self.known)}."
        message = f"{self.place} has a key {quoted(self.key, 60)} that nobody reads."
        return Finding(reason, message, hint, self.node, pointer((*self.path, self.key)))


def misspelt(document: Document) -> list[Finding]:
    """Keys that are almost one that is read: what they say would be ignored without a word."""
    return [found.finding("schema") for found in unknown_keys(document) if found.slip]


def unknown_keys(document: Document) -> Iterator[UnknownKey]:
    """Every key nobody reads, in a document that fits its schema."""
    known = schema()
    yield from _among(document, known["properties"], "The workflow", None, ())
    for index, edge in enumerate(document["edges"]):
        place = f"Edge {index} ({edge['from']} → {edge['to']})"
        yield from _among(edge, known["$defs"]["edge"]["properties"], place, None, ("edges", index))
    for index, node in enumerate(document["nodes"]):
        yield from _of_node(node, ("nodes", index), known["$defs"])


def _of_node(node: Mapping[str, Any], path: tuple[str | int, ...], known: Mapping[str, Any]) -> Iterator[UnknownKey]:
    name, kind = node["id"], node["type"]
    yield from _among(node, known["node"]["properties"], f"Node {name!r}", name, path)
    retry = node.get("retry", {})
    yield from _among(retry, known["retry"]["properties"], f"The retry of node {name!r}", name, (*path, "retry"))
    place = f"The config of node {name!r} ({kind})"
    for found in _among(node.get("config", {}), config_keys(kind), place, name, (*path, "config")):
        if not (kind == "loop" and found.near in LOOP_NEEDS):
            yield found


def _among(
    holder: Mapping[str, Any], known: Sequence[str] | Mapping[str, Any], place: str, node: str | None,
    path: tuple[str | int, ...],
) -> Iterator[UnknownKey]:  # fmt: skip
    for key in holder:
        if key not in known:
            near = nearest(key, [each for each in known if each not in holder])
            yield UnknownKey(key, place, node, path, tuple(known), near, near is not None and _slip(key, near))


def nearest(word: str, known: Sequence[str]) -> str | None:
    """The known word that was probably meant."""
    plain, bare = {_bare(each): each for each in known}, _bare(word)
    close = [bare] if bare in plain else difflib.get_close_matches(bare, list(plain), 1, 0.8)
    return plain[close[0]] if close else None


def _slip(key: str, near: str) -> bool:
    """Whether a key is a known one with a slip in it, and not a word of its own that holds or goes on from it."""
    one, other = _bare(key), _bare(near)
    return one == other or not (one in other or other in one)


def _bare(word: str) -> str:
    return word.lower().replace("_", "").replace("-", "")
