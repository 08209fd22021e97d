"""A granted host is reached at addresses that were checked, and a grant alone opens nothing inside."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Iterable
from urllib.parse import urlsplit

import pytest
from starlette.responses import PlainTextResponse

from laneway.sandbox.hosts import Allowed
from laneway.sandbox.proxy import HostClosed, Proxy
from laneway.sandbox.reach import CheckedReach
from tests.servers.pages import Pages


async def here(host: str, port: int) -> Iterable[str]:
    return ["127.0.0.1"]


async def through(proxy: Proxy, url: str) -> str:
    way = urlsplit(proxy.environment["HTTP_PROXY"])
    password = base64.b64encode(f"{way.username}:{way.password}".encode()).decode()
    reader, writer = await asyncio.open_connection("127.0.0.1", proxy.port)
    writer.write(f"GET {url} HTTP/1.1\r\nProxy-Authorization: Basic {password}\r\n\r\n".encode())
    await writer.drain()
    answer = (await reader.read()).decode()
    writer.close()
    return answer


async def test_the_proxy_goes_to_what_was_granted_and_checked() -> None:
    with Pages() as web:
        web.pages["/"] = PlainTextResponse("hello from inside")
        granted = frozenset({f"site.example:{web.port}"})
        opened = CheckedReach(Allowed.of([f"127.0.0.1:{web.port}"]), here)
        async with Proxy.on_loopback(granted, opened) as proxy:
            assert "hello from inside" in await through(proxy, web.at("site.example"))
        async with Proxy.on_loopback(granted, CheckedReach(Allowed(), here)) as proxy:
            refused = await through(proxy, web.at("site.example"))
        assert " 403 " in refused
        assert "this machine" in refused
        assert len(web.visits) == 1


async def test_a_grant_alone_opens_nothing_inside() -> None:
    with pytest.raises(HostClosed, match="LANEWAY_ALLOWED_HOSTS"):
        await CheckedReach(Allowed(), here).addresses("wiki.intern", 80, frozenset({"wiki.intern"}))
