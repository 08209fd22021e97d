"""Whether the process lives, and whether it can work; the only routes that need no key."""

from __future__ import annotations

import asyncio

from fastapi import APIRouter
from pydantic import BaseModel
from starlette.responses import Response

from laneway.errors import Unavailable
from laneway.store import figures
from laneway.web.gateway import Here
from laneway.web.problems import problem

router = APIRouter(tags=["health"])
PATIENCE_SECONDS = 3.0


class Alive(BaseModel):
    status: str = "ok"
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
    """Answered while the database is down, too. `trouble` says what is wrong outside, by channel."""
    settings = here.app.settings
    found = {name: await channel.trouble() for name, channel in here.app.channels.items()}
    return Alive(
        workers=settings.workers + settings.owner_slots,
        running=len(here.app.engine.running),
        trouble={name: says for name, says in found.items() if says is not None},
    )


@router.get("/ready", summary="Messages can be taken and worked on", response_model=Ready)
async def ready(here: Here) -> Ready | Response:
    """200, or 503 with what is missing: the database, its tables, or a live worker."""
    missing = await _missing(here)
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


async def _missing(here: Here) -> list[str]:
    try:
        async with asyncio.timeout(PATIENCE_SECONDS), here.app.db.transaction() as tx:
            if not await figures.migrated(tx):
                return ["migrated"]
            return [] if await figures.live_workers(tx) else ["worker"]
    except (Unavailable, TimeoutError):
        return ["database"]
