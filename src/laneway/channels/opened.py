"""Which pushed channels are open: those whose settings are there."""

from __future__ import annotations

from laneway.channels.contract import Channel
from laneway.channels.people import Welcome
from laneway.channels.waha import waha_channel
from laneway.channels.whatsapp_cloud import whatsapp_channel
from laneway.engine.stream import Hub
from laneway.settings import Settings
from laneway.store.artifacts import Artifacts
from laneway.store.database import Database


def opened(settings: Settings, db: Database, hub: Hub, originals: Artifacts) -> dict[str, Channel]:
    """The channels that the settings name, by their names; SettingsError says what one of them lacks."""
    found: list[Channel | None] = [whatsapp_channel(settings, db, originals), waha_channel(settings, db)]
    if settings.telegram_token is not None:
        # Loaded only where it is used: the client is heavy.
        from laneway.channels.telegram.whole import telegram_channel

        found.append(telegram_channel(settings, db, hub))
    if settings.redis_url is not None:
        # Without an address of a Redis, its client is never loaded.
        from laneway.channels.redis_queue.channel import redis_channel

        found.append(redis_channel(settings, db, originals))
    return {channel.name: channel for channel in found if channel is not None}


def welcome(settings: Settings) -> dict[str, Welcome]:
    """Whom each channel lets in."""
    return {
        "telegram": Welcome(
            frozenset(settings.telegram_owners), frozenset(settings.telegram_operators), settings.telegram_customers
        ),
        "whatsapp": Welcome(
            frozenset(settings.whatsapp_owners), frozenset(settings.whatsapp_operators), settings.whatsapp_customers
        ),
        "waha": Welcome(frozenset(settings.waha_owners), frozenset(settings.waha_operators), settings.waha_customers),
    }
