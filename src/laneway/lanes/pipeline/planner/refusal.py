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
    """Raised inside the planner for words that a person may well mean, but that are not plain."""

    def __init__(self, reason: str, hint: str) -> None:
        super().__init__(reason)
        self.refusal = Refusal(reason, hint)


class Unfit(Exception):
    """Raised for a reading of some words that nobody means; another may fit."""


@dataclass(frozen=True)
class Doubt:
    """Words that may well be meant so, but are not plain: a request that needs them is refused."""

    refusal: Refusal
