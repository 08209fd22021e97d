"""Writes like a person: types for a while, rests between two messages, and never floods.

A number that behaves like a machine is reported and banned, and there is no appeal.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from laneway.channels.pacing import Limit


@dataclass(frozen=True, slots=True)
class Manner:
    """Seconds: for typing a character, at least and at most for a message, between two of a chat, and of all chats."""

    character: float = 0.02
    least: float = 0.8
    most: float = 6.0
    rest: float = 1.5
    apart: float = 0.4

    def typing(self, text: str) -> float:
        """How long this text takes to type, never twice the same."""
        return min(self.most, max(self.least, self.character * len(text))) * random.uniform(0.8, 1.2)  # noqa: S311

    def limits(self, chat: str) -> list[Limit]:
        """How fast messages may follow each other, in this chat and in all together."""
        return [Limit(f"chat:{chat}", 1, self.rest), Limit("number", 1, self.apart)]


HUMAN = Manner()
