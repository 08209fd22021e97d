"""Which columns a step looks for, and whether an earlier one left them out."""

from __future__ import annotations

from laneway.lanes.pipeline.expressions import columns, parsed
from laneway.lanes.pipeline.functions import TAKES
from laneway.lanes.pipeline.planner.meaning.conditions import mentioned
from laneway.lanes.pipeline.planner.parts.groups import DAYS
from laneway.lanes.pipeline.planner.parts.pieces import Step
from laneway.lanes.pipeline.planner.refusal import Refused, Unfit
from laneway.lanes.pipeline.planner.schema import Schema


def needed(step: Step) -> set[str]:
    """The columns that the step looks for."""
    match step["do"]:
        case "select" | "rename" | "distinct" | "summarize":
            return set(step.get("columns", ()))
        case "group_by" | "beside":
            return {*step["by"], *(one["column"] for one in step["values"].values() if "column" in one)}
        case "sort":
            return {key["column"] for key in step["by"]}
        case "top_k":
            return {step["by"]}
        case "filter":
            return mentioned(step["where"])
        case "compute":
            return set(columns(parsed(step["expression"], TAKES)))
        case "pivot":
            return {*step["index"], step["columns"], *([one] if (one := step["values"].get("column")) else [])}
    return set()


def refuse_split_days(steps: list[Step], schema: Schema, said: list[str]) -> None:
    """Returns only if days are told apart where days are asked for, and not the moments within them."""
    timed = {column.name for column in schema.columns if column.timed}
    if not timed or DAYS.isdisjoint(said):
        return
    shown: set[str] = set()
    for step in steps:
        keys = {"group_by": "by", "distinct": "columns", "pivot": "index"}.get(step["do"], "")
        apart = set(step.get(keys, shown)) if keys else set[str]()
        if apart & timed:
            name = min(apart & timed)
            raise Refused(f"{name} has times of day, which part the days.", f"Say: number of rows per day of {name}.")
        shown = set(step["columns"]) if step["do"] == "select" else shown


def refuse_lost_columns(steps: list[Step], given: set[str], made: list[str]) -> None:
    """Returns only if each step finds the columns it needs: an earlier clause may have left them out."""
    known = set(given)
    for step in steps:
        if step["do"] == "join":
            # What it brings is called after what is there; the engine knows, and the clauses were read by it.
            return
        if not known.issuperset(needed(step)):
            lost = min(needed(step) - known)
            if lost in made:
                raise Unfit
            raise Refused(
                f"An earlier part of the request leaves {lost} out.", f"Show {lost} too, or ask in another order."
            )
        match step["do"]:
            case "select":
                known = set(step["columns"])
            case "rename":
                known = known - set(step["columns"]) | set(step["columns"].values())
            case "group_by":
                known = {*step["by"], *step["values"]}
            case "beside":
                known |= set(step["values"])
            case "compute":
                known.add(step["column"])
