"""`POST /test/chat`: one request of the runner, answered in the same breath; for trying things out by hand."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from laneway.web import runner
from laneway.web.gateway import Here, Me
from laneway.web.runner import RunnerRequest

DOOR = "/test/chat"
router = APIRouter(tags=["runner"])


@router.post(
    DOOR,
    summary="Ask the runner, and wait for its result",
    openapi_extra=runner.body_schema(RunnerRequest, required=False),
)
async def chat(
    request: Request,
    here: Here,
    me: Me,
    prompt: Annotated[str | None, Query(description="What is asked; may stand in the body instead.")] = None,
    task: Annotated[str | None, Query(description="The same.")] = None,
) -> Response:
    """A lasting change goes to the workflow, everything else is done once; 202 if it takes longer or is asked about."""
    words = prompt or task
    asked, tables = await runner.read(request, here, RunnerRequest, **({"prompt": words} if words else {}))
    text = runner.need_text(asked)
    cursor = await here.hub.place("now")
    receipt = await runner.started(here, me, asked, text, asked.runner(DOOR), tables)
    job = await runner.waited(here, cursor, receipt, runner.seconds_of(asked))
    status, shape = await runner.told(here, job, asked.job_id or str(receipt.job_id))
    return await runner.responded(shape, status)
