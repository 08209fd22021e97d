"""`aggregate`: one value of many rows, or one row for each group."""

from __future__ import annotations

from typing import Any

from laneway.lanes.workflow.hands import Doing, Done, Failed, Kind, Outcome
from laneway.lanes.workflow.nodes.rows import planned


async def aggregated(doing: Doing) -> Outcome:
    config = doing.config
    by = config.get("by") or []
    values: dict[str, Any] = dict(config.get("values") or {})
    if config.get("do"):
        values["value"] = {"do": config["do"], **({"column": config["column"]} if config.get("column") else {})}
    if not values:
        return Failed(f"The node `{doing.name}` does not say what to work out.", retryable=False)
    outcome = await planned(doing, {"do": "group_by", "by": [by] if isinstance(by, str) else by, "values": values})
    if not by and isinstance(outcome, Done) and outcome.output["rows"]:
        # One row for all: its values are what the next node asks for.
        return Done({**outcome.output["rows"][0], "rows": outcome.output["rows"]})
    return outcome


KIND = Kind("aggregate", aggregated, acts=False, computes=True)
