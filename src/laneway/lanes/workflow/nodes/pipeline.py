"""`pipeline`: runs a plan over rows, or one that is made from words when the node runs."""

from __future__ import annotations

from typing import Any

from laneway.lanes.workflow.hands import Doing, Done, Failed, Kind, Outcome
from laneway.lanes.workflow.nodes.rows import TABLE, rows_of


async def piped(doing: Doing) -> Outcome:
    plan, prompt = doing.config.get("plan"), doing.config.get("prompt")
    if not isinstance(plan, dict) and not prompt:
        return Failed(f"The node `{doing.name}` has neither a plan nor a prompt.", retryable=False)
    tables = _tables(doing, plan if isinstance(plan, dict) else {})
    used: list[str] = []

    async def run() -> dict[str, Any]:
        made = await doing.hands.run_plan(plan if isinstance(plan, dict) else {}, tables, None if plan else str(prompt))
        used.extend(str(one) for one in made.get("sources") or ())
        return {**made, "count": len(made["rows"])}

    # Its requests only read: doing it twice is the same as doing it once.
    outcome = await doing.act(run, again=True, about="a pipeline")
    if isinstance(outcome, Done):
        return Done(outcome.output, tuple(str(one) for one in outcome.output.get("sources") or ()))
    return outcome


def _tables(doing: Doing, plan: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    given = doing.config.get("tables")
    if isinstance(given, dict):
        return {name: rows_of(value, doing.name) for name, value in given.items()}
    steps = plan.get("steps")
    first = steps[0] if isinstance(steps, list) and steps else None
    if isinstance(first, dict) and first.get("do") == "http_request" and "input" not in doing.config:
        return {}
    return {str(plan.get("from") or TABLE): rows_of(doing.input(), doing.name)}


KIND = Kind("pipeline", piped, acts=False, hears=True)
