"""`The cheapest flight` is one row only if no other is as cheap: the tables are asked before one is picked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from laneway.lanes.pipeline.plan import plan_of
from laneway.lanes.pipeline.planner.refusal import Refused
from laneway.lanes.pipeline.tables import run

Tables = Mapping[str, Sequence[Mapping[str, Any]]]
MOST_ROWS = 100_000
"""Larger tables are not looked through twice; of equal rows the first is taken, as when a number was said."""


def refuse_ties(name: str, steps: list[dict[str, Any]], tables: Tables) -> None:
    """Returns only if the row that is picked is better than the next one; Refused if they share its place."""
    place = next((n for n, step in reversed(list(enumerate(steps))) if step["do"] in ("top_k", "limit")), None)
    if place is None or sum(map(len, tables.values())) > MOST_ROWS:
        return
    step = steps[place]
    if step["do"] == "top_k":
        before, column, first = [*steps[:place], {**step, "k": 2}], step["by"], 0
    else:
        before, column, first = steps[:place], steps[place - 1]["by"][0]["column"], step["offset"]
    rows = run(plan_of({"from": name, "steps": before}), cast(Any, tables)).rows
    values = [row.get(column) for row in rows]
    around = values[max(first - 1, 0) : first] + values[first + 1 : first + 2]
    if first < len(values) and values[first] in around:
        raise Refused(
            f"Several rows share that place, with the {column} {values[first]}.", "Say how many you want: the 2 …"
        )
