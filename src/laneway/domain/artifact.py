"""What an artifact is called: by the hash of its bytes."""

from __future__ import annotations

import hashlib

SCHEME = "artifact://sha256/"


def reference(content: bytes) -> str:
    """What this content is called."""
    return SCHEME + hashlib.sha256(content).hexdigest()
