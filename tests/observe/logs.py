"""What logs are made of."""

from __future__ import annotations

import json
from typing import Any

Json = dict[str, Any]
Told = tuple[str, bytes, Json]
"""A log: its name, its bytes, and what must be said about it."""


def log(*lines: Any, end: bytes = b"\n") -> bytes:
    """Lines of a log: bytes as they are, all else as JSON."""
    return b"\n".join(line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines) + end


def calls(**names: int) -> Json:
    return {"total": sum(names.values()), "by_name": names}


def tokens(**some: int) -> Json:
    return dict.fromkeys(KINDS, 0) | some


KINDS = ("input", "output", "cache_read", "cache_write", "reasoning", "tool_prompt")
SHORT = {"users": "user_turns", "answers": "assistant_messages", "failed": "tool_errors", "open": "tool_unanswered"}


def counts(*spent: int, **told: Any) -> Json:
    """What must be said: the tokens in the order of KINDS, those left out being none, and other counts by name."""
    spelt = {SHORT.get(name, name): value for name, value in told.items()}
    return spelt | ({"tokens": tokens(**dict(zip(KINDS, spent, strict=False)))} if spent else {})
