"""WhatsApp's door: Meta looks for it once, and posts every message and status here, signed."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Header, Query, Request
from pydantic import BaseModel
from starlette.responses import PlainTextResponse

from laneway.channels.whatsapp_cloud import PATH
from laneway.channels.whatsapp_cloud.receiving import Webhook
from laneway.channels.whatsapp_cloud.signature import HEADER
from laneway.errors import NotFound
from laneway.web.gateway import Here

router = APIRouter(tags=["whatsapp"])


class Received(BaseModel):
    ok: bool = True


@router.get(PATH, summary="Tell Meta that this is the webhook", response_class=PlainTextResponse)
async def verify(
    here: Here,
    mode: Annotated[str, Query(alias="hub.mode", description="`subscribe`.")] = "",
    token: Annotated[str, Query(alias="hub.verify_token", description="The value of WHATSAPP_VERIFY_TOKEN.")] = "",
    challenge: Annotated[str, Query(alias="hub.challenge", max_length=1000, description="What to answer.")] = "",
) -> PlainTextResponse:
    """The challenge as plain text, or 403 if the token is not ours."""
    return PlainTextResponse(_webhook(here).challenge(mode, token, challenge))


@router.post(PATH, summary="Take messages and statuses from WhatsApp")
async def receive(
    request: Request,
    here: Here,
    signature: Annotated[str, Header(alias=HEADER, description="HMAC-SHA256 over the body.")] = "",
) -> Received:
    """All of it is stored before the answer comes; 503 means that it could not be, and Meta posts it again."""
    await _webhook(here).receive(here.app.door.take, await request.body(), signature)
    return Received()


def _webhook(here: Here) -> Webhook:
    webhook = getattr(here.app.channels.get("whatsapp"), "webhook", None)
    if not isinstance(webhook, Webhook):
        raise NotFound("There is no WhatsApp number here.", hint="Set WHATSAPP_TOKEN; docs/whatsapp.md says how.")
    return webhook
