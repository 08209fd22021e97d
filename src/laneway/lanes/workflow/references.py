"""References in a node's config: `$nodes.id.path[0].x`, `$input.path`, `$previous.…`, `$trigger.…`, `$secrets.NAME`.

Alone they stand for the whole value; inside a text they are written `${$nodes.id.path}`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from laneway.lanes.workflow.patching import pointer

_STEP = r"(?:\.[A-Za-z0-9_-]+|\[[0-9]{1,9}\]|\[\"[^\"\]]*\"\]|\['[^'\]]*'\])"
_WHOLE = re.compile(rf"\$(nodes|input|secrets|previous|trigger)({_STEP}*)\Z")
_INSIDE = re.compile(rf"\$\{{\s*\$(nodes|input|secrets|previous|trigger)({_STEP}*)\s*\}}")
_BEGUN = re.compile(r"\$\{\s*\$[A-Za-z]|\A\$(?:nodes|input|secrets|previous|trigger)\b")
_PART = re.compile(r"\.([A-Za-z0-9_-]+)|\[([0-9]+)\]|\[\"([^\"\]]*)\"\]|\['([^'\]]*)'\]")

Parts = tuple[str | int, ...]


@dataclass(frozen=True)
class Reference:
    """What a reference points to: `root` is nodes, input, previous, trigger or secrets; `parts` the way below it."""

    root: str
    parts: Parts
    text: str

    @property
    def node(self) -> str | None:
        """The node whose output is meant."""
        return str(self.parts[0]) if self.root == "nodes" and self.parts else None


@dataclass(frozen=True)
class Placed:
    """A reference, or a text that looks like one and cannot be read (`reference` None), with its place."""

    path: str
    reference: Reference | None
    text: str


def whole(text: str) -> Reference | None:
    """The reference that this text is from its first to its last letter, None if it is none."""
    match = _WHOLE.match(text)
    return _reference(match) if match else None


def inside(text: str) -> list[tuple[re.Match[str], Reference]]:
    """The references written as ${$…} in a text, with where they stand."""
    return [(match, _reference(match)) for match in _INSIDE.finditer(text)]


def replaced(text: str, value: Callable[[Reference], str]) -> str:
    """The text with every reference in it replaced by what it stands for."""
    return _INSIDE.sub(lambda match: value(_reference(match)), text)


def placed(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[Placed]:
    """Every reference in a config, keys of objects apart, with its place as a JSON Pointer."""
    if isinstance(value, dict):
        for key, each in value.items():
            yield from placed(each, (*path, key))
    elif isinstance(value, list):
        for index, each in enumerate(value):
            yield from placed(each, (*path, index))
    elif isinstance(value, str) and "$" in value:
        yield from _in_text(value, pointer(path))


def _in_text(text: str, path: str) -> Iterator[Placed]:
    alone = whole(text)
    if alone is not None:
        yield Placed(path, alone, text)
        return
    found = inside(text)
    for match, reference in found:
        yield Placed(path, reference, match.group())
    if len(_BEGUN.findall(text)) > len(found):
        yield Placed(path, None, text)


def _reference(match: re.Match[str]) -> Reference:
    steps: list[str | int] = []
    for name, index, double, single in _PART.findall(match.group(2)):
        steps.append(int(index) if index else name or double or single)
    return Reference(match.group(1), tuple(steps), f"${match.group(1)}{match.group(2)}")
