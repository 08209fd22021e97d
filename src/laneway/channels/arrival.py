"""What a provider handed in: a message or a press of a button, by somebody we may or may not know."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from laneway.domain.conversation import IncomingFile, Receipt, RemoteFile


@dataclass(frozen=True, slots=True)
class Arrival:
    """One delivery of a provider, read but not yet written down. Every text in it is hostile."""

    channel: str
    address: str
    external_id: str
    """The same delivery has the same one when it comes again."""
    name: str = ""
    also: tuple[str, ...] = ()
    """Other addresses of the same person, as the provider vouches."""
    thread: str | None = None
    """None: one thread for each person."""
    text: str = ""
    files: tuple[IncomingFile | RemoteFile, ...] = ()
    press: str | None = None
    """What a pressed button carries; there is no text then."""
    reply_to: str | None = None
    """The provider's id of the message it answers."""
    quoted: str = ""
    """That message's words, where the provider tells them."""
    edits: str | None = None
    """The `message_key` of the message that it replaces."""
    silent: bool = False
    """It is stored and nothing is done."""
    meta: dict[str, Any] = field(default_factory=dict)
    """`message_key` names the message among those of its thread; `forwarded` and `voice` taint it."""


@dataclass(frozen=True, slots=True)
class Taken:
    """What became of an arrival, committed; `say` is for a toast, or for a stranger."""

    outcome: Literal["taken", "duplicate", "refused", "pressed", "paired", "stored"]
    say: str = ""
    receipt: Receipt | None = None
