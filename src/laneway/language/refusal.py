"""Saying no: the word that is not understood, and what can be said instead, in one line."""

from __future__ import annotations

from dataclasses import dataclass

MODEL_HINT = "A model would understand more: set a model key."


@dataclass(frozen=True)
class Refusal:
    """Why nothing is done, and how to say it so that it can be."""

    reason: str
    hint: str = ""

    @property
    def sentence(self) -> str:
        """Both as one line."""
        return f"{self.reason} {self.hint}".strip()

    def document(self) -> dict[str, str]:
        """The refusal as programs read it."""
        return {"type": "not-understood", "message": self.reason, "hint": self.hint}


class NotUnderstood(Exception):
    """Raised by a reader for words it cannot account for."""

    def __init__(self, reason: str, hint: str = "") -> None:
        super().__init__(reason)
        self.refusal = Refusal(reason, hint)
