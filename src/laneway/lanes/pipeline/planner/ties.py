"""The tables are asked where the words leave it open: whether a second row is as good, and whether two plans differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, cast

from laneway.errors import BadInput
from laneway.lanes.pipeline.plan import plan_of
from laneway.lanes.pipeline.planner.refusal import Refused
from laneway.lanes.pipeline.tables import run

Tables = Mapping[str, Sequence[Mapping[str, Any]]]
MOST_ROWS = 100_000
"""Larger tables are not looked through twice; of equal rows the first is taken, as when a number was said."""


def refuse_ties(name: str, steps: list[dict[str, Any]], tables: Tables, *, valued: bool = False) -> None:
    """Returns only if the row that is picked has its place alone; Refused if it shares it, or others share one before.

    Of a value that is asked for without its row, it is no matter how many rows have it.
    """
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
    ranked = values[: first + 1] if valued else values[: first + 2]
    shared = next((one for one, other in pairwise(ranked) if one == other), None)
    if first < len(values) and shared is not None:
        raise Refused(f"Several rows share that place, with the {column} {shared}.", "Say how many you want: the 2 …")


def refuse_shared_bests(name: str, steps: list[dict[str, Any]], tables: Tables) -> None:
    """Returns only if one row of each group is better than the others; Refused if two share the first place."""
    place = next((n for n, step in enumerate(steps) if step["do"] == "distinct" and "columns" in step), 0)
    if not place or steps[place - 1]["do"] != "sort" or sum(map(len, tables.values())) > MOST_ROWS:
        return
    column, keys = steps[place - 1]["by"][0]["column"], steps[place]["columns"]
    best: dict[str, Any] = {}
    for row in run(plan_of({"from": name, "steps": steps[:place]}), cast(Any, tables)).rows:
        group = repr([row.get(key) for key in keys])
        if group in best and best[group] == row.get(column):
            raise Refused(
                f"Several rows of one {keys[0]} share the first place, with the {column} {best[group]}.",
                "Say what decides between them.",
            )
        best.setdefault(group, row.get(column))


def refuse_other_first(name: str, steps: list[dict[str, Any]], column: str, tables: Tables) -> None:
    """Returns only if the first rows of the table are the earliest, too; Refused if they are others."""
    place = next((n for n, step in enumerate(steps) if step["do"] == "limit"), None)
    if place is None or sum(map(len, tables.values())) > MOST_ROWS:
        return
    sort = {"do": "sort", "by": [{"column": column, "order": "asc", "nulls": "last"}]}
    plain = {"from": name, "steps": steps[: place + 1]}
    if not same_rows(plain, {"from": name, "steps": [*steps[:place], sort, steps[place]]}, tables):
        raise Refused(
            f"The first may be those of the table or the earliest by {column}.",
            "Say: the first rows, or: the earliest.",
        )


def refuse_divided(
    name: str, steps: list[dict[str, Any]], column: str, wheres: list[dict[str, Any]], tables: Tables
) -> None:
    """Returns only if a condition holds for all rows of a thing or for none; Refused if it holds for some of them."""
    place = next((n for n, step in enumerate(steps) if step["do"] == "filter"), None)
    if place is None or not wheres:
        return
    if sum(map(len, tables.values())) > MOST_ROWS:
        raise Refused(f"It is not plain whether that holds for all rows of one {column}.", "Ask for the rows.")
    every = steps[place]["where"].get("and", [steps[place]["where"]])
    others = [where for where in every if where not in wheres]
    before = steps[:place] + ([{"do": "filter", "where": {"and": others}}] if others else [])
    all_, kept = (
        Counter(repr(row.get(column)) for row in run(plan_of({"from": name, "steps": one}), cast(Any, tables)).rows)
        for one in (before, steps[: place + 1])
    )
    if any(kept[thing] < all_[thing] for thing in kept):
        raise Refused(
            f"Some rows of one {column} are so and others are not.", "Say: with at least one …, or ask for the rows."
        )


def refuse_repeats(name: str, steps: list[dict[str, Any]], column: str, tables: Tables) -> None:
    """Returns only if each thing has one row among those to choose from; Refused if one has several."""
    place = next((n for n, step in enumerate(steps) if step["do"] in ("top_k", "sort", "limit")), len(steps))
    rows = run(plan_of({"from": name, "steps": steps[:place]}), cast(Any, tables)).rows
    values = [row.get(column) for row in rows]
    if len(set(map(repr, values))) < len(values):
        raise Refused(
            f"`{column}` has several rows each, and it is not said which of them decides.",
            "Say: with the highest average …, or ask for the rows.",
        )


def same_rows(one: dict[str, Any], other: dict[str, Any], tables: Tables) -> bool:
    """Whether both plans give the same rows of these tables."""
    if sum(map(len, tables.values())) > MOST_ROWS:
        return False
    try:
        found = [list(run(plan_of(document), cast(Any, tables)).rows) for document in (one, other)]
    except BadInput:
        return False
    return found[0] == found[1] and [list(row) for row in found[0]] == [list(row) for row in found[1]]
