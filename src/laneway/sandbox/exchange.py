"""One HTTP exchange with a host that was checked, and nothing sent along that was not asked for.

The name is resolved once, every address looked at, and the connection made to one of exactly those; TLS and the Host
header still carry the name. Redirects are followed by hand, each checked like the first address. Cookies, proxies and
logins of this machine play no part.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import cache

import httpx

from laneway import __version__
from laneway.errors import BadInput, Unavailable
from laneway.sandbox.bodies import MOST_BYTES, Body, read
from laneway.sandbox.hosts import Allowed, HostRefused, Resolve, checked_addresses

READING = frozenset({"GET", "HEAD"})
METHODS = READING | {"POST", "PUT", "PATCH", "DELETE"}
LATER = frozenset({408, 425, 429})
"""Answers below 500 that mean: not now, and nothing was done."""
MOST_REDIRECTS = 5
MOST_ADDRESSES = 4
LONGEST_URL = 8000
CONNECT_SECONDS = 5.0
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_OURS = frozenset(
    {"host", "content-length", "transfer-encoding", "connection", "upgrade", "te", "trailer", "expect", "keep-alive",
     "accept-encoding", "cookie", "forwarded", "via"}
)  # fmt: skip
"""Headers that decide where a request goes or how it is framed, or that would carry a session."""

_HARMLESS = frozenset({"accept", "accept-language", "content-type", "user-agent"})
"""What still goes along when a redirect leads to another origin: any other header may be a key."""


class NotConnected(Unavailable):
    """No connection came about, and nothing was sent."""


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of a server."""

    method: str
    url: str
    headers: Mapping[str, str] = field(default_factory=dict)
    content: bytes | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back, from where in the end."""

    url: str
    status: int
    headers: Mapping[str, str]
    body: Body


class Exchange:
    """Asks servers on behalf of a model, within what the owner allows."""

    def __init__(self, allowed: Allowed, *, resolve: Resolve | None = None, tls: ssl.SSLContext | None = None) -> None:
        self._allowed, self._resolve, self._tls = allowed, resolve, tls

    def with_allowed(self, host: str, port: int) -> Exchange:
        """The same, with one more host open at this port."""
        return Exchange(self._allowed.plus(host, port), resolve=self._resolve, tls=self._tls)

    async def ask(self, question: Question, *, seconds: float, most_bytes: int = MOST_BYTES) -> Reply:
        """The reply, or a LanewayError that says why there is none; all of it within `seconds`."""
        host = parsed(question.url).host
        try:
            async with asyncio.timeout(seconds):
                return await self._follow(question, most_bytes)
        except TimeoutError:
            raise Unavailable(f"{host} did not answer within {seconds:g} seconds.", hint="Try again later.") from None
        except httpx.HTTPError as error:
            raise Unavailable(f"The exchange with {host} failed: {_said(error)}", hint="Try again later.") from None

    async def _follow(self, question: Question, most_bytes: int) -> Reply:
        for hop in range(MOST_REDIRECTS + 1):
            async with self._sent(question, first=hop == 0) as response:
                location = response.headers.get("location")
                if response.status_code not in _REDIRECTS or location is None:
                    body = await read(response, most_bytes)
                    return Reply(question.url, response.status_code, response.headers, body)
                question = redirected(question, response.status_code, location)
        raise HostRefused(f"It was redirected more than {MOST_REDIRECTS} times, last to {question.url[:200]}.")

    @asynccontextmanager
    async def _sent(self, question: Question, *, first: bool) -> AsyncIterator[httpx.Response]:
        url = parsed(question.url)
        host, port = _host(url), _port(url)
        addresses = await checked_addresses(host, port, self._allowed, self._resolve)
        limits = httpx.Timeout(None, connect=CONNECT_SECONDS)
        tls = self._tls or _usual_tls()
        async with httpx.AsyncClient(verify=tls, trust_env=False, timeout=limits, follow_redirects=False) as client:
            for address in addresses[:MOST_ADDRESSES]:
                request = client.build_request(
                    question.method,
                    url.copy_with(host=str(address), port=port, fragment=None),
                    headers=_complete(url, question.headers),
                    content=question.content,
                    extensions={"sni_hostname": host},
                )
                try:
                    response = await client.send(request, stream=True)
                except (httpx.ConnectError, httpx.ConnectTimeout) as error:
                    failed: httpx.HTTPError = error
                    continue
                try:
                    yield response
                finally:
                    await response.aclose()
                return
            if first:
                raise NotConnected(f"The exchange with {url.host} failed: {_said(failed)}", hint="Try again later.")
            raise failed


def parsed(text: str) -> httpx.URL:
    """The address, or BadInput if it is none that is ever asked."""
    if len(text) > LONGEST_URL or "\\" in text or any(char.isspace() or not char.isprintable() for char in text):
        raise BadInput("The address is too long or holds characters it cannot.", hint="Encode them (%20).")
    try:
        url = httpx.URL(text)
    except (httpx.InvalidURL, UnicodeError):
        raise BadInput(f"`{text[:100]}` is not an address.", hint="Write it like https://example.org/page.") from None
    if url.scheme not in ("http", "https"):
        raise BadInput(f"Addresses of the scheme `{url.scheme[:20]}` are not asked.", hint="Use https:// or http://.")
    if url.userinfo:
        raise BadInput("The address holds a user or a password.", hint="Leave them out.")
    if not url.host or url.port == 0:
        raise BadInput(f"`{text[:100]}` names no host.", hint="Write it like https://example.org/page.")
    return url


def checked_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """The headers, or BadInput if one is not for a caller to set or could smuggle in another."""
    for name, value in headers.items():
        lower = name.lower()
        if lower in _OURS or lower.startswith(("proxy-", "sec-", "x-forwarded-")):
            raise BadInput(f"The header `{name[:60]}` cannot be set.", hint="Leave it out.")
        if not name or not all(char.isalnum() or char in "!#$%&'*+-.^_`|~" for char in name) or not name.isascii():
            raise BadInput("A header has a name it cannot have.", hint="Use letters, digits and dashes.")
        if not (value.isascii() and all(char.isprintable() or char == "\t" for char in value)):
            raise BadInput(f"The value of the header `{name[:60]}` holds characters it cannot.", hint="Encode them.")
    return dict(headers)


def redirected(question: Question, status: int, location: str) -> Question:
    """The question that follows a redirect, by the rules browsers keep; HostRefused if it may not be followed."""
    before = parsed(question.url)
    try:
        after = parsed(str(before.join(location)))
    except (httpx.InvalidURL, UnicodeError):
        raise BadInput("The server redirects to something that is no address.") from None
    method = question.method
    if (status == 303 and method != "HEAD") or (status in (301, 302) and method == "POST"):
        method = "GET"
    following = replace(question, method=method, url=str(after.copy_with(fragment=None)))
    if method != question.method:
        headers = {name: value for name, value in question.headers.items() if name.lower() != "content-type"}
        following = replace(following, content=None, headers=headers)
    if origin(before) == origin(after):
        return following
    if method not in READING:
        # What was approved was to send this there, not elsewhere.
        raise HostRefused(
            f"{before.host} redirects the {method} to {after.host}; it was not sent there.",
            hint=f"Ask {after.host} itself if that is meant.",
        )
    kept = {name: value for name, value in following.headers.items() if name.lower() in _HARMLESS}
    return replace(following, headers=kept)


def origin(url: httpx.URL) -> tuple[str, str, int]:
    return url.scheme, _host(url), _port(url)


def _host(url: httpx.URL) -> str:
    return url.raw_host.decode("ascii")


def _port(url: httpx.URL) -> int:
    return url.port or (443 if url.scheme == "https" else 80)


def _complete(url: httpx.URL, given: Mapping[str, str]) -> httpx.Headers:
    headers = httpx.Headers({"Accept": "*/*", "User-Agent": f"laneway/{__version__}"})
    headers.update(given)
    headers.update({"Host": url.netloc.decode("ascii"), "Accept-Encoding": "gzip"})
    return headers


@cache
def _usual_tls() -> ssl.SSLContext:
    # Reading all certificates takes longer than many an exchange.
    return httpx.create_ssl_context()


def _said(error: httpx.HTTPError) -> str:
    text = str(error).strip() or type(error).__name__
    return text[:200].rstrip(".") + "."
