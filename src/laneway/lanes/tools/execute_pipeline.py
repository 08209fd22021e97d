"""`execute_pipeline` in the toolbox: the pipeline lane's own work, behind the same gate as every other tool."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import reduce
from typing import Any
from uuid import UUID

from laneway.domain.action import Verdict, allow
from laneway.lanes.tools import http_request
from laneway.lanes.tools.entry import Arguments, Call, Outcome, ToolEntry, failure, success

Attempt = Callable[[UUID | None, Mapping[str, Any]], Awaitable[dict[str, Any] | str]]
SECONDS = 180.0


def execute_pipeline_entry(
    name: str, about: str, schema: dict[str, Any], tags: tuple[str, ...], attempt: Attempt,
    fetched_by: Callable[[Arguments], list[dict[str, Any]]],
) -> ToolEntry:  # fmt: skip
    """The tool; what its plan would fetch is judged as `http_request` judges it."""

    async def execute_pipeline(call: Call, **arguments: Any) -> Outcome:
        done = await attempt(call.by, arguments)
        return failure(done) if isinstance(done, str) else success(done)

    def judged(arguments: Arguments, call: Call) -> Verdict:
        verdicts = [http_request.judged(fetched, call) for fetched in fetched_by(arguments)]
        return reduce(Verdict.or_stricter, verdicts) if verdicts else allow("pipeline.reads", changes=False)

    def source(arguments: Arguments, outcome: Outcome) -> str | None:
        pages = " and ".join(f"the page {fetched['url']}" for fetched in fetched_by(arguments))
        return None if outcome.get("result") is None else pages or _stored(arguments)

    return ToolEntry(
        execute_pipeline, changes=False, idempotent=False, judge=judged, source=source, seconds=SECONDS,
        schema=schema, title=name, about=about, tags=tags,
    )  # fmt: skip


def _stored(arguments: Arguments) -> str | None:
    """What is stored was brought by somebody, and nobody can tell any more whose words it holds."""
    given = arguments.get("tables")
    tables = given.values() if isinstance(given, Mapping) else ()
    return "a stored table" if any(not isinstance(table, list) for table in tables) else None
