"""An exchange reaches only what was checked, tells nobody more than it must, and takes no more than it can hold."""

from __future__ import annotations

import asyncio
import gzip
import socket
import ssl
import zlib
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse

from laneway.errors import BadInput, LanewayError, Unavailable
from laneway.sandbox.exchange import Exchange, Question, Reply, checked_headers
from laneway.sandbox.hosts import Allowed, HostRefused
from tests.servers.pages import Pages

HERE = "127.0.0.1"


class Names:
    """A resolver whose answers a test writes, and which notes what it was asked."""

    def __init__(self, **answers: list[list[str]]) -> None:
        self.answers = {name.replace("_", "."): list(said) for name, said in answers.items()}
        self.asked: list[str] = []

    async def __call__(self, host: str, port: int) -> Iterable[str]:
        self.asked.append(host)
        said = self.answers.get(host)
        if said is None:
            raise OSError("unknown")
        return said.pop(0) if len(said) > 1 else said[0]


def exchange(web: Pages, names: Names | None = None, *opened: str) -> Exchange:
    names = names or Names(site_example=[[HERE]], other_example=[[HERE]])
    return Exchange(Allowed.of(opened or [f"site.example:{web.port}", f"other.example:{web.port}"]), resolve=names)


async def get(
    asking: Exchange, url: str, method: str = "GET", headers: dict[str, str] | None = None, content: bytes | None = None
) -> Reply:
    return await asking.ask(Question(method, url, headers or {}, content), seconds=30)


async def test_a_page_is_read_under_its_own_name_at_the_address_that_was_checked(web: Pages) -> None:
    web.pages["/"] = PlainTextResponse("hello")
    names = Names(site_example=[[HERE]])
    reply = await get(exchange(web, names), web.at("site.example"))
    assert (reply.status, reply.body.text, reply.body.cut) == (200, "hello", False)
    assert web.visits[0].headers["host"] == f"site.example:{web.port}"
    assert names.asked == ["site.example"]


async def test_a_name_that_changes_its_mind_after_the_check_gains_nothing(web: Pages) -> None:
    web.pages["/"] = PlainTextResponse("secret")
    # A second question would be told an address inside; there is none, so the first answer is what is tried.
    names = Names(rebind_example=[["192.0.2.1"], [HERE]])
    with pytest.raises(HostRefused):
        await get(exchange(web, names), web.at("rebind.example"))
    assert names.asked == ["rebind.example"]
    assert web.visits == []


async def test_this_machine_is_refused_in_every_spelling(web: Pages) -> None:
    for host in ("127.0.0.1", "localhost", "[::1]", "2130706433", "0x7f.1", "[::ffff:127.0.0.1]"):
        with pytest.raises(HostRefused):
            await get(exchange(web, Names(localhost=[[HERE]])), web.at(host))
    assert web.visits == []


async def test_every_redirect_is_resolved_and_checked_anew_and_none_leads_inside(web: Pages) -> None:
    for target in (f"http://127.0.0.1:{web.port}/inside", "http://169.254.169.254/latest", "file:///etc/passwd"):
        web.redirect("/", target)
        with pytest.raises(LanewayError):
            await get(exchange(web), web.at("site.example"))
    assert {visit.path for visit in web.visits} == {"/"}
    web.redirect("/", "/again")
    web.redirect("/again", "/last")
    names = Names(site_example=[[HERE], [HERE], ["10.0.0.1"]])
    with pytest.raises(HostRefused, match=r"10\.0\.0\.1"):
        await get(exchange(web, names, "127.0.0.1"), web.at("site.example"))
    assert [visit.path for visit in web.visits[3:]] == ["/", "/again"]
    for number in range(6):
        web.redirect(f"/{number}", f"/{number + 1}")
    web.pages["/6"] = PlainTextResponse("there")
    assert (await get(exchange(web), web.at("site.example", "/1"))).body.text == "there"
    with pytest.raises(HostRefused, match="more than 5 times"):
        await get(exchange(web), web.at("site.example", "/0"))


