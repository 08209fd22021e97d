"""What nodes that work on rows share: where their rows are, and a plan run over them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from laneway.errors import BadInput, LanewayError, LeaseLost
from laneway.lanes.workflow.hands import Doing, Done, Failed, Outcome

TABLE = "rows"


def rows_of(value: Any, name: str) -> list[dict[str, Any]]:
    """The rows in a value: itself, or its `rows` or `body`; BadInput if there are none."""
    if isinstance(value, Mapping):
        value = next((value[key] for key in ("rows", "body") if isinstance(value.get(key), list)), None)
    if not isinstance(value, list) or not all(isinstance(row, Mapping) for row in value):
        raise BadInput(f"The node `{name}` has no rows to work on.", hint="Point its `input` at a list of objects.")
    return [dict(row) for row in value]


async def planned(doing: Doing, step: dict[str, Any]) -> Outcome:
    """What one step of a plan makes of the node's rows."""
    rows = rows_of(doing.input(), doing.name)
    try:
        made = await doing.hands.run_plan({"from": TABLE, "steps": [step]}, {TABLE: rows}, None)
    except LeaseLost:
        raise
    except LanewayError as error:
        return Failed(str(error), retryable=False)
    return Done({"rows": made["rows"], "count": len(made["rows"])})
