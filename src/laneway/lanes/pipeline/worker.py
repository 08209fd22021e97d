"""The worker process: reads its tables itself, carries the plan out, and leaves the rows as lines in a file.

Its job is one line of JSON on standard input; its report is one line on standard output. Standard input stays open as
long as somebody wants the result: when it ends, by whatever way the server went, this process ends too.
"""

from __future__ import annotations

import gc
import os
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from laneway.errors import LanewayError
from laneway.lanes.pipeline.lines import SAMPLE, dumps, line, loads, written
from laneway.lanes.pipeline.plan import plan_of
from laneway.lanes.pipeline.reading import intact, rows_of
from laneway.lanes.pipeline.tables import Outcome, run
from laneway.lanes.pipeline.values import Row


def main() -> None:
    """The job on standard input is done and reported."""
    job = loads(sys.stdin.buffer.readline())
    threading.Thread(target=_end_with_the_server, daemon=True).start()
    # Millions of dicts that all live until the end: looking for cycles among them is time lost.
    gc.disable()
    try:
        report = _done(job)
    except LanewayError as error:
        report = {"error": {"code": error.code, "message": error.message, "hint": error.hint}}
    except MemoryError:
        report = {"error": {"code": "memory", "message": "", "hint": ""}}
    sys.stdout.buffer.write(dumps(report) + b"\n")
    sys.stdout.buffer.flush()
    # Freeing a million rows one by one takes a second that nobody needs.
    os._exit(0)


def _end_with_the_server() -> None:
    while os.read(0, 1):
        pass
    os._exit(3)


def _done(job: Mapping[str, Any]) -> dict[str, Any]:
    plan, most_rows = plan_of(job["plan"]), int(job["most_rows"])
    fast = _columnar(job)
    if fast is not None:
        outcome, how = fast, "columnar"
    else:
        tables = {name: _read(name, one) for name, one in job["tables"].items()}
        outcome, how = run(plan, tables, most_rows), "worker"
    return _reported(outcome, how, Path(job["result"]))


def _columnar(job: Mapping[str, Any]) -> Outcome | None:
    if not job["columnar"]:
        return None
    from laneway.lanes.pipeline import columnar

    for name, one in job["tables"].items():
        if one["sha256"]:
            intact(name, Path(one["path"]), one["sha256"])
    files = {name: (Path(one["path"]), one["format"]) for name, one in job["tables"].items()}
    return columnar.run(plan_of(job["plan"]), files, int(job["most_rows"]))


def _read(name: str, source: Mapping[str, str]) -> list[Row]:
    content = intact(name, Path(source["path"]), source["sha256"])
    return rows_of(content, source["format"], f"The table {name}")


def _reported(outcome: Outcome, how: str, result: Path) -> dict[str, Any]:
    with result.open("wb") as file:
        for part in written(outcome.rows):
            file.write(part)
    sample: Sequence[Row] = outcome.rows[:SAMPLE]
    return {
        "rows": len(outcome.rows),
        "sample": b"".join(map(line, sample)).decode(),
        "counts": [[count.step, count.rows] for count in outcome.counts],
        "notes": list(outcome.notes),
        "how": how,
    }


if __name__ == "__main__":
    main()
