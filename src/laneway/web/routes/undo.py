"""Undo: what a job did to files is taken back."""

from __future__ import annotations

from uuid import UUID

from fastapi import APIRouter
from pydantic import BaseModel, Field

from laneway.lanes.tools.undo import Undo
from laneway.web.gateway import Here, Me

router = APIRouter(tags=["jobs"])


class RestoredShape(BaseModel):
    path: str
    what: str = Field(description="What was done: put back, removed, moved back; or it is as it was.")


class RefusedShape(BaseModel):
    path: str
    why: str = Field(description="Why it was left alone: it changed since, or no copy was kept.")


class UndoneShape(BaseModel):
    job_id: UUID
    restored: list[RestoredShape]
    refused: list[RefusedShape]


@router.post("/jobs/{job_id}/undo", summary="Put back the files a job changed")
async def undo(here: Here, me: Me, job_id: UUID) -> UndoneShape:
    """Files that changed since are left alone and listed as refused; a job that was undone already is a conflict."""
    undone = await Undo(here.app.db, here.app.settings.home).undo(job_id, me)
    return UndoneShape(
        job_id=undone.job_id,
        restored=[RestoredShape(path=path, what=what) for path, what in undone.restored.items()],
        refused=[RefusedShape(path=path, why=why) for path, why in undone.refused.items()],
    )
