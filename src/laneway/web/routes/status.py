"""How Laneway is doing, for people (/status) and for Prometheus (/metrics)."""

from __future__ import annotations

from fastapi import APIRouter
from pydantic import BaseModel
from starlette.responses import Response

from laneway import __version__
from laneway.store import counters, figures
from laneway.web.gateway import Here
from laneway.web.metrics import memory_bytes
from laneway.web.shapes import WorkerShape, shaped

router = APIRouter(tags=["status"])
PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8"


class Today(BaseModel):
    cost: float
    tokens: int
    cap_usd: float | None


class StatusShape(BaseModel):
    version: str
    model: str
    database: str
    lanes: list[str]
    jobs: dict[str, int]
    oldest_queued_seconds: float
    messages: dict[str, int]
    outbox: dict[str, int]
    approvals_pending: int
    today: Today
    workers: list[WorkerShape]
    memory_mb: float


@router.get("/status", summary="How things stand")
async def status(here: Here) -> StatusShape:
    settings = here.app.settings
    async with here.app.db.transaction() as tx:
        now = await figures.take(tx)
    return StatusShape(
        version=__version__,
        model=here.app.models.description,
        database="embedded" if settings.embedded else "DATABASE_URL",
        lanes=sorted(here.app.lanes),
        jobs=now.jobs,
        oldest_queued_seconds=round(now.oldest_queued_seconds, 3),
        messages=now.messages,
        outbox=now.outbox,
        approvals_pending=now.approvals_pending,
        today=Today(cost=float(now.cost_today), tokens=now.tokens_today, cap_usd=settings.budget_day_usd),
        workers=shaped(WorkerShape, now.workers),
        memory_mb=round(memory_bytes() / 1_000_000, 1),
    )


@router.get(
    "/metrics",
    summary="Figures for Prometheus",
    response_class=Response,
    responses={200: {"content": {"text/plain": {}}, "description": "Prometheus's text format."}},
)
async def metrics(here: Here) -> Response:
    async with here.app.db.transaction() as tx:
        now, counted = await figures.take(tx), await counters.sums(tx)
    return Response(here.metrics.text(now, len(here.hub), counted), media_type=PROMETHEUS)
