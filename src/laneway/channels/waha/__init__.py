"""WhatsApp through a WAHA bridge, for numbers that are not on the Cloud API.

A bridge is somebody else's browser: it loses its session, tells an event twice or never, and calls one person by two
ids. So its history is read after every gap, everything is recognised by its own id, and the owner hears when the
session does not work. `ids` says who is who, `reading` what an event means, `hearing` takes it to the door, `history`
and `watch` look after the session, `pace` keeps the number from being banned.
"""

from __future__ import annotations

from laneway.channels.waha import pace, watch
from laneway.channels.waha.channel import Waha
from laneway.channels.waha.client import Bridge
from laneway.errors import SettingsError
from laneway.settings import Settings
from laneway.store.database import Database

__all__ = ["Waha", "waha_channel"]


def waha_channel(settings: Settings, db: Database) -> Waha | None:
    """The channel the settings describe, None if there is none; SettingsError says what it lacks."""
    if settings.waha_url is None:
        return None
    if settings.waha_hmac_key is None or not settings.waha_hmac_key.get_secret_value():
        raise SettingsError(
            "WAHA_URL is set, but not WAHA_HMAC_KEY: anybody could send messages in anybody's name.",
            hint="Choose a long random key, and give it to the bridge as hmac.key of its webhook.",
        )
    if not settings.waha_url.startswith(("http://", "https://")):
        raise SettingsError("WAHA_URL is no address.", hint="Write it like http://127.0.0.1:3000.")
    key = settings.waha_key.get_secret_value() if settings.waha_key else ""
    bridge = Bridge(settings.waha_url, key, settings.waha_session)
    return Waha(db, bridge, settings.waha_hmac_key.get_secret_value(), pace.HUMAN, watch.USUAL)
