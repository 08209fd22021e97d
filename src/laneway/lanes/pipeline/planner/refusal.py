"""Saying no: what the planner does with every request it does not understand whole."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Refusal:
    """Why a request was not planned, and how to say it so that it can be."""

    reason: str
    hint: str

    def document(self) -> dict[str, str]:
        """The refusal as programs read it."""
        return {"type": "not-understood", "message": self.reason, "hint": self.hint}


class Refused(Exception):
    """Raised inside the planner as soon as one reading of the request cannot be the only one."""

    def __init__(self, reason: str, hint: str) -> None:
        super().__init__(reason)
        self.refusal = Refusal(reason, hint)
