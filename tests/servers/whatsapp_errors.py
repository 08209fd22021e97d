"""The errors of the Graph API, with the words and bodies it really uses."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]


@dataclass(frozen=True)
class Refusal:
    """An error the API answers: its status, its code, its words, and what it says of this case."""

    status: int
    code: int
    message: str
    details: str = ""
    kind: str = "OAuthException"
    subcode: int | None = None
    transient: bool | None = None
    headers: Mapping[str, str] = field(default_factory=dict)

    def body(self) -> Json:
        """The body as it travels."""
        error: Json = {"message": self.message, "type": self.kind, "code": self.code}
        if self.transient is not None:
            error["is_transient"] = self.transient
        if self.subcode is not None:
            error["error_subcode"] = self.subcode
        if self.details:
            error["error_data"] = {"messaging_product": "whatsapp", "details": self.details}
        return {"error": error | {"fbtrace_id": "A" + secrets.token_urlsafe(16)}}

    def as_status(self) -> Json:
        """The same error as a status webhook carries it."""
        title = self.message.partition(") ")[2] or self.message
        return {"code": self.code, "title": title, "message": title, "error_data": {"details": self.details}}


BAD_TOKEN = Refusal(401, 190, "Invalid OAuth access token - Cannot parse access token")
EXPIRED_TOKEN = Refusal(
    401, 190, "Error validating access token: Session has expired on Monday, 16-Nov-26 04:00:00 PST.", subcode=463
)
WINDOW_SHUT = Refusal(
    400, 131047, "(#131047) Re-engagement message",
    "Message failed to send because more than 24 hours have passed since the customer last replied to this number.",
)  # fmt: skip
PAIR_RATE = Refusal(
    400, 131056, "(#131056) (Business Account, Consumer Account) pair rate limit hit",
    "Message failed to send because there were too many messages sent from this phone number to the same phone number "
    "in a short period of time.",
)  # fmt: skip
THROUGHPUT = Refusal(429, 130429, "(#130429) Rate limit hit", "Cloud API message throughput has been reached.")
UNDELIVERABLE = Refusal(400, 131026, "(#131026) Message undeliverable", "Message Undeliverable.")
WENT_WRONG = Refusal(
    500, 131000, "(#131000) Something went wrong", "Message failed to send due to an unknown error.", transient=True
)
OVERLOADED = Refusal(503, 131016, "(#131016) Service unavailable", "Service unavailable", transient=True)
NO_TEMPLATE = Refusal(
    404, 132001, "(#132001) Template name does not exist in the translation",
    "template name (x) does not exist in en",
)  # fmt: skip


def unknown_object(name: str, method: str = "post") -> Refusal:
    """What a wrong number id is answered with."""
    return Refusal(
        400, 100,
        f"Unsupported {method} request. Object with ID '{name}' does not exist, cannot be loaded due to missing "
        "permissions, or does not support this operation. Please read the Graph API documentation at "
        "https://developers.facebook.com/docs/graph-api",
        kind="GraphMethodException", subcode=33,
    )  # fmt: skip


def invalid(details: str) -> Refusal:
    return Refusal(400, 131009, "(#131009) Parameter value is not valid", details)


def missing(details: str) -> Refusal:
    return Refusal(400, 131008, "(#131008) Required parameter is missing", details)


def parameter(words: str) -> Refusal:
    return Refusal(400, 100, f"(#100) {words}")
