"""Granted hosts: reached through the proxy from inside, and no others, by no other way."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from laneway.sandbox.bubblewrap import Bubblewrap
from laneway.sandbox.confined import Confined
from laneway.sandbox.contract import Boundary, Grant, Ran
from laneway.sandbox.hosts import Allowed
from laneway.sandbox.proxy import Proxy, is_granted, parsed
from laneway.sandbox.reach import CheckedReach
from tests.sandboxing import SMALL, boundary_called, python


class Site(ThreadingHTTPServer):
    """A web site that remembers what it was asked."""

    daemon_threads = True

    def __init__(self) -> None:
        self.asked: list[tuple[str, str, str]] = []
        super().__init__(("127.0.0.1", 0), Page)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def port(self) -> int:
        return int(self.server_address[1])


class Page(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        assert isinstance(self.server, Site)
        told = self.headers.get("Proxy-Authorization", "") + self.headers.get("Proxy-Connection", "")
        self.server.asked.append((self.path, self.headers["Host"], told))
        body = b"hello from the site"
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


class Everywhere:
    """A reach for which every name stands for this machine."""

    async def addresses(self, host: str, port: int, granted: frozenset[str]) -> list[str]:
        return ["127.0.0.1"]


@pytest.fixture(params=["bubblewrap", "sandlock"])
async def boundary(request: pytest.FixtureRequest) -> Boundary:
    """Those that can tell hosts apart."""
    return await boundary_called(request.param)


@pytest.fixture
def site() -> Iterator[Site]:
    with Site() as served:
        yield served
        served.shutdown()


def reaching(boundary: Boundary, reach: object) -> Boundary:
    """The same boundary with another reach."""
    if isinstance(boundary, Confined):
        return replace(boundary, reach=reach)  # type: ignore[arg-type]
    assert isinstance(boundary, Bubblewrap)
    return Bubblewrap(boundary._program, reach)  # type: ignore[arg-type]


async def fetched(boundary: Boundary, workspace: Path, url: str, *hosts: str, reach: object) -> Ran:
    """What a program inside gets from this address, with these hosts granted."""
    command = python(f"""
        import urllib.request, urllib.error
        try: print(urllib.request.urlopen({url!r}, timeout=10).read().decode())
        except urllib.error.HTTPError as error: print(error.code, error.reason)
        except OSError as error: print("failed", error)
    """)
    return await reaching(boundary, reach).run(
        command, workspace=workspace, limits=SMALL, grant=Grant(frozenset(hosts))
    )


async def test_a_granted_host_is_reached(boundary: Boundary, workspace: Path, site: Site) -> None:
    place = f"docs.example:{site.port}"
    ran = await fetched(boundary, workspace, f"http://{place}/page?x=1", place, reach=Everywhere())
    assert ran.stdout == "hello from the site\n", ran.stderr
    assert site.asked == [("/page?x=1", place, "")]


async def test_a_host_that_was_not_granted_is_not_reached(boundary: Boundary, workspace: Path, site: Site) -> None:
    ran = await fetched(
        boundary, workspace, f"http://other.example:{site.port}/", f"docs.example:{site.port}", reach=Everywhere()
    )
    assert f"403 other.example:{site.port} was not granted" in ran.stdout
    assert site.asked == []


async def test_another_port_of_a_granted_host_is_not_reached(boundary: Boundary, workspace: Path, site: Site) -> None:
    ran = await fetched(boundary, workspace, f"http://docs.example:{site.port}/", "docs.example", reach=Everywhere())
    assert "was not granted" in ran.stdout
    assert site.asked == []


async def test_a_grant_alone_opens_no_inner_address(boundary: Boundary, workspace: Path, site: Site) -> None:
    async def inside(host: str, port: int) -> list[str]:
        return ["127.0.0.1"]

    name, address = f"inner.example:{site.port}", f"127.0.0.1:{site.port}"
    refused = await fetched(boundary, workspace, f"http://{name}/", name, reach=CheckedReach(Allowed(), inside))
    assert "403 inner.example leads to 127.0.0.1, which is this machine" in refused.stdout
    refused = await fetched(boundary, workspace, f"http://{address}/", address, reach=CheckedReach(Allowed()))
    assert "403 127.0.0.1 is this machine" in refused.stdout
    assert site.asked == []
    opened = CheckedReach(Allowed.of([address]))
    assert (await fetched(boundary, workspace, f"http://{address}/", address, reach=opened)).stdout == (
        "hello from the site\n"
    )


async def test_the_proxy_is_the_only_way(boundary: Boundary, workspace: Path, site: Site) -> None:
    command = f"unset HTTP_PROXY http_proxy ALL_PROXY all_proxy; echo x > /dev/tcp/127.0.0.1/{site.port} && echo out"
    grant = Grant(frozenset({f"docs.example:{site.port}"}))
    ran = await reaching(boundary, Everywhere()).run(command, workspace=workspace, limits=SMALL, grant=grant)
    assert "out" not in ran.stdout
    assert site.asked == []


async def test_tunnels_for_https_lead_to_granted_hosts_only(boundary: Boundary, workspace: Path, site: Site) -> None:
    command = python(f"""
        import base64, os, socket
        from urllib.parse import urlsplit
        proxy = urlsplit(os.environ["HTTPS_PROXY"])
        login = base64.b64encode(f"{{proxy.username}}:{{proxy.password}}".encode()).decode()
        for host in ("docs.example", "other.example"):
            with socket.create_connection((proxy.hostname, proxy.port)) as s:
                login_line = f"Proxy-Authorization: Basic {{login}}"
                s.sendall(f"CONNECT {{host}}:{site.port} HTTP/1.1\\r\\n{{login_line}}\\r\\n\\r\\n".encode())
                print(s.recv(1000).decode().split("\\r\\n")[0])
                s.sendall(b"GET /secret HTTP/1.0\\r\\nHost: x\\r\\n\\r\\n"); s.recv(1000)
    """)
    grant = Grant(frozenset({f"docs.example:{site.port}"}))
    ran = await reaching(boundary, Everywhere()).run(command, workspace=workspace, limits=SMALL, grant=grant)
    told = ran.stdout.splitlines()
    assert told[0] == "HTTP/1.1 200 Connection established", ran.stderr
    assert told[1].startswith("HTTP/1.1 403 other.example")
    assert [path for path, _, _ in site.asked] == ["/secret"]


async def test_whoever_finds_the_proxy_on_loopback_needs_its_password(site: Site) -> None:
    import httpx

    async with Proxy.on_loopback(frozenset({f"docs.example:{site.port}"}), Everywhere()) as proxy:
        async with httpx.AsyncClient(proxy=f"http://127.0.0.1:{proxy.port}") as stranger:
            assert (await stranger.get(f"http://docs.example:{site.port}/")).status_code == 407
        async with httpx.AsyncClient(proxy=proxy.environment["HTTP_PROXY"]) as known:
            assert (await known.get(f"http://docs.example:{site.port}/")).text == "hello from the site"


@pytest.mark.parametrize("entry", ["", "a b", "http://x", "x/y", "x:0", "x:99999", "*", "x:y", "a\nb", "[::1"])
def test_what_is_no_host_is_not_granted(entry: str) -> None:
    with pytest.raises(ValueError):
        parsed(entry)


def test_a_host_without_a_port_means_the_usual_two() -> None:
    assert [is_granted("docs.example", port, ["Docs.Example."]) for port in (80, 443, 8080)] == [True, True, False]
    assert is_granted("::1", 8080, ["[::1]:8080"])
