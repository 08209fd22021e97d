"""Events from outside: something happened elsewhere, and workflows that wait for it start."""

from __future__ import annotations

import json
from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field, model_validator

from laneway.domain.conversation import Role
from laneway.errors import BadInput, TooLarge
from laneway.store import events
from laneway.web.auth import open_to
from laneway.web.gateway import Here, Me
from laneway.web.posting import check_storable

router = APIRouter(tags=["events"])
OURS = frozenset(
    {"approval", "attachment", "audit", "budget", "classification", "correction", "effect", "hook", "job", "memory",
     "message", "outbox", "pairing", "permission", "pipeline", "principal", "reactor", "redis", "reminder", "reply",
     "schedule", "session", "task", "tool", "undo", "worker", "workflow"}
)  # fmt: skip
"""What our own events begin with: nobody outside can say that these happened."""
LARGEST = 64 * 1024


class EventPosted(BaseModel):
    model_config = ConfigDict(extra="forbid")

    event: str = Field(
        pattern=r"^[a-z][a-z0-9_]*(\.[a-z0-9_]+)+$", max_length=120, description="What happened, like price.changed."
    )
    data: dict[str, Any] = Field(
        default_factory=dict, description="What is known of it; workflows see it as their input."
    )

    @model_validator(mode="before")
    @classmethod
    def _can_be_stored(cls, value: Any) -> Any:
        check_storable(value)
        return value


class EventTaken(BaseModel):
    event: str


@router.post("/events", status_code=202, summary="Say that something happened", openapi_extra=open_to(Role.OPERATOR))
async def happened(here: Here, me: Me, posted: EventPosted) -> EventTaken:
    """Workflows with a trigger for this event start; what its data says is treated as the words of others."""
    if posted.event.split(".")[0] in OURS:
        raise BadInput(f"Events like `{posted.event}` are Laneway's own.", hint="Name it otherwise, like shop.opened.")
    if len(json.dumps(posted.data)) > LARGEST:
        raise TooLarge(f"The data of an event may have {LARGEST} bytes.", hint="Send a reference instead.")
    async with here.app.db.transaction() as tx:
        await events.append(tx, posted.event, {**posted.data, "by": str(me.id)})
    return EventTaken(event=posted.event)
