"""Meta's Graph API on loopback."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.servers.whatsapp_server import WhatsAppServer


@pytest.fixture
def server() -> Iterator[WhatsAppServer]:
    """The API of one number."""
    with WhatsAppServer() as running:
        yield running
