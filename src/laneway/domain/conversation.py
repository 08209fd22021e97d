"""Who talks, where, and what was said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

PULLED = frozenset({"http", "console"})
"""Channels whose clients read replies themselves."""


class Role(StrEnum):
    OWNER = "owner"
    OPERATOR = "operator"
    CUSTOMER = "customer"


class World(StrEnum):
    """The two trust worlds; they never share context, tools, memory or budget."""

    OWNER = "owner"
    CUSTOMER = "customer"


class Author(StrEnum):
    """Who wrote a message: a person outside, or Laneway."""

    USER = "user"
    ASSISTANT = "assistant"


@dataclass(frozen=True, slots=True)
class Principal:
    id: UUID
    role: Role
    name: str
    created_at: datetime
    host_mode: bool = False
    """Whether commands of this principal run on the machine itself, outside the sandbox."""
    blocked_at: datetime | None = None
    """Since when nothing of this principal is taken."""

    @property
    def world(self) -> World:
        return World.CUSTOMER if self.role is Role.CUSTOMER else World.OWNER


@dataclass(frozen=True, slots=True)
class Thread:
    id: UUID
    channel: str
    external_id: str
    principal_id: UUID
    world: World
    context_from: int
    created_at: datetime

    def is_open_to(self, principal: Principal) -> bool:
        """Whether the principal may write in it: everybody of the owner's world, and of the other its one customer."""
        return self.world is principal.world and (self.world is World.OWNER or self.principal_id == principal.id)


@dataclass(frozen=True, slots=True)
class Message:
    id: UUID
    seq: int
    thread_id: UUID
    author: Author
    channel: str
    external_id: str
    principal_id: UUID | None
    text: str
    meta: dict[str, Any]
    created_at: datetime
    result_preview: dict[str, Any] | None = None
    """What a reply shows of its result; in `meta`, too, where the database alone would sort the columns."""

    def __post_init__(self) -> None:
        if self.result_preview is not None:
            self.meta["result_preview"] = self.result_preview


@dataclass(frozen=True, slots=True)
class Attachment:
    id: UUID
    message_id: UUID
    kind: str
    name: str
    mime: str
    size: int
    artifact: str | None
    preview: str
    meta: dict[str, Any]
    created_at: datetime


def sources_of(message: Message, attached: Sequence[Attachment]) -> tuple[str, ...]:
    """Whose words a message brings along besides its author's: files, voice notes, forwarded messages."""
    kinds = {"voice": "a voice note", "image": "an image", "video": "a video", "sticker": "a sticker"}
    files = [kinds.get(a.kind, f"the file {a.name}") for a in attached]
    forwarded = ["a forwarded message"] if message.meta.get("forwarded") else []
    spoken = ["a voice note"] if message.meta.get("voice") else []
    return tuple(dict.fromkeys([*files, *forwarded, *spoken, *message.meta.get("sources", [])]))


@dataclass(frozen=True, slots=True)
class IncomingFile:
    """A file as a door received it, before it is stored."""

    name: str
    mime: str
    content: bytes
    place: str = "row"
    """Where its bytes are to be looked for; what does not belong in its row is on a shelf already."""


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """A file that still lies with its provider: what is needed to fetch it later, and never a secret."""

    kind: str
    name: str
    mime: str
    size: int | None
    source: dict[str, Any]
    meta: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Incoming:
    """A message as a door received it, before it is written down."""

    channel: str
    thread: str
    external_id: str
    text: str
    principal: Principal
    mode: str = "AUTO"
    lane: str | None = None
    payload: dict[str, Any] = field(default_factory=dict)
    files: tuple[IncomingFile | RemoteFile, ...] = ()
    meta: dict[str, Any] = field(default_factory=dict)
    program: bool = False
    """A program queued it and nobody sits before it: people's messages go first."""


@dataclass(frozen=True, slots=True)
class Receipt:
    """What intake tells the door: where the message is, and whether we had it already."""

    message_id: UUID
    thread_id: UUID
    job_id: UUID
    duplicate: bool
