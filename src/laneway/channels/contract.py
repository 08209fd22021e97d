"""What a channel must be able to do to deliver."""

from __future__ import annotations

from typing import Any, Protocol

from laneway.domain.conversation import PULLED
from laneway.domain.judgement import OutboxRow

__all__ = ["PULLED", "Channel"]


class Channel(Protocol):
    """A door that replies are pushed through."""

    name: str

    async def send(self, row: OutboxRow, text: str) -> dict[str, Any]:
        """The provider has taken the reply, and its receipt is returned.

        TransientFault means it certainly has not and may be asked again; PermanentFault that it never will.
        """
        ...
