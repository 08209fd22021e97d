"""Values, documents and operations drawn at random."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

from laneway.errors import BadInput
from laneway.lanes.workflow.document import copied
from laneway.lanes.workflow.patching import applied

KEYS = ("a", "b", "~", "a/b", "", "0", "-", '"', "ü:", "}")
TEXTS = ("", "text", 'ä\n"\\', "]", "}", ",", "\u2028", "🙂")
PLAIN: tuple[Any, ...] = (None, True, False, 0, 1, 1.0, 2.5, -7, 2**70, -1e-9, *TEXTS, [], {})


def value_by(chance: random.Random, depth: int) -> Any:
    if depth and chance.random() < 0.6:
        some = range(chance.randint(0, 4))
        if chance.random() < 0.5:
            return [value_by(chance, depth - 1) for _ in some]
        return {chance.choice(KEYS): value_by(chance, depth - 1) for _ in some}
    return chance.choice(PLAIN)


def operations_by(chance: random.Random, document: Any, count: int) -> Iterator[dict[str, Any]]:
    """Operations that can be applied one after the other."""
    now = copied(document)
    while count:
        places = list(_places(now, ""))
        operation: dict[str, Any] = {"op": chance.choice(["add", "remove", "replace", "move", "copy", "test"])}
        operation["path"] = chance.choice(places) + chance.choice(["", "", "/-", "/0", "/new", "/~01"])
        operation["from"] = chance.choice(places)
        operation["value"] = value_by(chance, 2)
        count -= 1
        try:
            now = applied(now, [operation])
        except BadInput:
            continue
        yield operation


def _places(value: Any, path: str) -> Iterator[str]:
    yield path
    if isinstance(value, dict):
        for key, each in value.items():
            yield from _places(each, path + "/" + key.replace("~", "~0").replace("/", "~1"))
    if isinstance(value, list):
        for index, each in enumerate(value):
            yield from _places(each, f"{path}/{index}")
