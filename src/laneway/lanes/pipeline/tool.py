"""`execute_pipeline` as a tool among others: a model that has rows at hand has them worked on exactly."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any
from uuid import UUID

from laneway.errors import LanewayError
from laneway.lanes.pipeline import results
from laneway.lanes.pipeline.http_rows import HttpRows
from laneway.lanes.pipeline.inputs import Given, Inputs
from laneway.lanes.pipeline.plan import plan_of, plan_schema, sentence
from laneway.lanes.pipeline.process import worked
from laneway.store import artifacts, principals
from laneway.store.artifacts import Artifacts
from laneway.store.database import Database

GIVEN_BACK = 50
"""So many rows a model is given back; the artifact has all."""

Outcome = dict[str, Any]
Execute = Callable[[UUID | None, Mapping[str, Any] | list[Any], Mapping[str, Any]], Awaitable[Outcome]]

NAME = "execute_pipeline"
ABOUT = (
    "Work on tables exactly: filter, sort, group, join and the like, as a plan of steps. Give each table as rows or as "
    "an artifact:// reference. The result is stored; its first rows, its counts and its reference come back."
)
TAGS = ("table", "rows", "sort", "filter", "group", "csv", "json")


def schema() -> dict[str, Any]:
    """The tool's parameters."""
    rows = {"anyOf": [{"type": "array", "items": {"type": "object"}}, {"type": "string"}]}
    tables = {"type": "object", "additionalProperties": rows, "description": "Each table by its name."}
    return {"type": "object", "properties": {"plan": plan_schema(), "tables": tables}, "required": ["plan"]}


def fetched_by(arguments: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The requests to web servers that a call would make."""
    try:
        # Read as it will be run: a plan may be spelt in many ways, and none may pass by unseen.
        return list(plan_of(arguments.get("plan") or {}).fetches.values())
    except LanewayError:
        # It will not run at all.
        return []


def executing(db: Database, shelf: Artifacts, inputs: Inputs, http: HttpRows, most_rows: int) -> Execute:
    """What runs when the tool is called: `(by whom, plan, tables) → outcome`."""

    async def execute(by: UUID | None, plan: Mapping[str, Any] | list[Any], tables: Mapping[str, Any]) -> Outcome:
        checked, given = plan_of(plan), Given()
        async with db.transaction() as tx:
            asking = await principals.by_id(tx, by)
        for name, value in tables.items():
            given.add(str(name), await inputs.rows(value, asking), f"the table `{name}`")
        for name, step in checked.fetches_beside(given.tables).items():
            found = await http.fetch(step)
            given.fetched(name, found.rows, found.url, step)
        outcome = await worked(checked, given.tables, most_rows)
        content, mime, place = await results.shelved(shelf, outcome.rows)
        async with db.transaction() as tx:
            ref = await artifacts.record(tx, content, mime, place)
        return {
            "result_ref": ref, "row_count": len(outcome.rows), "rows": list(outcome.rows[:GIVEN_BACK]),
            "sentence": sentence(checked), "counts": [count.document() for count in outcome.counts],
            "sources_of_rows": given.origins_of(checked), "notes": list(outcome.notes),
        }  # fmt: skip

    return execute


async def attempted(execute: Execute, by: UUID | None, arguments: Mapping[str, Any]) -> Outcome | str:
    """The outcome, or a sentence that says what is wrong with the call."""
    plan, tables = arguments.get("plan"), arguments.get("tables") or {}
    if not isinstance(plan, Mapping | list) or not isinstance(tables, Mapping):
        return "`plan` and `tables` must be objects."
    try:
        return await execute(by, plan, tables)
    except LanewayError as fault:
        return str(fault)
