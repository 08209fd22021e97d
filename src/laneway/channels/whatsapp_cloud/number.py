"""The business number as its owner set it up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from laneway.errors import SettingsError


@dataclass(frozen=True, slots=True)
class Number:
    """Where the number lives, what opens it, and what is sent when a person last wrote over a day ago."""

    id: str
    token: str = field(repr=False)
    app_secret: str = field(repr=False)
    verify_token: str = field(repr=False)
    api_url: str
    template: str = ""
    language: str = "en"
    fees: Mapping[str, Decimal] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Without its secrets a number is open to anybody who finds it, so it does not start."""
        needed = {
            "WHATSAPP_APP_SECRET": self.app_secret,
            "WHATSAPP_VERIFY_TOKEN": self.verify_token,
            "WHATSAPP_PHONE_NUMBER_ID": self.id,
        }
        missing = [name for name, value in needed.items() if not value]
        if missing:
            raise SettingsError(
                f"WHATSAPP_TOKEN is set, but {' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} not.",
                hint="Set it, or unset WHATSAPP_TOKEN; docs/whatsapp.md says where to find it.",
            )
