"""Journeys through the HTTP door use the same client as the tests of the door itself."""

from tests.web.conftest import opened

__all__ = ["opened"]
