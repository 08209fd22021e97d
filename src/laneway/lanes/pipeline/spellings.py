"""The seed's spellings of a plan, and other usual ones, turned into ours before anything is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

PRIMITIVES: Final = {
    "table_sort": "sort", "table_filter": "filter", "table_select": "select", "table_rename": "rename",
    "groupby": "group_by", "table_group_by": "group_by", "table_join": "join", "topk": "top_k",
}  # fmt: skip
"""What others call a primitive, and what we do."""
_FIELDS: Final = {
    "sort": ("field", "by"), "top_k": ("field", "by"), "select": ("fields", "columns"),
    "distinct": ("fields", "columns"), "filter": ("condition", "where"),
}  # fmt: skip
"""What others call a field of a primitive, and what we do."""
_COMPARED: Final = ("column", "field", "is", "op", "operator", "value", "ignore_case")


def ours(document: Mapping[str, Any] | Sequence[Any]) -> dict[str, Any]:
    """The plan in our own spelling; what is not recognised stays, to be refused by whoever reads it."""
    plan = dict(document) if isinstance(document, Mapping) else {"steps": document}
    if "steps" not in plan and "pipeline" in plan:
        plan["steps"] = plan.pop("pipeline")
        # The first runner's tool names its conversation beside the steps.
        plan.pop("session_id", None)
    if isinstance(plan.get("steps"), list | tuple):
        plan["steps"] = [_step(one) if isinstance(one, Mapping) else one for one in plan["steps"]]
    return plan


def _step(given: Mapping[str, Any]) -> dict[str, Any]:
    step = dict(given)
    if step.get("step") == "http_request" and str(step.get("method")).upper() == "POST" and "body" not in step:
        # What the first runner posts is its `params`, as JSON.
        step["body"] = step.pop("params", None)
    for spelling in ("step", "op", "primitive"):
        if "do" not in step and spelling in step:
            step["do"] = step.pop(spelling)
    do = step.get("do")
    if isinstance(do, str):
        step["do"] = do = PRIMITIVES.get(do, do)
        theirs, field = _FIELDS.get(do, ("", ""))
        if field not in step and theirs in step:
            step[field] = step.pop(theirs)
    return _filter(step) if do == "filter" else step


def _filter(step: dict[str, Any]) -> dict[str, Any]:
    if "where" not in step and not step.keys().isdisjoint(("column", "field")):
        step["where"] = {name: step.pop(name) for name in _COMPARED if name in step}
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
