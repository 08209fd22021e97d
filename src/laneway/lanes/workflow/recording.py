"""What a node gave, as it is kept: small values in their row, large ones as artifacts, and nothing beyond a bound."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Mapping
from typing import Any

from laneway.domain.storable import storable
from laneway.domain.workflow_run import NodeRecord
from laneway.errors import BadInput, TooLarge
from laneway.lanes.workflow import json_pieces
from laneway.lanes.workflow.document import DEEPEST
from laneway.store import artifacts
from laneway.store.artifacts import Artifacts
from laneway.store.database import Connection

IN_ROW = 64 * 1024
MOST = 16 * 1024 * 1024
"""Bytes of one output as JSON."""
SAMPLE = 3


class Kept:
    """An output that is about to be recorded; what is large lies on its shelf already."""

    def __init__(self, value: Any, content: bytes | None, place: str) -> None:
        self.value, self._content, self._place = value, content, place

    async def record(self, tx: Connection) -> tuple[Any, str | None]:
        """What goes into the row, and the artifact's reference if the whole is one."""
        if self._content is None:
            return self.value, None
        ref = await artifacts.record(tx, self._content, "application/json", self._place)
        return beginning(self.value, len(self._content)), ref


async def kept(value: Any, originals: Artifacts) -> Kept:
    """The output, ready to be recorded; TooLarge if nobody could work with it."""
    plain, content = await asyncio.to_thread(_written, value)
    if len(content) <= IN_ROW:
        return Kept(plain, None, "row")
    return Kept(plain, content, await originals.lay(content))


def sound(value: Any) -> Any:
    """The value as it can be written down; BadInput if it is too deep, or holds a number that is none."""
    stack = [(value, 1)]
    while stack:
        item, depth = stack.pop()
        if depth > DEEPEST:
            raise TooLarge(f"What came is nested deeper than {DEEPEST} levels.", hint="Ask for a part of it.")
        if isinstance(item, float) and not math.isfinite(item):
            raise BadInput("What came holds a number that cannot be kept, such as NaN.", hint="Ask for it as text.")
        if isinstance(item, Mapping | list | tuple):
            stack.extend((each, depth + 1) for each in (item.values() if isinstance(item, Mapping) else item))
    return storable(value)


def _written(value: Any) -> tuple[Any, bytes]:
    plain = sound(value)
    content = json_pieces.dumps(plain)
    if len(content) > MOST:
        raise TooLarge(
            f"The node gave {len(content):,} bytes; {MOST:,} are kept.", hint="Filter it, or ask for less of it."
        )
    return json_pieces.loads(content), content


async def whole(record: NodeRecord, originals: Artifacts) -> Any:
    """All of what a node gave, wherever it lies."""
    return record.output if record.ref is None else await on_shelf(record.ref, originals)


async def on_shelf(ref: str, originals: Artifacts, tx: Connection | None = None) -> Any:
    """A large output, as it was given."""
    return await asyncio.to_thread(json_pieces.loads, (await originals.read(ref, tx)).content)


def noted(settings: Mapping[str, Any]) -> dict[str, Any]:
    """A node's settings as they are put on record: of what is large, and on record where it came from, a likeness."""
    found: dict[str, Any] = {}
    for key, value in settings.items():
        size = len(json.dumps(value, default=str))
        found[key] = value if size <= IN_ROW else beginning(value, size)
    return found


def beginning(value: Any, size: int) -> Any:
    """A small likeness of a large value, for lists of nodes and for people."""
    if isinstance(value, list):
        return {"kind": "dataset", "row_count": len(value), "sample": _short(value[:SAMPLE]), "bytes": size}
    if isinstance(value, dict):
        return {"kind": "object", "keys": sorted(value)[:50], "bytes": size}
    return {"kind": "text", "text": str(value)[:500], "bytes": size}


def _short(value: Any, depth: int = 0) -> Any:
    if isinstance(value, str):
        return value[:200]
    if isinstance(value, dict):
        return {key: _short(item, depth + 1) for key, item in list(value.items())[:20]} if depth < 4 else "…"
    if isinstance(value, list):
        return [_short(item, depth + 1) for item in value[:SAMPLE]] if depth < 4 else "…"
    return value
