"""What `laneway doctor` says of the bridge to WhatsApp, step by step as `docs/whatsapp-bridge.md` sets it up."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Any
from urllib.parse import urlsplit

from laneway.cli.checks import Finding
from laneway.errors import ModelFault, SettingsError
from laneway.settings import Settings

PATH = "/waha/webhook"
WANTED = "message"


async def bridge(settings: Settings) -> AsyncIterator[Finding]:
    """One finding for each step; none if there is no bridge."""
    from laneway.channels.waha import waha_channel
    from laneway.store.database import Database

    if settings.waha_url is None:
        return
    try:
        # Nothing is asked of the database, so it is never opened.
        channel = waha_channel(settings, Database("postgresql://"))
    except SettingsError as error:
        yield Finding("bridge settings", "fail", error.message, error.hint)
        return
    assert channel is not None
    yield keys(settings.waha_key is not None)
    try:
        session = await channel.bridge.status()
        yield Finding("bridge", "ok", f"It answers at {place(settings.waha_url)} and takes the key.")
        yield session_works(session.name, session.status)
        yield webhook(await channel.bridge.webhooks())
    except ModelFault as error:
        yield Finding("bridge", "fail", error.message, error.hint or "Is it running?")
    finally:
        await channel.close()


def keys(has_key: bool) -> Finding:
    """Whether both keys are there; the one for signatures must be, or nothing starts."""
    if has_key:
        return Finding("bridge keys", "ok", "There is a key for its API and one for its signatures.")
    return Finding("bridge keys", "warn", "Its API needs no key.", "Give the bridge a key, and set WAHA_API_KEY.")


def session_works(name: str, status: str) -> Finding:
    """Whether WhatsApp can be reached through the session."""
    from laneway.channels.waha.watch import ADVICE

    if status == "WORKING":
        return Finding("bridge session", "ok", f"The session {name} works.")
    advice = ADVICE.get(status, "Look at the bridge's dashboard.")
    return Finding("bridge session", "fail", f"The session {name} is {status}.", advice)


def webhook(hooks: Sequence[dict[str, Any]]) -> Finding:
    """Whether the session tells us what is said, signed."""
    ours = [hook for hook in hooks if str(hook.get("url", "")).split("?")[0].endswith(PATH)]
    if not ours:
        return Finding(
            "bridge webhook", "warn", "The session has no webhook of ours; a global one is not shown here.",
            f"Give the session a webhook to https://YOUR-SERVER{PATH} with hmac.key, or set WHATSAPP_HOOK_URL.",
        )  # fmt: skip
    if not any(hook.get("hmac") for hook in ours):
        return Finding("bridge webhook", "fail", "Its webhook is not signed.", "Set its hmac.key to WAHA_HMAC_KEY.")
    if not any(event in (WANTED, "message.any", "*") for hook in ours for event in hook.get("events") or []):
        return Finding("bridge webhook", "fail", "Its webhook is not told of messages.", "Add the event `message`.")
    return Finding("bridge webhook", "ok", "The session tells us what is said, signed.")


def place(url: str) -> str:
    """The address without anything secret in it."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.hostname}{f':{parts.port}' if parts.port else ''}"
