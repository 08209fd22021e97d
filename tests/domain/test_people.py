"""Names and addresses as providers and people write them."""

from __future__ import annotations

import pytest

from laneway.domain.people import canonical, cleaned, full_address
from laneway.errors import BadInput

NAMES = {
    "  Ann \n\t Lee ": "Ann Lee",
    "\u202eevil\u202c\x00\x1b[31m": "evil[31m",
    "a\u200bb": "ab",
    "x" * 300: "x" * 80,
    "\u200b\u202e": "7",
    "": "7",
}
ADDRESSES = {
    "telegram:123456": "telegram:123456",
    "whatsapp:+49 151 1234-5678": "whatsapp:4915112345678",
    "whatsapp:DE.ab12": "whatsapp:DE.ab12",
    "waha:+49 (151) 12345678": "waha:4915112345678@c.us",
    "waha:4915112345678@s.whatsapp.net": "waha:4915112345678@c.us",
    "waha:4915112345678@lid": "waha:4915112345678@lid",
    "http:ann": "http:ann",
}


def test_a_name_keeps_only_what_can_be_seen() -> None:
    assert {told: cleaned(told, "7") for told in NAMES} == NAMES


def test_an_address_has_one_spelling() -> None:
    assert {given: full_address(given) for given in ADDRESSES} == ADDRESSES
    for stored in ADDRESSES.values():
        channel, _, name = stored.partition(":")
        assert canonical(channel, name) == name
    for given in ("", "123456", "telegram:", "Telegram:1", ":1", "telegram:\x07", "telegram:" + "1" * 200):
        with pytest.raises(BadInput, match="no address"):
            full_address(given)
