"""The seed's spellings of a plan, and other usual ones, turned into ours before anything is read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

PRIMITIVES: Final = {
    "table_sort": "sort", "table_filter": "filter", "table_select": "select", "table_rename": "rename",
    "groupby": "group_by", "table_group_by": "group_by", "table_join": "join", "topk": "top_k",
}  # fmt: skip
"""What others call a primitive, and what we do."""


def ours(document: Mapping[str, Any]) -> dict[str, Any]:
    """The plan in our own spelling; what is not recognised stays, to be refused by whoever reads it."""
    plan = dict(document)
    if "steps" not in plan and "pipeline" in plan:
        plan["steps"] = plan.pop("pipeline")
    if isinstance(plan.get("steps"), list | tuple):
        plan["steps"] = [_step(one) if isinstance(one, Mapping) else one for one in plan["steps"]]
    return plan


def _step(given: Mapping[str, Any]) -> dict[str, Any]:
    step = dict(given)
    for spelling in ("step", "op", "primitive"):
        if "do" not in step and spelling in step:
            step["do"] = step.pop(spelling)
    do = step.get("do")
    if isinstance(do, str):
        step["do"] = PRIMITIVES.get(do, do)
    change = _CHANGES.get(str(step.get("do")))
    return change(step) if change else step


def _sort(step: dict[str, Any]) -> dict[str, Any]:
    if "by" not in step and "field" in step:
        step["by"] = [{"column": step.pop("field")}]
    return step


def _filter(step: dict[str, Any]) -> dict[str, Any]:
    if "where" not in step and "condition" in step:
        step["where"] = step.pop("condition")
    if "where" not in step and "column" in step:
        step["where"] = {name: step.pop(name) for name in ("column", "is", "value") if name in step}
    if isinstance(step.get("where"), Mapping):
        step["where"] = _where(step["where"], 0)
    return step


def _where(given: Any, depth: int) -> Any:
    if not isinstance(given, Mapping) or depth > 40:
        return given
    where = dict(given)
    for theirs, ours_ in (("field", "column"), ("op", "is"), ("operator", "is")):
        if theirs in where and ours_ not in where:
            where[ours_] = where.pop(theirs)
    for word in ("and", "or"):
        if isinstance(where.get(word), list | tuple):
            where[word] = [_where(one, depth + 1) for one in where[word]]
    if "not" in where:
        where["not"] = _where(where["not"], depth + 1)
    return where


def _select(step: dict[str, Any]) -> dict[str, Any]:
    if "columns" not in step and "fields" in step:
        step["columns"] = step.pop("fields")
    return step


def _top_k(step: dict[str, Any]) -> dict[str, Any]:
    if "by" not in step and "field" in step:
        step["by"] = step.pop("field")
    return step


_CHANGES: Final = {"sort": _sort, "filter": _filter, "select": _select, "distinct": _select, "top_k": _top_k}
