"""Telegram's door: it posts every update here, with the secret that `laneway telegram setup` gave it."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Header, Request
from pydantic import BaseModel

from laneway.channels.telegram.webhook import HEADER, PATH, Webhook
from laneway.errors import NotFound
from laneway.web.gateway import Here

router = APIRouter(tags=["telegram"])


class Received(BaseModel):
    ok: bool = True


@router.post(PATH, summary="Take an update from Telegram")
async def receive(
    request: Request,
    here: Here,
    secret: Annotated[str, Header(alias=HEADER, description="The secret Telegram was given.")] = "",
) -> Received:
    """The update is stored before the answer comes; 503 means that it could not be, and Telegram posts it again."""
    webhook = getattr(here.app.channels.get("telegram"), "webhook", None)
    if not isinstance(webhook, Webhook):
        raise NotFound("There is no webhook of Telegram here.", hint="Set LANEWAY_TELEGRAM_MODE=webhook to have one.")
    # Before a byte of the body is read.
    webhook.check(secret)
    await webhook.receive(await request.body())
    return Received()