async def test_the_method_after_a_redirect_is_what_browsers_use(web: Pages) -> None:
    web.pages["/there"] = PlainTextResponse("ok")
    for status, method, then in (
        (301, "POST", "GET"), (302, "POST", "GET"), (303, "POST", "GET"), (303, "PUT", "GET"), (307, "POST", "POST"),
        (308, "PUT", "PUT"), (301, "DELETE", "DELETE"), (303, "HEAD", "HEAD"), (302, "HEAD", "HEAD"),
        (302, "GET", "GET"),
    ):  # fmt: skip
        web.redirect("/", "/there", status)
        body = None if method in ("GET", "HEAD") else b"payload"
        await get(exchange(web), web.at("site.example"), method, content=body, headers={"Content-Type": "text/x"})
        after = web.visits[-1]
        assert (after.method, after.path) == (then, "/there"), (status, method)
        assert after.body == (b"payload" if then == method and body else b"")
        assert ("content-type" in after.headers) == (then == method)


async def test_keys_cookies_and_what_was_to_be_sent_do_not_go_along_to_another_origin(web: Pages) -> None:
    there = web.at("other.example", "/there")
    web.pages["/"] = Response(status_code=302, headers={"Location": there, "Set-Cookie": "session=1; Path=/"})
    web.redirect("/there", web.at("other.example", "/back"))
    web.pages["/back"] = PlainTextResponse("ok")
    keys = {"Authorization": "Bearer k", "X-Api-Key": "k", "Accept-Language": "de"}
    await get(exchange(web), web.at("site.example"), headers=keys)
    assert web.visits[0].headers["authorization"] == "Bearer k"
    for visit in web.visits[1:]:
        assert not {"authorization", "x-api-key", "cookie"} & set(visit.headers)
        assert visit.headers["accept-language"] == "de"
    web.visits.clear()
    web.redirect("/", web.at("other.example", "/take"), 307)
    with pytest.raises(HostRefused, match="it was not sent there"):
        await get(exchange(web), web.at("site.example"), "POST", content=b"secret")
    assert [visit.path for visit in web.visits] == ["/"]


