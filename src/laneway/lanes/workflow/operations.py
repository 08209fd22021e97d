"""The JSON Patch that turns one document into another."""

from __future__ import annotations

from typing import Any

from laneway.domain.workflow import Operations


def between(before: Any, after: Any, path: str = "") -> Operations:
    """The operations that make `after` from `before`, small where the change is small; none if they are alike."""
    if same(before, after):
        return []
    if isinstance(before, dict) and isinstance(after, dict):
        return _objects(before, after, path)
    if isinstance(before, list) and isinstance(after, list):
        return _lists(before, after, path)
    return [{"op": "replace", "path": path, "value": after}]


def same(one: Any, other: Any) -> bool:
    """Whether two JSON values are alike; true is not 1 here."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(value, other[key]) for key, value in one.items())
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    return isinstance(one, bool) == isinstance(other, bool) and bool(one == other)


def escaped(name: str) -> str:
    """A member's name as it stands in a JSON Pointer."""
    return name.replace("~", "~0").replace("/", "~1")


def _objects(before: dict[str, Any], after: dict[str, Any], path: str) -> Operations:
    gone: Operations = [{"op": "remove", "path": f"{path}/{escaped(key)}"} for key in before if key not in after]
    new: Operations = [
        {"op": "add", "path": f"{path}/{escaped(key)}", "value": value}
        for key, value in after.items()
        if key not in before
    ]
    kept = [key for key in after if key in before]
    changed = [step for key in kept for step in between(before[key], after[key], f"{path}/{escaped(key)}")]
    return [*gone, *changed, *new]


def _lists(before: list[Any], after: list[Any], path: str) -> Operations:
    """What both begin and end with stays; of the middle, what stands at the same place is changed in place."""
    head = 0
    while head < min(len(before), len(after)) and same(before[head], after[head]):
        head += 1
    tail = 0
    while tail < min(len(before), len(after)) - head and same(before[-1 - tail], after[-1 - tail]):
        tail += 1
    old, new = before[head : len(before) - tail], after[head : len(after) - tail]
    if len(old) == len(new):
        return [step for n in range(len(old)) for step in between(old[n], new[n], f"{path}/{head + n}")]
    removed: Operations = [{"op": "remove", "path": f"{path}/{head + n}"} for n in reversed(range(len(old)))]
    return removed + [{"op": "add", "path": f"{path}/{head + n}", "value": value} for n, value in enumerate(new)]
