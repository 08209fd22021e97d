"""The JSON Patch that turns one document into another."""

from __future__ import annotations

import json
from difflib import SequenceMatcher
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
    """What stays in its order stays, changed in place where it changed; the rest is removed and added."""
    found: Operations = []
    ways = SequenceMatcher(None, [_name(one) for one in before], [_name(one) for one in after], autojunk=False)
    for kind, old, old_end, new, new_end in ways.get_opcodes():
        # So far the list is what it shall be, so places are counted in the new one.
        if kind == "equal" or old_end - old == new_end - new:
            pairs = enumerate(zip(before[old:old_end], after[new:new_end], strict=True), new)
            found += [step for place, (one, other) in pairs for step in between(one, other, f"{path}/{place}")]
            continue
        found += [{"op": "remove", "path": f"{path}/{place}"} for place in reversed(range(new, new + old_end - old))]
        found += [
            {"op": "add", "path": f"{path}/{place}", "value": value}
            for place, value in enumerate(after[new:new_end], new)
        ]
    return found


def _name(value: Any) -> str:
    """What tells a member of a list from the others: a node its id, an edge its ends, anything else all of it."""
    if isinstance(value, dict):
        for keys in (("id",), ("from", "to")):
            if all(isinstance(value.get(key), str) for key in keys):
                return json.dumps([value[key] for key in keys])
    return json.dumps(value, sort_keys=True)
