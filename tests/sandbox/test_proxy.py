"""Granted hosts: reached through the proxy from inside, and no others, by no other way."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import httpx
import pytest
from starlette.responses import PlainTextResponse

from laneway.sandbox.bubblewrap import Bubblewrap
from laneway.sandbox.confined import Confined
from laneway.sandbox.contract import Boundary, Grant
from laneway.sandbox.hosts import Allowed
from laneway.sandbox.proxy import Proxy, is_granted, parsed
from laneway.sandbox.reach import CheckedReach
from tests.sandboxing import SMALL, WALLS, boundary_called, open_folder, python
from tests.servers.pages import Pages


class Everywhere:
    """A reach for which every name stands for this machine."""

    async def addresses(self, host: str, port: int, granted: frozenset[str]) -> list[str]:
        return ["127.0.0.1"]


@pytest.fixture
def web(web: Pages) -> Pages:
    web.pages |= dict.fromkeys(("/", "/page", "/secret"), PlainTextResponse("hello from the site"))
    return web


@pytest.fixture(params=WALLS[:3])
async def boundary(request: pytest.FixtureRequest) -> Boundary:
    """Those that can tell hosts apart."""
    name, namespaces = request.param
    return await boundary_called(name, namespaces=namespaces)


@pytest.fixture
def workspace() -> Iterator[Path]:
    """A folder that everybody can get to, as filters alone need it."""
    with open_folder() as folder:
        yield folder


def reaching(boundary: Boundary, reach: object) -> Boundary:
    """The same boundary with another reach."""
    if isinstance(boundary, Confined):
        return replace(boundary, reach=reach)  # type: ignore[arg-type]
    assert isinstance(boundary, Bubblewrap)
    return Bubblewrap(boundary._program, reach)  # type: ignore[arg-type]


FETCH = """
import urllib.request, urllib.error
for url in {urls!r}:
    try: print(urllib.request.urlopen(url, timeout=10).read().decode())
    except urllib.error.HTTPError as error: print(error.code, error.reason)
    except OSError as error: print("failed", error)
"""


async def fetched(boundary: Boundary, workspace: Path, urls: list[str], *hosts: str, reach: object) -> list[str]:
    """What a program inside gets from these addresses, with these hosts granted."""
    command, grant = python(FETCH.format(urls=urls)), Grant(frozenset(hosts))
    ran = await reaching(boundary, reach).run(command, workspace=workspace, limits=SMALL, grant=grant)
    return ran.stdout.splitlines()


async def test_a_granted_host_is_reached_and_no_other_host_or_port(
    boundary: Boundary, workspace: Path, web: Pages
) -> None:
    place = f"docs.example:{web.port}"
    urls = [f"http://{place}/page?x=1", web.at("other.example"), web.at("usual.example")]
    told = await fetched(boundary, workspace, urls, place, "usual.example", reach=Everywhere())
    assert told == [
        "hello from the site",
        f"403 other.example:{web.port} was not granted to this command.",
        f"403 usual.example:{web.port} was not granted to this command.",
    ]
    [visit] = web.visits
    assert (visit.path, visit.query, visit.headers["host"]) == ("/page", "x=1", place)
    assert not {"proxy-authorization", "proxy-connection"} & set(visit.headers)


async def test_a_grant_alone_opens_no_inner_address(boundary: Boundary, workspace: Path, web: Pages) -> None:
    async def inside(host: str, port: int) -> list[str]:
        return ["127.0.0.1"]

    name, address = f"inner.example:{web.port}", f"127.0.0.1:{web.port}"
    urls = [f"http://{name}/", f"http://{address}/"]
    closed = await fetched(boundary, workspace, urls, name, address, reach=CheckedReach(Allowed(), inside))
    assert "403 inner.example leads to 127.0.0.1, which is this machine" in closed[0]
    assert "403 127.0.0.1 is this machine" in closed[1]
    assert web.visits == []
    opened = CheckedReach(Allowed.of([address]), inside)
    assert await fetched(boundary, workspace, urls, name, address, reach=opened) == ["hello from the site"] * 2


async def test_the_proxy_is_the_only_way(boundary: Boundary, workspace: Path, web: Pages) -> None:
    command = f"unset HTTP_PROXY http_proxy ALL_PROXY all_proxy; echo x > /dev/tcp/127.0.0.1/{web.port} && echo out"
    grant = Grant(frozenset({f"docs.example:{web.port}"}))
    ran = await reaching(boundary, Everywhere()).run(command, workspace=workspace, limits=SMALL, grant=grant)
    assert "out" not in ran.stdout
    assert web.visits == []


async def test_tunnels_for_https_lead_to_granted_hosts_only(boundary: Boundary, workspace: Path, web: Pages) -> None:
    command = python(f"""
        import base64, os, socket
        from urllib.parse import urlsplit
        proxy = urlsplit(os.environ["HTTPS_PROXY"])
        login = base64.b64encode(f"{{proxy.username}}:{{proxy.password}}".encode()).decode()
        for host in ("docs.example", "other.example"):
            with socket.create_connection((proxy.hostname, proxy.port)) as s:
                login_line = f"Proxy-Authorization: Basic {{login}}"
                s.sendall(f"CONNECT {{host}}:{web.port} HTTP/1.1\\r\\n{{login_line}}\\r\\n\\r\\n".encode())
                print(s.recv(1000).decode().split("\\r\\n")[0])
                s.sendall(b"GET /secret HTTP/1.0\\r\\nHost: x\\r\\n\\r\\n"); s.recv(1000)
    """)
    grant = Grant(frozenset({f"docs.example:{web.port}"}))
    ran = await reaching(boundary, Everywhere()).run(command, workspace=workspace, limits=SMALL, grant=grant)
    told = ran.stdout.splitlines()
    assert told[0] == "HTTP/1.1 200 Connection established", ran.stderr
    assert told[1].startswith("HTTP/1.1 403 other.example")
    assert [visit.path for visit in web.visits] == ["/secret"]


async def test_whoever_finds_the_proxy_on_loopback_needs_its_password(web: Pages) -> None:
    url = web.at("docs.example")
    async with Proxy.on_loopback(frozenset({f"docs.example:{web.port}"}), Everywhere()) as proxy:
        async with httpx.AsyncClient(proxy=f"http://127.0.0.1:{proxy.port}") as stranger:
            assert (await stranger.get(url)).status_code == 407
        async with httpx.AsyncClient(proxy=proxy.environment["HTTP_PROXY"]) as known:
            assert (await known.get(url)).text == "hello from the site"


def test_a_host_without_a_port_means_the_usual_two_and_what_is_no_host_is_not_granted() -> None:
    assert [is_granted("docs.example", port, ["Docs.Example."]) for port in (80, 443, 8080)] == [True, True, False]
    assert is_granted("::1", 8080, ["[::1]:8080"])
    for entry in ("", "a b", "http://x", "x/y", "x:0", "x:99999", "*", "x:y", "a\nb", "[::1"):
        with pytest.raises(ValueError):
            parsed(entry)
