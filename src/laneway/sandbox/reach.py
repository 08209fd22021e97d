"""The sandbox's way out asks what http_request asks: which addresses does a host stand for, and may they be reached?"""

from __future__ import annotations

from laneway.errors import LanewayError
from laneway.sandbox.hosts import Allowed, Resolve, checked_addresses
from laneway.sandbox.proxy import HostClosed


class CheckedReach:
    """Reaches hosts of the open internet, and inner ones that the owner opened; a grant alone opens none of those."""

    def __init__(self, allowed: Allowed, resolve: Resolve | None = None) -> None:
        self._allowed, self._resolve = allowed, resolve

    async def addresses(self, host: str, port: int, granted: frozenset[str]) -> list[str]:
        """All addresses of the host, every one of them looked at; else HostClosed."""
        try:
            return [str(one) for one in await checked_addresses(host, port, self._allowed, self._resolve)]
        except LanewayError as refusal:
            raise HostClosed(str(refusal)) from None
