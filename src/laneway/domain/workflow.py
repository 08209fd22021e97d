"""A workflow as it is kept: its versions, and the patches that led from one to the next."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from laneway.errors import BadInput

TAG = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,79}")
RESERVED = frozenset({"schema"})
"""Words that stand where a tag would, in addresses."""
Document = dict[str, Any]
Operations = list[dict[str, Any]]


class PatchKind(StrEnum):
    """What a patch was made for."""

    CREATE = "create"
    IMPORT = "import"
    PATCH = "patch"
    UNDO = "undo"
    REDO = "redo"
    ROLLBACK = "rollback"
    EXPIRY = "expiry"


class ForwardState(StrEnum):
    PENDING = "pending"
    SENDING = "sending"
    SENT = "sent"
    REFUSED = "refused"
    UNCERTAIN = "uncertain"


@dataclass(frozen=True, slots=True)
class Workflow:
    """A stored graph as it stands now."""

    id: UUID
    seq: int
    principal_id: UUID
    tag: str
    version: int
    document: Document
    created_at: datetime
    changed_at: datetime
    removed_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class WorkflowVersion:
    """The whole document as it was at one version."""

    workflow_id: UUID
    number: int
    document: Document
    patch_id: UUID
    kind: PatchKind
    description: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Cause:
    """Why a workflow changes: who wanted it, by which words, in which message, and who approved it."""

    principal_id: UUID
    sentence: str = ""
    message_id: UUID | None = None
    job_id: UUID | None = None
    approved_by: UUID | None = None
    valid_until: datetime | None = None
    once: str | None = None
    """The same change under the same name is stored once."""


@dataclass(frozen=True, slots=True)
class Patch:
    """One change of a workflow, with what takes it back."""

    id: UUID
    seq: int
    workflow_id: UUID
    kind: PatchKind
    base_version: int
    version: int
    operations: Operations
    inverse: Operations
    description: str
    sentence: str
    principal_id: UUID
    approved_by: UUID | None
    message_id: UUID | None
    job_id: UUID | None
    undoes: UUID | None
    undone_by: UUID | None
    valid_until: datetime | None
    expiry: str | None
    created_at: datetime

    @property
    def in_force(self) -> bool:
        """Whether nobody has taken it back."""
        return self.undone_by is None


@dataclass(frozen=True, slots=True)
class Forward:
    """An accepted patch on its way to an orchestrator outside."""

    id: int
    patch_id: UUID
    method: str
    path: str
    user_id: str
    body: dict[str, Any]
    state: ForwardState
    attempts: int
    error: str | None
    not_before: datetime
    created_at: datetime


def checked_tag(tag: str) -> str:
    """The tag, if it can be one."""
    if not TAG.fullmatch(tag) or tag.lower() in RESERVED:
        raise BadInput(
            f"`{tag[:80]}` cannot be the tag of a workflow.",
            hint="Use up to 80 letters, digits, dots, dashes and underscores, beginning with a letter or digit.",
        )
    return tag
