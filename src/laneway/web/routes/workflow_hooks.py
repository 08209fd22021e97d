"""Webhooks that start workflows: signed over the raw bytes, fresh, and each delivery once.

A sender signs `TIMESTAMP.BODY` with HMAC-SHA256 and the hook's secret and sends `X-Laneway-Timestamp` (seconds since
1970) and `X-Laneway-Signature: sha256=HEX`. What is older or newer than five minutes is refused; the same delivery
again is recognised by what was signed, answered as success, and runs nothing.
"""

from __future__ import annotations

import hashlib
import hmac
from typing import Any
from uuid import UUID

from fastapi import APIRouter, Request

from laneway.domain.storable import check_storable
from laneway.domain.workflow import Workflow
from laneway.errors import BadInput, NotFound, Unauthorized
from laneway.lanes.workflow.starting import Order
from laneway.store import principals, workflow_runs, workflow_triggers, workflows
from laneway.store.database import Connection
from laneway.store.workflow_triggers import Hook
from laneway.web.bodies import decoded
from laneway.web.gateway import Here
from laneway.web.routes.workflow_runs import has_webhook, own_secret, webhook_of
from laneway.web.workflow_run_shapes import StartedShape

router = APIRouter(tags=["workflow runs"])
FRESH_SECONDS = 300
NOBODY = "nobody's secret, compared with so that an unknown address takes as long as a known one"
_BODY: dict[str, Any] = {"requestBody": {"content": {"application/json": {"schema": {}}}}}


@router.post("/workflow-hooks/{hook_id}", status_code=202, summary="Start a workflow by webhook", openapi_extra=_BODY)
async def received(here: Here, hook_id: UUID, request: Request) -> StartedShape:
    """Signed with `X-Laneway-Signature` over `X-Laneway-Timestamp`, a dot and the body. Needs no key."""
    body = await request.body()
    stamp, given = request.headers.get("x-laneway-timestamp", ""), request.headers.get("x-laneway-signature", "")
    async with here.app.db.transaction() as tx:
        hook = await workflow_triggers.hook(tx, hook_id)
        workflow = await workflows.by_id(tx, hook.workflow_id) if hook else None
        secret = _secret(here, hook, workflow)
        digest = signature(secret or NOBODY, stamp, body)
        right = hmac.compare_digest(digest.encode(), given.strip().lower().encode("utf-8", "replace"))
        if not secret or not right or not _fresh(stamp, here.clock.now().timestamp()):
            raise Unauthorized("This delivery is not signed as it must be.", hint="See docs/workflows.md, webhooks.")
        if workflow is None or workflow.removed_at is not None or not has_webhook(workflow):
            raise NotFound("This workflow takes no webhooks any more.", hint="Add a trigger of the type webhook.")
        return await _started(tx, here, workflow, digest, body, request)


def _secret(here: Here, hook: Hook | None, workflow: Workflow | None) -> str | None:
    """What deliveries are signed with: the owner's own secret, if the trigger names one, else the hook's."""
    named = own_secret(workflow) if workflow is not None else None
    if hook is None or named is None:
        return hook.secret if hook else None
    return here.app.runs.secret(named.removeprefix("$secrets."))


def signature(secret: str, stamp: str, body: bytes) -> str:
    """What a sender who knows the secret sends as X-Laneway-Signature."""
    signed = stamp.encode("utf-8", "replace") + b"." + body
    return "sha256=" + hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()


def _fresh(stamp: str, now: float) -> bool:
    return stamp.isascii() and stamp.isdecimal() and len(stamp) <= 12 and abs(now - int(stamp)) <= FRESH_SECONDS


async def _started(
    tx: Connection, here: Here, workflow: Workflow, digest: str, body: bytes, request: Request
) -> StartedShape:
    owner = await principals.by_id(tx, workflow.principal_id)
    if owner is None or owner.blocked_at is not None:
        raise NotFound("This workflow takes no webhooks any more.", hint="Ask its owner.")
    given = {"body": _read(body, request.headers.get("content-type", "")), "at": here.clock.now().isoformat()}
    order = Order(
        given | dict((webhook_of(workflow) or {}).get("input") or {}), {"type": "webhook"},
        f"{workflow.id}:hook:{digest}", sources=["a webhook"], program=True,
    )  # fmt: skip
    run_id, new = await here.app.runs.start(tx, workflow, owner, order)
    run = await workflow_runs.get(tx, run_id)
    return StartedShape(run_id=run_id, job_id=run.job_id, duplicate=not new)


def _read(body: bytes, kind: str) -> Any:
    if "json" in kind.lower():
        value = decoded(body)
        check_storable(value)
        return value
    try:
        text = body.decode()
    except UnicodeDecodeError:
        raise BadInput("The body is no UTF-8.", hint="Send JSON or text.") from None
    check_storable(text)
    return text
