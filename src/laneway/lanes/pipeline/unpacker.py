"""The process that takes a large request apart, so that nobody else's waits for its JSON.

Its job is one line of JSON on standard input: the folder with the body, and how much of the request may remain beside
its tables. It leaves each table and the rest as files there, and reports on standard output.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson

from laneway.domain.storable import check_storable, storable
from laneway.errors import BadInput, LanewayError, TooLarge
from laneway.lanes.pipeline.lines import loads
from laneway.lanes.pipeline.taking_out import as_json, taken_out

BODY, REST = "body.json", "rest.json"


def main() -> None:
    """The job on standard input is done and reported."""
    job = orjson.loads(sys.stdin.buffer.readline())
    # All of it lives until the end: looking for cycles in it is time lost.
    gc.disable()
    fields: dict[str, Any] = {}
    try:
        folder = Path(job["folder"])
        fields = _fields((folder / BODY).read_bytes(), mend=bool(job["mend"]))
        report = _done(folder, fields, int(job["most_rest"]), mend=bool(job["mend"]))
    except LanewayError as error:
        report = {"error": {"code": error.code, "message": error.message, "hint": error.hint}}
    except RecursionError:
        report = {"error": {"code": "bad-input", "message": "The request is nested too deeply.", "hint": "Send less."}}
    except MemoryError:
        report = {"error": {"code": "memory", "message": "", "hint": ""}}
    job_id = fields.get("job_id", fields.get("id"))
    report["job_id"] = job_id if isinstance(job_id, str | int) else None
    sys.stdout.buffer.write(as_json(report) + b"\n")
    sys.stdout.buffer.flush()
    os._exit(0)


def _fields(body: bytes, *, mend: bool) -> dict[str, Any]:
    """The object that the body is; what cannot be stored in it is refused or, to `mend` it, replaced."""
    fields = _decoded(body)
    if not isinstance(fields, dict):
        raise BadInput("The body must be a JSON object.", hint="Write {…}.")
    # Only written like this can a NUL be in a table; all else that cannot be stored is no JSON, or no table.
    if b"\\u0000" not in body:
        return fields
    if mend:
        return dict(storable(fields))
    _check(fields)
    return fields


def _done(folder: Path, fields: Mapping[str, Any], most_rest: int, *, mend: bool) -> dict[str, Any]:
    remaining, tables = taken_out(fields)
    if not mend:
        _check(remaining)
    rest = as_json(remaining)
    if len(rest) > most_rest:
        raise TooLarge(
            f"Beside its tables the request has {len(rest)} bytes; at most {most_rest} are taken.",
            hint="Send less, or in several messages.",
        )
    (folder / REST).write_bytes(rest)
    for number, table in enumerate(tables):
        (folder / f"{number}.ndjson").write_bytes(table.content)
    return {"tables": [table.ref for table in tables]}


def _check(fields: dict[str, Any]) -> None:
    for name, value in fields.items():
        try:
            check_storable(name)
            check_storable(value)
        except ValueError as error:
            raise BadInput(f"`{name[:80]}` {error}.", hint="Correct it.") from None


def _decoded(body: bytes) -> Any:
    """The JSON of a body; no NaN, no infinity, nothing but UTF-8, and whole numbers of any length."""
    try:
        return loads(body)
    except (ValueError, RecursionError) as error:
        said = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)[:200]
        raise BadInput(f"The body is not valid JSON: {said}.", hint="Correct it.") from None


if __name__ == "__main__":
    main()
