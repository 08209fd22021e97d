"""Ids that sort by the time they were made (UUID version 7)."""

from __future__ import annotations

import os
import threading
import time
from uuid import UUID

_lock = threading.Lock()
_last = 0


def new_id() -> UUID:
    """A fresh UUIDv7: 48 bits of milliseconds, then randomness; larger than any this process made before."""
    global _last
    milliseconds = time.time_ns() // 1_000_000 & (1 << 48) - 1
    fresh = milliseconds << 74 | int.from_bytes(os.urandom(10), "big") >> 6
    with _lock:
        # Within a millisecond randomness alone would shuffle what was made in order, such as a message's files.
        _last = fresh = max(fresh, _last + 1)
    head, middle, tail = fresh >> 74, fresh >> 62 & 0xFFF, fresh & (1 << 62) - 1
    return UUID(int=head << 80 | 0x7 << 76 | middle << 64 | 0x2 << 62 | tail)
