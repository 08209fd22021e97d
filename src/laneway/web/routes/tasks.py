"""Tasks: listed, looked at, made by hand, and moved along."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from laneway.domain.task import TaskPriority, TaskStatus, TaskType
from laneway.store import tasks
from laneway.web.gateway import Here
from laneway.web.initiative_shapes import TaskShape
from laneway.web.shapes import Listing, Page, paged

router = APIRouter(tags=["tasks"])
TaskId = Annotated[int, Path(ge=1, lt=2**63)]


class TaskListing(Listing):
    status: TaskStatus | None = Field(None, description="Only with this status.")
    open: bool = Field(False, description="Only those that have not ended.")
    before: int | None = Field(None, ge=0, lt=2**63, description="Only older than this one.")


class _Stored(BaseModel):
    model_config = ConfigDict(extra="forbid")


class TaskPosted(_Stored):
    title: str
    description: str = ""
    task_type: TaskType = TaskType.MANUAL
    priority: int = Field(TaskPriority.NORMAL, ge=1, le=10, description="From 1, the most urgent, to 10.")
    assigned_agent: str | None = Field(None, description="The person or specialist it is for.")
    due_at: AwareDatetime | None = None
    parent_task_id: int | None = Field(None, ge=1, lt=2**63)
    input_data: dict[str, Any] = Field(default_factory=dict)
    metadata: dict[str, Any] = Field(default_factory=dict)
    max_retries: int = Field(3, ge=0, le=100)


class TaskChange(_Stored):
    """What is not given stays as it is."""

    status: TaskStatus | None = None
    title: str | None = None
    description: str | None = None
    priority: int | None = Field(None, ge=1, le=10)
    assigned_agent: str | None = None
    due_at: AwareDatetime | None = None
    output_data: dict[str, Any] | None = Field(None, description="Kept beside what is there.")


@router.get("/api/tasks", summary="List tasks, newest first")
async def listed(here: Here, which: Annotated[TaskListing, Query()]) -> Page[TaskShape]:
    async with here.app.db.transaction() as tx:
        found = await tasks.page(
            tx, status=which.status, open_only=which.open, limit=which.one_more, before=which.before
        )
    return paged(TaskShape, found, which)


@router.post("/api/tasks", status_code=201, summary="Make a task by hand")
async def create(here: Here, posted: TaskPosted) -> TaskShape:
    async with here.app.db.transaction() as tx:
        made = await tasks.create(tx, **posted.model_dump())
    return TaskShape.model_validate(made)


@router.get("/api/tasks/{task_id}", summary="One task")
async def one(here: Here, task_id: TaskId) -> TaskShape:
    async with here.app.db.transaction() as tx:
        return TaskShape.model_validate(await tasks.get(tx, task_id))


@router.patch("/api/tasks/{task_id}", summary="Move a task along, or change what it says")
async def change(here: Here, task_id: TaskId, given: TaskChange) -> TaskShape:
    """pending → in_progress → completed, failed or cancelled; a failed one may become pending again."""
    values = given.model_dump(exclude_unset=True)
    status, output = values.pop("status", None), values.pop("output_data", None)
    # A title, a description and a priority cannot be taken away; a name and a due time can.
    kept = {key: value for key, value in values.items() if value is not None or key in ("assigned_agent", "due_at")}
    async with here.app.db.transaction() as tx:
        found = await tasks.change(tx, task_id, output=None if status else output, **kept)
        if status is not None:
            found = await tasks.move(tx, task_id, status, output)
    return TaskShape.model_validate(found)
