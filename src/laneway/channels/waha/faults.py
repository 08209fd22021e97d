"""What a bridge's errors mean for what we sent: certainly not taken, perhaps taken, or never going to be."""

from __future__ import annotations

import re
from typing import Any

import httpx

from laneway.errors import LanewayError, PermanentFault, TransientFault, UncertainFault

NOBODY = re.compile(r"no LID (?:found )?for|is not (?:registered|on WhatsApp)|number does not exist", re.IGNORECASE)
"""Words of engines for: there is nobody at this address."""

REFUSED = re.compile(r"server returned error (\d{3})")
"""GOWS's words for: WhatsApp itself did not take it."""

NEW_CONTACTS = {"463", "475"}
"""WhatsApp's codes for a number that may not write to new contacts for a while."""

AN_HOUR = 3600.0
_LONGEST = 200


def unreachable(error: httpx.TransportError) -> LanewayError:
    """A request that got no answer: before it was sent nothing can have happened, afterwards anything can."""
    if isinstance(error, httpx.ConnectError | httpx.ConnectTimeout | httpx.PoolTimeout | httpx.UnsupportedProtocol):
        return TransientFault("The bridge cannot be reached.", hint="Is it running, and is WAHA_URL right?")
    return UncertainFault(f"The bridge was cut off before it answered ({type(error).__name__}).")


def refused(answer: httpx.Response) -> LanewayError:
    """An answer that is no success."""
    status, says = answer.status_code, complaint(answer)
    if status in (401, 403):
        return TransientFault("The bridge refuses the key.", hint="Correct WAHA_API_KEY.", retry_after=60)
    if status == 404:
        return TransientFault(f"The bridge does not know this: {says}", hint="Is WAHA_SESSION right?", retry_after=30)
    if status == 422:
        return TransientFault(f"The bridge cannot do it now: {says}", retry_after=15)
    if status == 429:
        return TransientFault("The bridge asks for patience.", retry_after=_pause(answer))
    if status == 503:
        return TransientFault(f"The bridge is not ready: {says}")
    return _failed(says) if status >= 500 else PermanentFault(f"The bridge refuses it ({status}): {says}")


def _failed(says: str) -> LanewayError:
    if NOBODY.search(says):
        return PermanentFault(f"WhatsApp knows nobody there: {says}")
    found = REFUSED.search(says)
    if found and found[1] in NEW_CONTACTS:
        return TransientFault("WhatsApp lets this number write to no new contacts now.", retry_after=AN_HOUR)
    if found:
        return TransientFault(f"WhatsApp did not take it: {says}", hint="Restart the session if this stays.")
    return UncertainFault(f"The bridge failed while sending: {says}")


def complaint(answer: httpx.Response) -> str:
    """What the bridge says is wrong, in one short line."""
    try:
        body: Any = answer.json()
    except ValueError:
        body = {}
    body = body if isinstance(body, dict) else {}
    exception = body.get("exception")
    said = exception.get("message") if isinstance(exception, dict) else None
    said = said or body.get("message") or body.get("error") or f"status {answer.status_code}"
    said = "; ".join(map(str, said)) if isinstance(said, list) else str(said)
    status = f" ({body['status']})" if isinstance(body.get("status"), str) else ""
    return " ".join(f"{said}{status}".split())[:_LONGEST]


def _pause(answer: httpx.Response) -> float:
    given = answer.headers.get("retry-after", "")
    return min(AN_HOUR, float(given)) if given.isdecimal() else 10.0
