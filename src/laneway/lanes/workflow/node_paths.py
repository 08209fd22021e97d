"""Paths by node: `/nodes/@fetch/config/url` and `/edges/@fetch->check/condition`, made into plain JSON Patch.

Places in a list shift while a patch is applied, so each operation is compiled against the document as the ones before
it leave it, and a `test` of the id goes first: should the document be another one, the patch is refused and nothing
hits the wrong node. The second edge between two nodes is `@fetch->check#2`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from laneway.lanes.workflow.patching import Operation, PatchRefused, Stepwise, few_enough, nowhere
from laneway.lanes.workflow.quoting import named, quoted

_EDGE = re.compile(r"@(?P<from>[A-Za-z0-9_-]+?)->(?P<to>[A-Za-z0-9_-]+)(?:#(?P<number>[1-9][0-9]{0,3}))?\Z")
_NODE = re.compile(r"@(?P<id>[A-Za-z0-9_-]+)\Z")

Plain = dict[str, Any]


def compiled(document: Any, operations: Sequence[Operation]) -> list[Plain]:
    """The same patch with plain paths only, every place found by an id guarded by a test."""
    if not isinstance(operations, list | tuple):
        raise PatchRefused(0, "", "It is not a list of operations.", 'Send [{"op": "add", "path": …, "value": …}].')
    few_enough(operations)
    if not any(map(_by_id, operations)):
        # What is no object among them is refused when they are applied.
        return [dict(each) if isinstance(each, Mapping) else each for each in operations]
    patch, found = Stepwise(document), list[Plain]()
    for number, operation in enumerate(operations, 1):
        for step in _steps(patch.root, operation, number) if _by_id(operation) else [operation]:
            _step(patch, step, operation, number)
            found.append(dict(step))
    return found


def _step(patch: Stepwise, step: Operation, operation: Operation, number: int) -> None:
    """One step is done; a refusal names the path as it was written."""
    try:
        patch.step(step, number)
    except PatchRefused as wrong:
        path = _written(operation) if isinstance(operation, Mapping) else ""
        raise PatchRefused(number, path, wrong.why, wrong.hint) from None


def _by_id(operation: Any) -> bool:
    return isinstance(operation, Mapping) and any(
        isinstance(operation.get(name), str) and operation[name].startswith(("/nodes/@", "/edges/@"))
        for name in ("path", "from")
    )


def _steps(document: Any, operation: Operation, number: int) -> list[Plain]:
    tests, plain = list[Plain](), dict(operation)
    adding = operation.get("op") in ("add", "move", "copy")
    for name in ("from", "path"):
        text = operation.get(name)
        if isinstance(text, str) and text.startswith(("/nodes/@", "/edges/@")):
            place = _place(document, operation, name, text, number, new=adding and name == "path")
            if place.added and operation.get("op") == "add":
                _check_name(text, operation.get("value"), number)
            tests += place.tests
            plain[name] = place.path
    return [*tests, plain]


def _place(document: Any, operation: Operation, name: str, text: str, number: int, *, new: bool) -> _Place:
    """Where the path or the `from` of an operation leads; a refusal says which of the two is wrong."""
    try:
        return _Place(document, text, number, new=new)
    except PatchRefused as wrong:
        if name == "path":
            raise
        raise PatchRefused(number, _written(operation), nowhere(text, wrong.why), wrong.hint) from None


def _written(operation: Operation) -> str:
    path = operation.get("path")
    return path if isinstance(path, str) else ""


class _Place:
    """Where a path by id leads, and the tests that hold only there."""

    def __init__(self, document: Any, path: str, number: int, *, new: bool) -> None:
        _, kind, name, *rest = path.split("/")
        found, ids = _matching(document, kind, name, path, number)
        self.tests: list[Plain] = []
        self.added = new and not rest
        """Whether it is the node or edge itself that comes to stand there."""
        if self.added:
            self._refuse_known(found, kind, name, path, number)
            self.path = f"/{kind}/-"
            return
        if not found:
            there = ", ".join(ids[:12]) or "none"
            raise PatchRefused(number, path, f"There is no {kind[:-1]} {quoted(name[1:])}.", f"There are: {there}.")
        if len(found) > 1:
            why = f"There are {len(found)} {kind} {quoted(name[1:])}."
            # Nodes of one id are told apart by their places only, until one of them has another.
            places = [f"{index}" if kind == "nodes" else f"{name}#{n}" for n, (index, _) in enumerate(found[:2], 1)]
            first, second = ("/".join(["", kind, place, *rest]) for place in places)
            raise PatchRefused(number, path, why, f"Write {first} for the first, {second} for the second.")
        index, guards = found[0]
        self.tests = [{"op": "test", "path": f"/{kind}/{index}/{key}", "value": value} for key, value in guards.items()]
        self.path = "/".join(["", kind, str(index), *rest])

    def _refuse_known(self, found: list[Any], kind: str, name: str, path: str, number: int) -> None:
        if found and kind == "nodes":
            why = f"The node {quoted(name[1:])} is there already."
            raise PatchRefused(number, path, why, "Use replace, or another id.")


def _check_name(path: str, value: Any, number: int) -> None:
    """What is added under a name has that name itself."""
    _, kind, name = path.split("/")
    match = (_NODE if kind == "nodes" else _EDGE).match(name)
    wanted = {key: part for key, part in (match.groupdict() if match else {}).items() if key != "number"}
    if isinstance(value, Mapping) and any(value.get(key) != part for key, part in wanted.items()):
        why = f"There is no {kind[:-1]} {quoted(name[1:])}, and what is added is another one."
        raise PatchRefused(number, path, why, f"Write /{kind}/- to add it, or the name it has itself.")


def _matching(
    document: Any, kind: str, name: str, path: str, number: int
) -> tuple[list[tuple[int, dict[str, str]]], list[str]]:
    """The places a name stands for, each with what a test must find there, and all names there are."""
    match = (_NODE if kind == "nodes" else _EDGE).match(name)
    if match is None:
        hint = "Write /nodes/@id/…" if kind == "nodes" else "Write /edges/@from->to/…"
        raise PatchRefused(number, path, f"{quoted(name)} is no {kind[:-1]}.", hint)
    wanted: dict[str, str] = {
        key: value for key, value in match.groupdict().items() if key != "number" and value is not None
    }
    items = _items(document, kind)
    found = [(index, wanted) for index, item in items if all(item.get(key) == wanted[key] for key in wanted)]
    ordinal = match.groupdict().get("number")
    if ordinal is not None:
        found = found[int(ordinal) - 1 : int(ordinal)]
    keys = ("id",) if kind == "nodes" else ("from", "to")
    ids = ["->".join(named(item.get(key)) for key in keys) for _, item in items]
    return found, ids


def _items(document: Any, kind: str) -> list[tuple[int, Mapping[str, Any]]]:
    items = document.get(kind) if isinstance(document, Mapping) else None
    return [(n, item) for n, item in enumerate(items) if isinstance(item, Mapping)] if isinstance(items, list) else []
