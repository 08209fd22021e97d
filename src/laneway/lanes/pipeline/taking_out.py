"""Takes large tables out of a request: each becomes bytes with a name by its hash, and the request keeps the name.

So nothing that comes later (the job's row, its steps, its events) carries rows or writes them again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from laneway.domain.artifact import reference
from laneway.lanes.pipeline.checking import MOST_BYTES
from laneway.lanes.pipeline.lines import dumps, written
from laneway.lanes.pipeline.tabular import inside, is_result, pointed, rows_of

MOST_ROWS, MOST_TEXT = 200, 16 * 1024
"""A table with more rows, or one that takes more bytes, is stored by itself."""
TITLES = ("name", "table", "node_id")
"""What an earlier result may be called by."""


@dataclass(frozen=True, slots=True)
class TakenOut:
    """A table as lines of JSON, and the reference that stands in the request in its place."""

    ref: str
    content: bytes


def taken_out(fields: Mapping[str, Any]) -> tuple[dict[str, Any], list[TakenOut]]:
    """The request with references in place of its large tables, and these; what is no table is refused."""
    tables: list[TakenOut] = []
    return _without(fields, tables), tables


def _without(fields: Mapping[str, Any], tables: list[TakenOut]) -> dict[str, Any]:
    found = dict(fields)
    given = found.get("tables")
    if isinstance(given, list) and given:
        given = {"table": given}
    if isinstance(given, Mapping):
        found["tables"] = {name: _table(str(name), value, tables) for name, value in given.items()}
    if "previous_results" in found:
        found["previous_results"] = _earlier(found["previous_results"], tables)
    for name in ("context", "metadata"):
        if isinstance(found.get(name), Mapping):
            found[name] = _beside(found[name], tables)
    runner, payload = found.get("runner"), found.get("payload")
    if isinstance(runner, Mapping):
        found["runner"] = _without(runner, tables)
    if isinstance(payload, Mapping) and isinstance(payload.get("runner"), Mapping):
        found["payload"] = {**payload, "runner": _without(payload["runner"], tables)}
    return found


def _beside(fields: Mapping[str, Any], tables: list[TakenOut]) -> dict[str, Any]:
    """What goes with a request, which only brings earlier results, or has what goes with it in a part of its own."""
    found = dict(fields)
    if "previous_results" in found:
        found["previous_results"] = _earlier(found["previous_results"], tables)
    if isinstance(found.get("context"), Mapping):
        found["context"] = _beside(found["context"], tables)
    return found


def _table(name: str, value: Any, tables: list[TakenOut]) -> Any:
    """The reference to a table, its rows if they are few, or what the request had where it points at one itself."""
    if pointed(value) is not None:
        return value
    rows = rows_of(inside(value), name, MOST_BYTES)
    content = b"".join(written(rows))
    if len(rows) <= MOST_ROWS and len(content) <= MOST_TEXT:
        return rows
    tables.append(TakenOut(reference(content), content))
    return tables[-1].ref


def _earlier(results: Any, tables: list[TakenOut]) -> Any:
    """Earlier results with references in place of those that are large; the others stay as they came."""
    if isinstance(results, Mapping):
        if is_result(results):
            return _result(results, tables)
        return {name: _result(value, tables) for name, value in results.items()}
    if not isinstance(results, list) or not results:
        return results
    if all(isinstance(one, Mapping) and not is_result(one) for one in results):
        short = _result(results, tables)
        return results if short is results else [short]
    return [_result(one, tables) for one in results]


def _result(value: Any, tables: list[TakenOut]) -> Any:
    if pointed(value) is not None or not isinstance(value, list | Mapping) or not _large(inside(value)):
        return value
    named = {key: value[key] for key in TITLES if isinstance(value.get(key), str)} if isinstance(value, Mapping) else {}
    ref = _table(named.get("name", "previous"), value, tables)
    return {**named, "artifact": ref} if isinstance(ref, str) else value


def _large(value: Any) -> bool:
    return isinstance(value, list | Mapping) and (len(value) > MOST_ROWS or len(as_json(value)) > MOST_TEXT)


def as_json(value: Any) -> bytes:
    """The value as JSON, whole numbers of any length included."""
    try:
        return dumps(value)
    except TypeError:
        # Half a character is no text.
        return json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")
