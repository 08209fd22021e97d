"""Workflows, versions and patches as clients send and see them."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from laneway.domain.workflow import PatchKind
from laneway.web.shapes import Listing, Moment, Shape


class WorkflowSummary(Shape):
    id: UUID
    seq: int
    principal_id: UUID
    tag: str
    version: int
    created_at: Moment
    changed_at: Moment
    removed_at: Moment | None = None


class WorkflowShape(WorkflowSummary):
    document: dict[str, Any]


class VersionSummary(Shape):
    number: int
    patch_id: UUID
    kind: PatchKind
    description: str
    created_at: Moment


class VersionShape(VersionSummary):
    document: dict[str, Any]


class PatchShape(Shape):
    id: UUID
    seq: int
    workflow_id: UUID
    kind: PatchKind
    base_version: int
    version: int
    operations: list[dict[str, Any]]
    inverse: list[dict[str, Any]] = Field(description="What would take it back in the version it made.")
    description: str
    sentence: str = Field(description="The words that caused it.")
    principal_id: UUID
    approved_by: UUID | None
    message_id: UUID | None
    job_id: UUID | None
    undoes: UUID | None = Field(description="The patch that this one takes back.")
    undone_by: UUID | None = Field(description="The patch that took this one back; absent = it is in force.")
    valid_until: Moment | None
    expiry: str | None = Field(description="`done` or `conflict`, once its time is up.")
    created_at: Moment


class PreviewShape(BaseModel):
    """What a change would do; nothing of it is stored."""

    workflow: str
    base_version: int
    version: int
    description: str
    changes: list[str]
    notes: list[str]
    diagram: str = Field(description="As Mermaid.")
    replayed: int = Field(description="How many recorded runs it was tried on.")
    would_end_differently: list[dict[str, Any]]
    cannot_tell: list[dict[str, Any]]


class Changed(BaseModel):
    """What a change came to: stored, or with `dry_run` only tried."""

    verdict: str = "accept"
    stored: bool
    workflow: WorkflowShape | None = None
    patch: PatchShape | None = None
    preview: PreviewShape | None = None
    document: dict[str, Any] | None = Field(default=None, description="With `dry_run`: what the workflow would be.")


class DiffShape(BaseModel):
    older: int
    newer: int
    changes: list[str]
    operations: list[dict[str, Any]]
    diagram: str


class OwnedListing(Listing):
    owner: str | None = Field(
        None, max_length=200, description="Of this principal: id, address or name; yours if absent."
    )


class WorkflowListing(OwnedListing):
    before: int | None = Field(None, ge=0, lt=2**63, description="Only with a smaller `seq`.")
    removed: bool = Field(False, description="Those that were removed and can be brought back.")


class NumberListing(OwnedListing):
    before: int | None = Field(None, ge=0, lt=2**31, description="Only smaller numbers.")


class _Stored(BaseModel):
    model_config = ConfigDict(extra="forbid")


class WorkflowPosted(_Stored):
    tag: str = Field(max_length=80)
    document: dict[str, Any] = Field(description="As /workflows/schema says; `nodes` may be a map by id.")
    description: str = Field("", max_length=2000)


class WorkflowPut(_Stored):
    document: dict[str, Any]
    base_version: int = Field(ge=1, description="The version that this replaces.")
    description: str = Field("", max_length=2000)
    dry_run: bool = False


class PatchPosted(_Stored):
    operations: list[dict[str, Any]] = Field(description="RFC 6902; paths may name nodes: /nodes/@id/…")
    description: str = Field("", max_length=2000)
    base_version: int | None = Field(None, ge=0, description="The version it was made for; the newest if absent.")
    dry_run: bool = Field(False, description="Only say what it would do.")
    ask: bool = Field(False, description="Have it shown and asked for in your thread instead of storing it now.")
    valid_until: AwareDatetime | None = Field(None, description="When it undoes itself.")


class Which(_Stored):
    patch: UUID | None = Field(None, description="Which patch; the last one if absent.")


class RollBack(_Stored):
    version: int = Field(ge=1, lt=2**31)
