"""Whether a webhook comes from our bridge: HMAC-SHA512 over the raw body, compared in constant time."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping

from laneway.errors import Unauthorized

HEADER, ALGORITHM = "x-webhook-hmac", "x-webhook-hmac-algorithm"


def sign(key: str, body: bytes) -> str:
    """The signature the bridge puts beside this body."""
    return hmac.new(key.encode(), body, hashlib.sha512).hexdigest()


def verify(key: str, body: bytes, headers: Mapping[str, str]) -> None:
    """Returns only if the body is signed with our key; header names are in lower case."""
    given = headers.get(HEADER, "").strip().lower()
    algorithm = headers.get(ALGORITHM, "").strip().lower()
    # Compared even when the rest is wrong: the time an answer takes tells nothing.
    same = hmac.compare_digest(given.encode("utf-8", "replace"), sign(key, body).encode())
    if key and same and algorithm == "sha512":
        return
    raise Unauthorized(
        "The signature of this webhook is missing or wrong.",
        hint="Give the bridge the same key as WAHA_HMAC_KEY (hmac.key of its webhook).",
    )
