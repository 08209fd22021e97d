"""A pipeline as a node of a workflow uses it: a plan, or words, and rows in; rows out, with where they came from."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any
from zoneinfo import ZoneInfo

from laneway.clock import SystemClock
from laneway.errors import BadInput
from laneway.lanes.pipeline.http_rows import HttpRows
from laneway.lanes.pipeline.plan import Plan, plan_of, sentence
from laneway.lanes.pipeline.planner import Refusal, planned
from laneway.lanes.pipeline.process import worked
from laneway.sandbox.exchange import READING

Rows = list[dict[str, Any]]
RunPlan = Callable[[dict[str, Any], Mapping[str, Rows], str | None], Awaitable[dict[str, Any]]]


def plan_runner(http: HttpRows, most_rows: int, zone: str = "UTC") -> RunPlan:
    """What runs a plan for a workflow; where there are only words, the planner makes the plan, or refuses."""

    async def run(document: dict[str, Any], tables: Mapping[str, Rows], prompt: str | None) -> dict[str, Any]:
        plan = plan_of(document) if prompt is None else await _planned(prompt, tables, zone)
        given, sources = dict(tables), list[str]()
        fetches = plan.fetches_beside(tables)
        if any(step["method"] not in READING for step in fetches.values()):
            raise BadInput("A pipeline of a workflow only reads.", hint="Send with an http node, then work on it.")
        for name, step in fetches.items():
            found = await http.fetch(step)
            given[name] = list(found.rows)
            sources.append(f"the page {found.url}")
        outcome = await worked(plan, given, most_rows)
        counts = [count.document() for count in outcome.counts]
        return {"rows": list(outcome.rows), "counts": counts, "sentence": sentence(plan), "sources": sources}

    return run


async def _planned(prompt: str, tables: Mapping[str, Rows], zone: str) -> Plan:
    today = SystemClock().now().astimezone(ZoneInfo(zone)).date()
    made = await asyncio.to_thread(planned, prompt, tables, today)
    if isinstance(made, Refusal):
        raise BadInput(made.reason, hint=made.hint)
    return made
