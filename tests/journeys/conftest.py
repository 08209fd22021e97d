"""Journeys through the HTTP door use the same client as the tests of the door, and the same boundaries as its own."""

from tests.sandboxing import boundary, strong, strongest
from tests.web.conftest import opened

__all__ = ["boundary", "opened", "strong", "strongest"]
