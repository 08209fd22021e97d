"""An MCP server behind an address: nothing of this machine's logins goes there, and its answers are bounded."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mcp.client import Transport
    from mcp.client._transport import TransportStreams

MOST_BYTES = 8_000_000


def http_transport(url: str, headers: Mapping[str, str], seconds: float) -> Transport:
    """The connection to the server, as the client library wants it; redirects stay within its origin."""
    return _connected(url, headers, seconds)


@asynccontextmanager
async def _connected(url: str, headers: Mapping[str, str], seconds: float) -> AsyncIterator[TransportStreams]:
    import httpx2
    from mcp.client.streamable_http import streamable_http_client

    class Bounded(httpx2.AsyncHTTPTransport):
        """Gives up on a body that is packed or does not end."""

        async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
            response = await super().handle_async_request(request)
            if response.headers.get("content-encoding", "identity").lower() != "identity":
                await response.aclose()
                raise httpx2.DecodingError("it packs its answers", request=request)
            # Of a stream of events the library itself bounds each one.
            if not response.headers.get("content-type", "").startswith("text/event-stream"):
                response.stream = Counted(response.stream)
            return response

    class Counted(httpx2.AsyncByteStream):
        def __init__(self, inner: object) -> None:
            assert isinstance(inner, httpx2.AsyncByteStream)
            self._inner = inner

        async def __aiter__(self) -> AsyncIterator[bytes]:
            taken = 0
            async for chunk in self._inner:
                taken += len(chunk)
                if taken > MOST_BYTES:
                    raise httpx2.ReadError("its answer does not end")
                yield chunk

        async def aclose(self) -> None:
            await self._inner.aclose()

    # Long enough for the slowest call; each call has its own limit besides.
    patience = httpx2.Timeout(10, read=seconds + 5)
    plain = {**headers, "Accept-Encoding": "identity"}
    async with (
        httpx2.AsyncClient(headers=plain, timeout=patience, trust_env=False, transport=Bounded()) as client,
        streamable_http_client(url, http_client=client) as streams,
    ):
        yield streams
