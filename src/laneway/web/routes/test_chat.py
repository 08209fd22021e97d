"""`POST /test/chat`: one request of the runner, answered in the same breath; for trying things out by hand."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from pydantic import ValidationError
from starlette.responses import JSONResponse

from laneway.errors import BadInput
from laneway.web import runner
from laneway.web.gateway import Here, Me
from laneway.web.posting import decoded
from laneway.web.problems import WrongFields
from laneway.web.runner import RunnerRequest

DOOR = "/test/chat"
router = APIRouter(tags=["runner"])

_SCHEMA = RunnerRequest.model_json_schema(ref_template="#/components/schemas/{model}")
_SCHEMA.pop("$defs", None)
_BODY: dict[str, Any] = {"requestBody": {"required": False, "content": {"application/json": {"schema": _SCHEMA}}}}


@router.post(DOOR, summary="Ask the runner, and wait for its result", openapi_extra=_BODY)
async def chat(
    request: Request,
    here: Here,
    me: Me,
    prompt: Annotated[str | None, Query(description="What is asked; may stand in the body instead.")] = None,
    task: Annotated[str | None, Query(description="The same.")] = None,
) -> Response:
    """A lasting change goes to the workflow, everything else is done once; 202 if it takes longer or is asked about."""
    asked = await _asked(request, prompt or task)
    text = runner.need_text(asked)
    cursor = await here.hub.place("now")
    receipt = await runner.started(here, me, asked, text, asked.runner(DOOR))
    job = await runner.waited(here, cursor, receipt, runner.seconds_of(asked))
    status, shape = await runner.told(here, job, asked.job_id or str(receipt.job_id))
    return JSONResponse(shape, status)


async def _asked(request: Request, words: str | None) -> RunnerRequest:
    body = await request.body()
    fields = decoded(body) if body.strip() else {}
    if not isinstance(fields, dict):
        raise BadInput("The body must be a JSON object.", hint='Send {"prompt": "…"}.')
    try:
        return RunnerRequest.model_validate(fields | ({"prompt": words} if words else {}))
    except ValidationError as error:
        raise WrongFields(error.errors()) from None
