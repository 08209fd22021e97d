"""Whole workflows as they are sent: in JSON, or in YAML as they were exported."""

from __future__ import annotations

import asyncio
from typing import Any, TypeVar

from fastapi import Request
from pydantic import BaseModel, ValidationError
from starlette.exceptions import HTTPException

from laneway.errors import BadInput
from laneway.lanes.pipeline.unpacking import SMALL
from laneway.lanes.workflow.document import strict
from laneway.lanes.workflow.yaml_text import from_yaml
from laneway.web.bodies import check_fields, is_json
from laneway.web.problems import WrongFields

YAML = "application/yaml"
Shape = TypeVar("Shape", bound=BaseModel)
_YAML = (YAML, "application/x-yaml", "text/yaml", "text/x-yaml")


async def sent(request: Request, shape: type[Shape], **given: Any) -> Shape:
    """What the body says; a document alone has its tag or base version in the query, which is `given`."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    body = await request.body()
    if kind in _YAML:
        # Its reader takes its time, and the loop has none.
        fields = await asyncio.to_thread(from_yaml, body)
        check_fields(fields)
    elif is_json(kind):
        fields = await asyncio.to_thread(_read, body) if len(body) > SMALL else _read(body)
    else:
        raise HTTPException(415, f"`{kind[:80]}` is not taken here." if kind else "The request has no Content-Type.")
    if not isinstance(fields, dict):
        raise BadInput("The body must be an object.", hint="Send the workflow, or {tag, document}.")
    if kind in _YAML and "document" not in fields:
        fields = {"document": fields}
    try:
        return shape.model_validate(fields | {name: value for name, value in given.items() if value is not None})
    except ValidationError as error:
        raise WrongFields(error.errors()) from None


def _read(body: bytes) -> Any:
    try:
        return strict(body.decode("utf-8"))
    except UnicodeDecodeError:
        raise BadInput("The body is not valid UTF-8.", hint="Encode it as UTF-8.") from None


def body_of(shape: type[BaseModel]) -> dict[str, Any]:
    """How the body is described to those who send one."""
    schema = shape.model_json_schema(ref_template="#/components/schemas/{model}")
    schema.pop("$defs", None)
    whole = {"type": "object", "description": "The workflow alone, or the fields of the JSON body."}
    content = {"application/json": {"schema": schema}, YAML: {"schema": whole}}
    return {"requestBody": {"required": True, "content": content}}
