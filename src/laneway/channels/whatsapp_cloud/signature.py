"""Whether a webhook really comes from Meta: secrets are compared in constant time, and never without one."""

from __future__ import annotations

import hashlib
import hmac

HEADER = "X-Hub-Signature-256"
_PREFIX = "sha256="


def signature(secret: str, raw: bytes) -> str:
    """The header Meta sends with these bytes."""
    return _PREFIX + hmac.new(secret.encode(), raw, hashlib.sha256).hexdigest()


def signed(secret: str, raw: bytes, header: str) -> bool:
    """Whether the header is the signature of exactly these bytes; without a secret nothing is."""
    return bool(secret) and hmac.compare_digest(signature(secret, raw).encode(), header.encode("utf-8", "replace"))


def verified(expected: str, mode: str, token: str) -> bool:
    """Whether somebody who knows our verify token asks to subscribe; without a token nobody does."""
    right = hmac.compare_digest(expected.encode(), token.encode("utf-8", "replace"))
    return bool(expected) and mode == "subscribe" and right