async def test_proxies_and_logins_of_this_machine_play_no_part(
    web: Pages, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "netrc").write_text("default login me password secret\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    web.pages["/"] = PlainTextResponse("ok")
    assert (await get(exchange(web), web.at("site.example"))).status == 200
    assert "authorization" not in web.visits[0].headers


async def test_of_a_long_body_the_first_bytes_are_kept(web: Pages) -> None:
    sent = 0

    async def endless(request: Request) -> Response:
        async def parts() -> AsyncIterator[bytes]:
            nonlocal sent
            while sent < 50_000_000 and not await request.is_disconnected():
                sent += 65536
                yield b"x" * 65536

        return StreamingResponse(parts(), media_type="text/plain")

    web.pages["/"] = endless
    body = (await get(exchange(web), web.at("site.example"))).body
    assert (len(body.content), body.cut) == (1_000_000, True)
    assert sent < 50_000_000


async def test_a_bomb_stays_small(web: Pages) -> None:
    packed = zlib.compressobj(9, wbits=31)
    bomb = b"".join(packed.compress(b"\0" * 1_000_000) for _ in range(30)) + packed.flush()
    for content, encoding in ((bomb, "gzip"), (gzip.compress(bomb), "gzip, gzip")):
        web.pages["/"] = Response(content, headers={"Content-Encoding": encoding}, media_type="text/plain")
        body = (await get(exchange(web), web.at("site.example"))).body
        assert len(body.content) <= 1_000_000
        assert body.text is None
        assert body.cut or body.encoding


async def test_text_is_told_from_what_is_none(web: Pages) -> None:
    for content, kind, packing, text in (
        (b"caf\xe9", "text/plain; charset=latin-1", "", "café"),
        ("é".encode(), "text/html", "", "é"),
        (b"\x89PNG\r\n\0\0", "", "", None),
        (b"abc", "image/png", "", None),
        (b"abc", "text/plain; charset=nonsense", "", "abc"),
        (bytes(range(128, 256)) * 9, "application/x-thing", "", None),
        (gzip.compress(b"hello"), "text/plain", "gzip", "hello"),
        (b"not packed", "text/plain", "gzip", None),
    ):
        headers = {"Content-Type": kind, **({"Content-Encoding": packing} if packing else {})}
        web.pages["/"] = Response(content, headers=headers)
        assert (await get(exchange(web), web.at("site.example"))).body.text == text, (kind, packing)


async def test_the_time_is_counted_in_total(web: Pages) -> None:
    async def trickle(request: Request) -> Response:
        async def parts() -> AsyncIterator[bytes]:
            for _ in range(1000):
                await asyncio.sleep(0.02)
                yield b"."

        return StreamingResponse(parts())

    web.pages["/"] = trickle
    with pytest.raises(Unavailable, match=r"within 0\.1 seconds"):
        await exchange(web).ask(Question("GET", web.at("site.example")), seconds=0.1)


async def test_a_closed_port_is_a_sentence_and_another_address_is_tried() -> None:
    with socket.socket() as closed:
        # Bound and not listening: nobody answers here, and nobody else can be given the port meanwhile.
        closed.bind((HERE, 0))
        port = closed.getsockname()[1]
        asking = Exchange(Allowed.of([f"127.0.0.1:{port}"]))
        with pytest.raises(Unavailable, match=r"The exchange with 127\.0\.0\.1 failed"):
            await get(asking, f"http://127.0.0.1:{port}/")
    with Pages() as web:
        web.pages["/"] = PlainTextResponse("ok")
        # Nobody listens at ::1 on this port; the second address answers.
        asking = exchange(web, Names(site_example=[["::1", HERE]]))
        assert (await get(asking, web.at("site.example"))).status == 200


async def test_what_is_no_address_to_ask_is_refused(web: Pages) -> None:
    for url in (
        "ftp://site.example/", "file:///etc/passwd", "gopher://site.example/", "javascript:alert(1)", "site.example",
        "http://", "http:///x", "http://user:pass@site.example/", "http://site.example\\@evil.example/", "",
        "http://site.example/a b", "http://site.example:0/", "http://site.example/\r\nHost: x", "http://" + "a" * 9000,
    ):  # fmt: skip
        with pytest.raises((BadInput, HostRefused)):
            await get(exchange(web), url)


def test_headers_that_decide_where_a_request_goes_are_refused() -> None:
    for name, value in (
        ("Host", "evil.example"), ("content-length", "5"), ("Transfer-Encoding", "chunked"), ("Cookie", "a=b"),
        ("Proxy-Authorization", "x"), ("X-Forwarded-For", "127.0.0.1"), ("X", "a\r\nHost: evil"), ("a b", "x"),
        ("", "x"), ("X", "é"),
    ):  # fmt: skip
        with pytest.raises(BadInput):
            checked_headers({name: value})


def certificate(folder: Path, host: str) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """A server's side and a client's side that trusts it."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, host)])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
        .serial_number(1).not_valid_before(now - timedelta(days=1)).not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(host)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )  # fmt: skip
    pem = made.public_bytes(serialization.Encoding.PEM)
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    (folder / "both.pem").write_bytes(pem + private)
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(folder / "both.pem")
    return server, ssl.create_default_context(cadata=pem.decode())


@asynccontextmanager
async def speaking_tls(context: ssl.SSLContext) -> AsyncIterator[tuple[int, list[str | None]]]:
    names: list[str | None] = []
    context.sni_callback = lambda _socket, name, _context: names.append(name)

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked = await reader.readuntil(b"\r\n\r\n")
        host = next(line for line in asked.decode().splitlines() if line.lower().startswith("host:"))
        writer.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + host.encode())
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, HERE, 0, ssl=context)
    async with server:
        yield server.sockets[0].getsockname()[1], names


async def test_tls_is_spoken_with_the_name_though_the_address_was_called(tmp_path: Path) -> None:
    theirs, ours = certificate(tmp_path, "site.example")
    names = Names(site_example=[[HERE]], other_example=[[HERE]])
    async with speaking_tls(theirs) as (port, heard):
        asking = Exchange(Allowed.of([f"127.0.0.1:{port}"]), resolve=names, tls=ours)
        reply = await get(asking, f"https://site.example:{port}/")
        assert reply.body.text == f"Host: site.example:{port}"
        assert heard == ["site.example"]
        with pytest.raises(Unavailable, match="certificate"):
            await get(asking, f"https://other.example:{port}/")
        with pytest.raises(Unavailable, match="certificate"):
            await get(Exchange(Allowed.of([f"127.0.0.1:{port}"]), resolve=names), f"https://site.example:{port}/")
