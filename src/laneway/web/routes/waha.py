"""The bridge to WhatsApp: where it tells us what was said, and how its session is."""

from __future__ import annotations

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field

from laneway.channels.waha import Waha
from laneway.errors import ModelFault, NotFound
from laneway.store import waha
from laneway.web.gateway import Here
from laneway.web.shapes import Moment

router = APIRouter(tags=["waha"])


class HeardShape(BaseModel):
    outcome: str = Field(description="taken, stored, duplicate, refused, paired, noted or ignored.")


class BridgeShape(BaseModel):
    session: str
    status: str = Field(description="WORKING, or what the bridge says instead; UNREACHABLE if it says nothing.")
    works: bool
    says: str = Field(description="What is wrong, if the bridge did not answer.")
    version: str | None = Field(description="Of the bridge.")
    down_since: Moment | None
    told_at: Moment | None = Field(description="When the owner was told that it does not work.")
    heard_until: Moment | None = Field(description="Everything said before is stored.")
    lids: int = Field(description="Hidden ids whose numbers are known.")


@router.post("/waha/webhook", summary="Take an event of the WhatsApp bridge")
async def webhook(here: Here, request: Request) -> HeardShape:
    """Signed with `X-Webhook-Hmac`: HMAC-SHA512 over the body. Answered with 200 once it is committed."""
    body = await request.body()
    return HeardShape(outcome=await _bridge(here).receive(body, request.headers))


@router.get("/waha", summary="How the WhatsApp bridge is")
async def status(here: Here) -> BridgeShape:
    """Asks the bridge now, and tells what the watch saw last."""
    bridge = _bridge(here).bridge
    says, version, found = "", None, "UNREACHABLE"
    try:
        found = (await bridge.status()).status
        version = await bridge.version()
    except ModelFault as error:
        says = str(error)
    async with here.app.db.transaction() as tx:
        state, lids = await waha.state(tx, bridge.session), await waha.lids(tx)
    return BridgeShape(
        session=bridge.session,
        status=found,
        works=found == "WORKING",
        says=says,
        version=version,
        down_since=state.down_since if state else None,
        told_at=state.told_at if state else None,
        heard_until=state.heard_until if state else None,
        lids=lids,
    )


def _bridge(here: Here) -> Waha:
    found = here.app.channels.get(waha.CHANNEL)
    if not isinstance(found, Waha):
        raise NotFound("There is no WhatsApp bridge here.", hint="Set WAHA_URL, WAHA_API_KEY and WAHA_HMAC_KEY.")
    return found
