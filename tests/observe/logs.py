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
