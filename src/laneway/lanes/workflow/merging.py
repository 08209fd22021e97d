"""Taking one change back, or making it again, in a document that has changed since.

A change led from one document to another. What it touched is looked up in the document as it is now: by the id of a
node, by an edge itself, by the name of a member. Where that still stands as the change left it, it is turned; where
somebody has changed it since, there is a conflict, and nothing is.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

import orjson

from laneway.domain.workflow import Document
from laneway.lanes.workflow.operations import same

_ABSENT = object()


@dataclass
class Merge:
    """What became of the document, what stood in the way, and how much was turned."""

    document: Document
    conflicts: list[str] = field(default_factory=list)
    turned: int = 0


def merged(now: Document, left: Document, wanted: Document) -> Merge:
    """`now` with what differs between `left` and `wanted` turned from the first to the second."""
    result = Merge(deepcopy(now))
    for key in dict.fromkeys([*left, *wanted]):
        before, after = left.get(key, _ABSENT), wanted.get(key, _ABSENT)
        if _alike(before, after):
            continue
        lists = [value for value in (before, after, result.document.get(key, _ABSENT)) if value is not _ABSENT]
        if key in _IDENTITY and all(isinstance(value, list) for value in lists):
            _list(result, key, before, after)
        else:
            _member(result, result.document, key, before, after, key)
    return result


def _member(result: Merge, place: dict[str, Any], key: str, before: Any, after: Any, where: str) -> None:
    """One member of an object is turned, or a conflict names it."""
    here = place.get(key, _ABSENT)
    if _alike(here, after):
        return
    if isinstance(here, dict) and isinstance(before, dict) and isinstance(after, dict):
        for name in dict.fromkeys([*before, *after]):
            old, new = before.get(name, _ABSENT), after.get(name, _ABSENT)
            if not _alike(old, new):
                _member(result, here, name, old, new, f"{where}.{name}")
        return
    if not _alike(here, before):
        result.conflicts.append(f"{where} has been changed since")
        return
    result.turned += 1
    if after is _ABSENT:
        del place[key]
    else:
        place[key] = deepcopy(after)


def _list(result: Merge, key: str, before: Any, after: Any) -> None:
    """Nodes by their id, edges and triggers by themselves: taken out, put back in, or turned in place."""
    name, word = _IDENTITY[key], key[:-1]
    old = [] if before is _ABSENT else before
    new = [] if after is _ABSENT else after
    here = result.document.setdefault(key, [])
    if same(here, old):
        result.turned += 1
        if after is _ABSENT:
            del result.document[key]
        else:
            result.document[key] = deepcopy(new)
        return
    was, wants = {name(one): one for one in old}, {name(one): one for one in new}
    fresh = [one for one in new if name(one) not in was]
    for identity, one in was.items():
        if identity not in wants:
            _take_out(result, here, one, name, word, replaced=any(_alike_in_kind(one, other) for other in fresh))
        elif not same(one, wants[identity]):
            _turn(result, here, one, wants[identity], name, word)
    for one in fresh:
        _put_in(result, here, one, new, name, word)


def _alike_in_kind(one: Any, other: Any) -> bool:
    """Whether the one may be the other, changed: any two nodes, edges with an end in common, triggers of a type."""
    if not isinstance(one, dict) or not isinstance(other, dict):
        return True
    if "from" in one:
        return one.get("from") == other.get("from") or one.get("to") == other.get("to")
    return "id" in one or one.get("type") == other.get("type")


def _take_out(
    result: Merge, here: list[Any], one: Any, name: Callable[[Any], Hashable], word: str, *, replaced: bool
) -> None:
    """It is gone; if it was gone before and something was to stand in its place, nobody knows where that would be."""
    place = _place(here, name(one), name)
    if place is None:
        if replaced:
            result.conflicts.append(f"{word} {described(one)} has been changed or removed since")
        return
    if not same(here[place], one):
        result.conflicts.append(f"{word} {described(one)} has been changed since")
        return
    del here[place]
    result.turned += 1


def _turn(result: Merge, here: list[Any], old: Any, new: Any, name: Callable[[Any], Hashable], word: str) -> None:
    place = _place(here, name(old), name)
    if place is None:
        result.conflicts.append(f"{word} {described(old)} has been removed since")
        return
    holder = {"it": here[place]}
    _member(result, holder, "it", old, new, f"{word} {described(old)}")
    here[place] = holder["it"]


def _put_in(
    result: Merge, here: list[Any], one: Any, wanted: list[Any], name: Callable[[Any], Hashable], word: str
) -> None:
    """It stands behind the nearest of those it stood behind before: the order of edges is the order of rules."""
    place = _place(here, name(one), name)
    if place is not None:
        if not same(here[place], one):
            result.conflicts.append(f"there is another {word} {described(one)} now")
        return
    if any(_same_way(one, other) and name(other) not in {*map(name, wanted)} for other in here):
        result.conflicts.append(f"there is another {word} {described(one).split(' if ')[0]} now")
        return
    earlier = wanted[: _place(wanted, name(one), name)]
    spots = [spot for spot in (_place(here, name(other), name) for other in reversed(earlier)) if spot is not None]
    here.insert(spots[0] + 1 if spots else 0, deepcopy(one))
    result.turned += 1


def _same_way(one: Any, other: Any) -> bool:
    """Whether two edges lead from one node to another on the same occasion."""
    if not isinstance(one, dict) or not isinstance(other, dict) or "from" not in one:
        return False
    return all(one.get(key) == other.get(key) for key in ("from", "to", "on"))


def _place(here: list[Any], identity: Hashable, name: Callable[[Any], Hashable]) -> int | None:
    return next((number for number, one in enumerate(here) if name(one) == identity), None)


def _by_id(one: Any) -> Hashable:
    return str(one.get("id")) if isinstance(one, dict) else _itself(one)


def _itself(one: Any) -> Hashable:
    return orjson.dumps(one, option=orjson.OPT_SORT_KEYS)


_IDENTITY: dict[str, Callable[[Any], Hashable]] = {"nodes": _by_id, "edges": _itself, "triggers": _itself}


def _alike(one: Any, other: Any) -> bool:
    if one is _ABSENT or other is _ABSENT:
        return one is other
    return same(one, other)


def described(one: Any) -> str:
    """A node, an edge or a trigger in few words."""
    if not isinstance(one, dict):
        return str(one)[:60]
    if "from" in one or "to" in one:
        rule = f" if {one['condition']}" if one.get("condition") else ""
        return f"`{one.get('from')}` → `{one.get('to')}`{rule}"
    return f"`{one.get('id') or one.get('type')}`"
