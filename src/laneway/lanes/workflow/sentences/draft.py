"""What a planner is told, and what it gives back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from laneway.domain.workflow import Document, Operations


@dataclass(frozen=True)
class Known:
    """What the words may be about."""

    now: datetime
    zone: str = "UTC"
    tag: str | None = None
    """The workflow the request belongs to, where it says so."""
    workflows: Mapping[str, Document] = field(default_factory=dict)
    """All workflows of the owner, by tag."""
    offer: Mapping[str, Any] | None = None
    """What was last offered to be made permanent in this conversation: its plan and its sentence."""


@dataclass(frozen=True)
class Draft:
    """A change that is meant, for the workflow `tag`; there may be none of that tag yet."""

    tag: str
    operations: Operations
    description: str
    valid_until: datetime | None = None
    notes: tuple[str, ...] = ()
    """What whoever approves it should know besides."""


@dataclass(frozen=True)
class Refusal:
    """Why nothing is planned, and what to say instead."""

    reason: str
    hint: str = ""

    @property
    def sentence(self) -> str:
        return f"{self.reason} {self.hint}".strip()


class NotPlanned(Exception):
    """A sentence of a known shape that cannot be carried out."""

    def __init__(self, reason: str, hint: str = "") -> None:
        super().__init__(reason)
        self.refusal = Refusal(reason, hint)
