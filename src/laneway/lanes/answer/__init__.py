"""The answer lane: replies that need no model, with a key or without: small talk and chat commands."""

from laneway.lanes.answer.lane import AnswerLane

__all__ = ["AnswerLane"]
