"""The hooks of other agents: they ask here before a tool runs, and tell what happened."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel
from starlette.responses import Response

from laneway.errors import BadInput
from laneway.observe.hooks.desk import Hooks
from laneway.store import hooks as stored
from laneway.web.gateway import Here
from laneway.web.hook_keys import HookKeys

router = APIRouter(tags=["hooks"])
_BODY: dict[str, Any] = {
    "requestBody": {"required": True, "content": {"application/json": {"schema": {"type": "object"}}}}
}


class Denied(BaseModel):
    """A call an agent was told not to make."""

    provider: str
    session_id: str
    call_id: str
    tool: str
    key: str
    rule: str
    why: str
    sub_agent: str
    at: datetime


class DeniedPage(BaseModel):
    items: list[Denied]


@router.post("/hooks/claude-code", summary="Answer a hook of Claude Code", openapi_extra=_BODY)
async def claude_code(request: Request) -> Response:
    """PreToolUse is answered with `permissionDecision` allow, ask or deny, or with nothing, which leaves it to Claude
    Code's own permissions; everything else is kept and answered neutrally. Opened by the owner's key or the hooks'."""
    return await _answered(request, "claude-code")


@router.post("/hooks/codex", summary="Answer a hook of Codex", openapi_extra=_BODY)
async def codex(request: Request) -> Response:
    """PreToolUse is answered with a denial or with nothing: Codex's hooks cannot ask. Same keys."""
    return await _answered(request, "codex")


@router.post("/hooks/gemini", summary="Answer a hook of Gemini CLI", openapi_extra=_BODY)
async def gemini(request: Request) -> Response:
    """BeforeTool is answered with `decision` allow, ask or deny, or with nothing. Same keys."""
    return await _answered(request, "gemini")


@router.get("/hooks/denied", summary="Calls that other agents were told not to make")
async def denied(
    here: Here,
    session_id: Annotated[str | None, Query(max_length=200, description="Only of this session.")] = None,
    minutes: Annotated[int, Query(ge=1, le=1440, description="How far back.")] = 60,
) -> DeniedPage:
    """Those nobody saw running, oldest first, without secrets."""
    async with here.app.db.transaction() as tx:
        found = await stored.denied(tx, session_id=session_id, minutes=minutes)
    names = ("provider", "session_id", "call_id", "tool", "key", "rule", "why", "sub_agent")
    return DeniedPage(
        items=[Denied(at=at, **{name: str(body.get(name) or "") for name in names}) for body, at in found]
    )


async def _answered(request: Request, agent: str) -> Response:
    keys: HookKeys = request.app.state.hook_keys
    await keys.check(request.headers)
    desk: Hooks = request.app.state.hooks
    try:
        body = json.loads(await request.body())
    except (ValueError, RecursionError):
        raise BadInput("The body is not valid JSON.", hint="docs/hooks.md shows what is understood.") from None
    # Escaped, because what an agent sent and we quote need not be valid Unicode.
    return Response(json.dumps(desk.answer(agent, body)), media_type="application/json")
