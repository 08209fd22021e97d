"""`POST /pipelines`: tables and a plan, or words for one, in; rows out."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response
from pydantic import Field

from laneway.lanes.pipeline.inputs import read_runner
from laneway.lanes.pipeline.plan import plan_of, plan_schema, sentence
from laneway.web import runner
from laneway.web.gateway import Here, Me
from laneway.web.runner import RunnerRequest

DOOR, LANE = "/pipelines", "pipeline"
SHOWN_ROWS = 1000
router = APIRouter(tags=["runner"])


class PipelineRequest(RunnerRequest):
    """A plan, or words from which one is made."""

    plan: dict[str, Any] | list[Any] | None = Field(
        None, description="Which table, and what is done to it step by step."
    )


@router.post(
    "/pipelines", summary="Run a pipeline once, and wait for its rows",
    openapi_extra=runner.body_schema(PipelineRequest, required=True),
)  # fmt: skip
async def run(request: Request, here: Here, me: Me) -> Response:
    """Of the rows the first 1,000 come along; `result_ref` names the artifact with all of them."""
    asked, tables = await runner.read(request, here, PipelineRequest)
    given = read_runner(asked.runner(DOOR) | ({} if asked.plan is None else {"plan": asked.plan}))
    if "plan" in given:
        plan = plan_of(given["plan"])
        given["plan"] = plan.document()
        text = asked.text or sentence(plan)
    else:
        text = runner.need_text(asked)
    cursor = await here.hub.place("now")
    receipt = await runner.started(here, me, asked, text, given, tables, LANE)
    job = await runner.waited(here, cursor, receipt, runner.seconds_of(asked))
    status, shape = await runner.told(here, job, asked.job_id or str(receipt.job_id))
    if shape.get("result_preview", {}).get("kind") == "dataset":
        shape["rows"] = await runner.rows_in(here, shape["result_ref"], SHOWN_ROWS)
    return await runner.responded(shape, status)


@router.get("/pipelines/schema", summary="What a plan may say, as JSON Schema")
async def schema() -> dict[str, Any]:
    return plan_schema()
