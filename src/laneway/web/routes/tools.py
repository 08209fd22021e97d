"""Tools: what is at hand and where it comes from, and what has stayed in a thread's toolbox."""

from __future__ import annotations

from uuid import UUID

from fastapi import APIRouter
from pydantic import BaseModel, Field

from laneway.domain.conversation import World
from laneway.store import toolboxes
from laneway.web.gateway import Here
from laneway.web.routes.threads import known
from laneway.web.shapes import Moment, Page, Shape, shaped

router = APIRouter(tags=["tools"])


class ToolEntryShape(BaseModel):
    name: str
    origin: str = Field(description="Who brings it: `built in`, an MCP server, or the APIs.")
    about: str
    changes: bool = Field(description="Whether it can leave anything different from before.")
    asks: bool = Field(description="Whether every call needs an approval.")
    worlds: list[World]


class SupplierShape(Shape):
    name: str
    kind: str = Field(description="`MCP server` or `API`.")
    status: str
    says: str = Field(description="What is wrong, if anything is.")
    tools: int


class ToolsShape(BaseModel):
    items: list[ToolEntryShape]
    suppliers: list[SupplierShape]


class FoundShape(Shape):
    thread_id: UUID
    tool: str
    found: int = Field(description="How often it was found here.")
    kept: bool = Field(description="Whether it has stayed: it is offered without being looked for.")
    found_at: Moment


@router.get("/tools", summary="List all tools at hand and where they come from")
async def listed(here: Here) -> ToolsShape:
    """Also every MCP server and API with its state; one that may be tried again is."""
    outside = here.app.outside
    await outside.settled()
    entries = here.app.toolbox.entries()
    origins = outside.origins(entries)
    items = [
        ToolEntryShape(
            name=one.name, origin=origins[one.name], about=one.description, changes=one.changes, asks=one.asks,
            worlds=sorted(one.worlds),
        )
        for one in entries
    ]  # fmt: skip
    return ToolsShape(items=items, suppliers=shaped(SupplierShape, outside.suppliers()))


@router.get("/threads/{thread_id}/tools", summary="List the tools that were found in a thread")
async def kept(here: Here, thread_id: UUID) -> Page[FoundShape]:
    """Those that have stayed come first."""
    async with here.app.db.transaction() as tx:
        await known(tx, thread_id)
        return Page(items=shaped(FoundShape, await toolboxes.of_thread(tx, thread_id)))


@router.delete("/threads/{thread_id}/tools/{tool}", summary="Take a tool out of a thread's toolbox")
async def drop(here: Here, thread_id: UUID, tool: str) -> FoundShape:
    """It is no longer offered there, and its count begins anew."""
    async with here.app.db.transaction() as tx:
        await known(tx, thread_id)
        return FoundShape.model_validate(await toolboxes.drop(tx, thread_id, tool))
