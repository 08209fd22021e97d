"""What was at a path before a change and after it: enough to put it back, and to notice that it changed since."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID


class Kind(StrEnum):
    ABSENT = "absent"
    FILE = "file"
    FOLDER = "folder"
    LINK = "link"
    OTHER = "other"
    UNKNOWN = "unknown"
    """Nobody looked: the path was beyond what a snapshot covers."""


@dataclass(frozen=True, slots=True)
class Image:
    """What is at a path; `lost` says why it cannot be put back, and is empty if it can."""

    kind: Kind
    content: str = ""
    """`sha256:…` of a file's bytes or a link's target; of a file too large to read, `stat:…`."""
    size: int = 0
    mode: int = 0
    uid: int = -1
    gid: int = -1
    lost: str = ""

    def same(self, other: Image) -> bool:
        """Whether both are the same thing with the same content and permissions."""
        if self.kind is not other.kind or self.content != other.content:
            return False
        return self.kind not in (Kind.FILE, Kind.FOLDER) or self.mode == other.mode

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def of(cls, fields: dict[str, Any]) -> Image:
        return cls(**{**fields, "kind": Kind(fields["kind"])})


ABSENT = Image(Kind.ABSENT)


@dataclass(frozen=True, slots=True)
class Change:
    """One path that is, or is about to be, different from before."""

    path: str
    before: Image
    after: Image


@dataclass(frozen=True, slots=True)
class FileChange:
    """A change on record: whose it is, by which tool, and whether it was taken back."""

    id: int
    began: int
    job_id: UUID
    thread_id: UUID
    tool: str
    change: Change
    undone_at: datetime | None
