"""What an answer of the Graph API means for a reply: try again, nobody knows, or never.

What is wrong with the account or its token is no fault of the reply: it waits until somebody has mended that.
"""

from __future__ import annotations

import httpx

from laneway.channels.whatsapp_cloud.fields import inner, text
from laneway.channels.whatsapp_cloud.reading import complaint
from laneway.errors import ModelFault, PermanentFault, TransientFault, UncertainFault

WINDOW_SHUT = 131047
PAIR_RATE, THROUGHPUT = 131056, 130429
PAUSES = {4: 60.0, 80007: 60.0, THROUGHPUT: 1.0, PAIR_RATE: 6.0, 131048: 600.0, 133016: 600.0}
"""Seconds to leave a limit alone before asking again."""

ACCOUNT_PAUSE = 60.0
ACCOUNT = {
    0: "The access token is not accepted. Make a new one and set WHATSAPP_TOKEN.",
    190: "The access token is wrong or has expired. Make a permanent one (docs/whatsapp.md) and set WHATSAPP_TOKEN.",
    3: "The app may not use this. Give it the permission whatsapp_business_messaging.",
    10: "The app may not use this. Give it the permission whatsapp_business_messaging.",
    368: "Meta has blocked the account for now. Look at the account quality in the WhatsApp manager.",
    131005: "The token may not send for this number. Give its system user the WhatsApp account.",
    131031: "Meta has locked the account. Look at the account quality in the WhatsApp manager.",
    131042: "Meta waits for a payment. Add a way to pay in the WhatsApp manager.",
    131045: "The number is not registered. Register it in the WhatsApp manager.",
    133010: "The number is not registered. Register it in the WhatsApp manager.",
}
"""What the owner has to mend, by the code Meta gives."""

WRONG_NUMBER_ID = (
    "WHATSAPP_PHONE_NUMBER_ID names no number this token may use. It is the long id in the API setup page, not the "
    "phone number."
)
PERSON = {
    WINDOW_SHUT: "the person last wrote more than 24 hours ago, and only a template may be sent then",
    131021: "the number is our own",
    131026: "the person cannot be reached on WhatsApp",
    131030: "the number is not on the test number's list of recipients",
    131049: "WhatsApp did not deliver it, to keep people from getting too much",
    131050: "the person does not want such messages",
    130472: "WhatsApp does not deliver to this person at the moment",
}
"""Why this person does not get this message, by the code Meta gives."""

_PASSING = frozenset({1, 2, 131000, 131016, 131057, 133004, 135000})


class WindowShut(PermanentFault):
    """Only a template may be sent to this person now."""


def of_response(response: httpx.Response) -> ModelFault:
    """The fault behind an answer that is no success."""
    error = _error(response)
    if error is None:
        return _of_status(response.status_code, _asked_pause(response))
    code = _number(text(error, "code", 12))
    said = f"WhatsApp says: {complaint(error)}."
    if code in PAUSES:
        return TransientFault(said, retry_after=max(PAUSES[code], _asked_pause(response) or 0))
    if code == 100 and text(error, "error_subcode") == "33":
        return TransientFault(said, hint=WRONG_NUMBER_ID, retry_after=ACCOUNT_PAUSE)
    if code in ACCOUNT or 200 <= code < 300:
        hint = ACCOUNT.get(code, "The token lacks a permission. Give it whatsapp_business_messaging.")
        return TransientFault(said, hint=hint, retry_after=ACCOUNT_PAUSE)
    if code in PERSON:
        return (WindowShut if code == WINDOW_SHUT else PermanentFault)(f"Not delivered: {PERSON[code]} ({code}).")
    if code in _PASSING or error.get("is_transient") is True or response.status_code in (429, 503):
        return TransientFault(said, retry_after=_asked_pause(response))
    if response.status_code >= 500:
        return TransientFault(said)
    return PermanentFault(said)


def of_transport(error: httpx.TransportError) -> ModelFault:
    """The fault behind a connection that failed: before the request left nothing can have been taken."""
    if isinstance(error, httpx.ConnectError | httpx.ConnectTimeout | httpx.PoolTimeout | httpx.UnsupportedProtocol):
        return TransientFault("WhatsApp cannot be reached.", hint="Check the network and LANEWAY_WHATSAPP_API_URL.")
    return UncertainFault("The connection to WhatsApp broke off before it had answered.")


def explained(code: int | None, said: str) -> str:
    """Why a message that WhatsApp had taken did not arrive."""
    return (
        f"Not delivered: {PERSON[code]} ({code})." if code in PERSON else f"Not delivered: {said or 'no reason given'}."
    )


def _of_status(status: int, pause: float | None) -> ModelFault:
    if status in (429, 503):
        return TransientFault(f"WhatsApp answers {status}: it is too busy.", retry_after=pause)
    if status >= 500:
        # A gateway in between may speak so after the message went through.
        return UncertainFault(f"WhatsApp answers {status} and does not say what became of the message.")
    return PermanentFault(f"WhatsApp answers {status} without a reason.")


def _error(response: httpx.Response) -> dict[str, object] | None:
    try:
        body = response.json()
    except ValueError:
        return None
    return inner(body, "error") or None


def _asked_pause(response: httpx.Response) -> float | None:
    given = response.headers.get("retry-after", "")
    return float(given) if given.isascii() and given.isdecimal() and len(given) < 6 else None


def _number(digits: str) -> int:
    return int(digits) if digits.isascii() and digits.isdecimal() else -1
