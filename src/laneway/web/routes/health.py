"""Whether the process lives, and whether it can work; the only routes that need no key."""

from __future__ import annotations

from fastapi import APIRouter
from pydantic import BaseModel
from starlette.responses import Response

from laneway.web.gateway import Here
from laneway.web.problems import problem

router = APIRouter(tags=["health"])


class Alive(BaseModel):
    status: str = "ok"
    """`degraded` while the database does not answer: nothing is taken in and nothing is worked on."""
    service: str = "laneway"
    workers: int
    """Jobs that this process can run at once."""
    running: int
    """Jobs that it is running now."""
    trouble: dict[str, str] = {}


class Ready(BaseModel):
    ready: bool = True
    missing: list[str] = []


@router.get("/health", summary="The process lives")
async def health(here: Here) -> Alive:
    """Answered with 200 while the database is down, too. `trouble` says what is wrong outside, by channel."""
    settings = here.app.settings
    found = {name: await channel.trouble() for name, channel in here.app.channels.items()}
    if down := await here.pulse.missing() == ["database"]:
        found["database"] = "It does not answer."
    return Alive(
        status="degraded" if down else "ok",
        workers=settings.workers + settings.owner_slots,
        running=len(here.app.engine.running),
        trouble={name: says for name, says in found.items() if says is not None},
    )


@router.get("/ready", summary="Messages can be taken and worked on", response_model=Ready)
async def ready(here: Here) -> Ready | Response:
    """200, or 503 with what is missing: the database, its tables, or a live worker."""
    missing = await here.pulse.missing()
    if not missing:
        return Ready()
    return problem(
        503,
        "unavailable",
        f"Not ready: {', '.join(missing)}.",
        hint="`laneway doctor` says more.",
        headers={"Retry-After": "2"},
        missing=missing,
    )
