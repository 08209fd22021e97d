"""How a request to a web server is told to people and events, and whether a person named where it goes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import httpx

from laneway.domain.conversation import Message
from laneway.domain.redaction import HIDDEN
from laneway.domain.redaction import redacted as hidden
from laneway.sandbox.exchange import LONGEST_URL

_HARMLESS = frozenset({"accept", "accept-language", "content-type", "user-agent", "if-none-match", "range"})
_SECRET = re.compile(r"auth|token|secret|passw|cookie|session|credential|sig|key|code", re.IGNORECASE)
_PARAMETER = re.compile(r"([?&;][^=&;#?]{0,200})=[^&;#]*")


def redacted(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments as they may be written down: of headers only the harmless ones, no key in address or body."""
    told: dict[str, Any] = hidden(dict(arguments))
    if isinstance(headers := told.get("headers"), Mapping):
        told["headers"] = {name: value if name.lower() in _HARMLESS else HIDDEN for name, value in headers.items()}
    if isinstance(told.get("url"), str):
        told["url"] = without_keys(told["url"][:LONGEST_URL])
    return told


def shown(url: httpx.URL) -> str:
    """The address without what may be a secret in its query."""
    return without_keys(str(url))[:300]


def without_keys(address: str) -> str:
    """The address with the values of all parameters hidden that sound like keys."""
    return _PARAMETER.sub(lambda part: f"{part[1]}={HIDDEN}" if _SECRET.search(part[1]) else part[0], address)


def named(host: str, address: str, message: Message, sources: Sequence[str]) -> bool:
    """Whether the owner's own words name this host and, once others have spoken in this turn, this very address."""
    if any(message.meta.get(key) for key in ("forwarded", "voice", "sources")):
        return False
    if sources and address not in message.text:
        return False
    said = message.text.lower()
    return re.search(rf"(?<![\w.-]){re.escape(host.lower())}(?![\w-]|\.\w)", said) is not None
