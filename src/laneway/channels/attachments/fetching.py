"""Getting a file from its provider: a fault that may pass is waited out for a while."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from laneway.channels.attachments.documents.contract import Unreadable
from laneway.errors import LanewayError, NotFound, PermanentFault, TooLarge, TransientFault, UncertainFault

Fetch = Callable[[dict[str, Any], int], Awaitable[bytes]]
Sleep = Callable[[float], Awaitable[None]]
ATTEMPTS, FIRST_WAIT, LONGEST_WAIT, LONGEST_FETCH = 4, 1.0, 30.0, 60.0


class Fetching:
    """Fetches by the channel a message came from."""

    def __init__(self, channels: Mapping[str, Fetch], most_bytes: int, sleep: Sleep = asyncio.sleep) -> None:
        self._channels, self._most, self._sleep = channels, most_bytes, sleep

    async def fetch(self, channel: str, source: dict[str, Any], size: int) -> bytes:
        """The bytes of the file, or Unreadable."""
        fetch = self._channels.get(channel)
        if fetch is None:
            raise Unreadable(f"the channel {channel} is switched off, so it could not be fetched")
        if size > self._most:
            raise Unreadable(too_large(self._most))
        content = await self._patiently(fetch, source)
        if len(content) > self._most:
            raise Unreadable(too_large(self._most))
        return content

    async def _patiently(self, fetch: Fetch, source: dict[str, Any]) -> bytes:
        tried = 0
        while True:
            tried += 1
            try:
                async with asyncio.timeout(LONGEST_FETCH):
                    return await fetch(source, self._most)
            except TooLarge as error:
                raise Unreadable(too_large(self._most)) from error
            except (TransientFault, UncertainFault, TimeoutError) as error:
                asked = error.retry_after if isinstance(error, LanewayError) else None
                wait = asked if asked is not None else FIRST_WAIT * 2 ** (tried - 1)
                if tried >= ATTEMPTS or wait > LONGEST_WAIT:
                    raise Unreadable("its provider does not give it out now") from error
                await self._sleep(wait)
            except (PermanentFault, NotFound) as error:
                raise Unreadable("its provider does not have it any more") from error


def too_large(most: int) -> str:
    """Why a file was not taken."""
    return f"it is larger than the {most / 1_000_000:.3g} MB that are taken"
