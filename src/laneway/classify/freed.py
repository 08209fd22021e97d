"""Memory that reading weights took for a moment goes back to the system, where the C library can be told so."""

from __future__ import annotations

import ctypes
import gc


def give_back() -> None:
    """Nothing that is no longer used is held; where nobody can be told, nothing happens."""
    gc.collect()
    try:
        ctypes.CDLL(None).malloc_trim(0)
    except (AttributeError, OSError, TypeError):
        return
