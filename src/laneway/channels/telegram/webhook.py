"""The webhook: Telegram posts updates to us, and shows by a secret that it is Telegram."""

from __future__ import annotations

import hmac
import json
import logging
import re
import time
from collections.abc import Awaitable, Callable
from urllib.parse import urlsplit

from laneway.channels.telegram.fields import Fields
from laneway.errors import SettingsError, Unauthorized

HEADER = "X-Telegram-Bot-Api-Secret-Token"
PATH = "/telegram/webhook"
PORTS = (443, 80, 88, 8443)
QUIET_SECONDS = 60.0
"""So long one warning about strangers is enough."""

_SECRET = re.compile(r"[A-Za-z0-9_-]{1,256}")
_log = logging.getLogger("laneway.telegram")

HOW_TO_GET_ONE = (
    "`laneway telegram setup` offers one to put into .env as TELEGRAM_WEBHOOK_SECRET; "
    "or set LANEWAY_TELEGRAM_MODE=polling."
)


class Webhook:
    """Lets in what Telegram posts, and nothing else."""

    def __init__(self, secret: str | None, take: Callable[[Fields], Awaitable[None]]) -> None:
        self._secret, self._take = checked_secret(secret), take
        self._warned_at = float("-inf")

    def check(self, presented: str) -> None:
        """Returns only if Telegram's secret was presented; neither it nor what was presented is told to anybody."""
        if opens(self._secret, presented):
            return
        if time.monotonic() - self._warned_at > QUIET_SECONDS:
            self._warned_at = time.monotonic()
            _log.warning("Somebody posts to Telegram's webhook without its secret; nothing of it is taken.")
        raise Unauthorized(
            "This is not Telegram's secret.", hint="`laneway telegram setup` tells Telegram the right one."
        )

    async def receive(self, body: bytes) -> None:
        """What the body brings is committed; Unavailable means that Telegram has to post it again."""
        update = update_in(body)
        if update is not None:
            await self._take(update)


def checked_secret(secret: str | None) -> str:
    """The secret, if it can be one; a webhook without one would believe anybody, so nothing starts without."""
    if not secret:
        raise SettingsError("Telegram's webhook has no secret, so anybody could post to it.", hint=HOW_TO_GET_ONE)
    if _SECRET.fullmatch(secret) is None:
        raise SettingsError(
            "TELEGRAM_WEBHOOK_SECRET must be 1 to 256 letters, digits, `_` and `-`.",
            hint="`laneway telegram setup` offers one.",
        )
    return secret


def checked_url(public_url: str | None) -> str:
    """The address Telegram shall post to, or SettingsError if it could not."""
    how = "Set LANEWAY_PUBLIC_URL to the https address of this server, like https://bot.example.org."
    if not public_url:
        raise SettingsError("For the webhook, Telegram must know the address of this server.", hint=how)
    parts = urlsplit(public_url)
    try:
        host, port = parts.hostname, parts.port or 443
    except ValueError:
        host, port = None, 0
    if parts.scheme != "https" or not host:
        raise SettingsError("Telegram posts to https addresses only, and this server's public_url is none.", hint=how)
    if port not in PORTS:
        raise SettingsError(
            f"Telegram does not post to port {port}, only to {', '.join(map(str, PORTS))}.",
            hint="Put a proxy on one of these ports, or set LANEWAY_TELEGRAM_MODE=polling.",
        )
    return f"{public_url.rstrip('/')}{PATH}"


def opens(secret: str, presented: str) -> bool:
    """Whether the secret presented is ours; how long that takes tells nothing about it."""
    return hmac.compare_digest(secret.encode(), presented.encode("utf-8", "replace"))


def update_in(body: bytes) -> Fields | None:
    """The update in a body; None if there is none, which the log then tells."""
    try:
        update = json.loads(body)
    except (ValueError, RecursionError):
        # UnicodeDecodeError is a ValueError, too.
        update = None
    if not isinstance(update, dict):
        # Refused, Telegram would repeat it for a day.
        _log.warning("The webhook received %d bytes that are no update; nothing can be done with them.", len(body))
        return None
    return update
