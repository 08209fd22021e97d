"""WhatsApp by Meta's Cloud API: a business number that answers its customers.

`signature.py` lets only Meta in; `reading.py` and `kinds.py` read its webhooks; `receiving.py` takes each message to
the door and each status to the reply it is about; `composing.py`, `formatting.py` and `splitting.py` shape replies
within WhatsApp's limits; `graph.py` and `faults.py` speak with the API; `channel.py` sends, by a template when the
person's 24 hours have passed.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from pydantic import SecretStr

from laneway.settings import Settings
from laneway.store.artifacts import Artifacts
from laneway.store.database import Database

if TYPE_CHECKING:
    from laneway.channels.whatsapp_cloud.channel import WhatsAppCloudChannel

PATH = "/whatsapp/webhook"
"""Where Meta finds this server, behind its public address."""


def whatsapp_channel(settings: Settings, db: Database, originals: Artifacts) -> WhatsAppCloudChannel | None:
    """The number the settings name, or None without a token; SettingsError if the token comes without its secrets."""
    if settings.whatsapp_token is None:
        return None
    from laneway.channels.whatsapp_cloud.channel import WhatsAppCloudChannel
    from laneway.channels.whatsapp_cloud.number import Number

    number = Number(
        settings.whatsapp_number_id or "",
        _plain(settings.whatsapp_token),
        _plain(settings.whatsapp_app_secret),
        _plain(settings.whatsapp_verify_token),
        settings.whatsapp_api_url,
        settings.whatsapp_template or "",
        settings.whatsapp_template_language,
        {category: Decimal(str(fee)) for category, fee in settings.whatsapp_fees.items()},
    )

    async def original(ref: str) -> bytes:
        return (await originals.read(ref)).content

    return WhatsAppCloudChannel(db, number, original=original)


def _plain(secret: SecretStr | None) -> str:
    return "" if secret is None else secret.get_secret_value().strip()
