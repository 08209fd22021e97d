"""The primitive `http_request`: rows from a web server, page by page, within what the owner allows.

Every request goes through `sandbox/exchange.py`: addresses are checked after they are resolved and connected to as
checked, redirects are checked again, keys are not carried to another host. Here are the bounds of the whole.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx

from laneway.domain.patience import RetryPolicy
from laneway.errors import BadInput, LanewayError, TooLarge, Unavailable
from laneway.lanes.pipeline.formats import Row, at, parsed, rows_in, rows_of
from laneway.lanes.pipeline.paging import Page, Paging, Turned
from laneway.llm.faults import retry_after
from laneway.sandbox.exchange import LATER, Exchange, NotConnected, Question, Reply, checked_headers
from laneway.sandbox.exchange import parsed as address

NAME = "http_request"
SECONDS, ALL_SECONDS = 30.0, 120.0
PAGE_BYTES, ALL_BYTES = 16_000_000, 64_000_000
RETRIES = RetryPolicy(attempts=4, first_wait=0.5, max_wait=30.0)


class FetchRefused(LanewayError):
    """A server does not give what it was asked for; asking again cannot help."""

    status, code = 502, "fetch-refused"


@dataclass(frozen=True)
class Asked:
    """An `http_request` of a plan, as it is sent."""

    url: str
    method: str = "GET"
    params: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Any = None
    format: str = "auto"
    rows_at: str | None = None
    paging: Paging | None = None

    @classmethod
    def of(cls, step: Mapping[str, Any]) -> Asked:
        """The request that this step of a checked plan makes, or a BadInput that says why it is never made."""
        if step["method"] == "GET" and step.get("body") is not None:
            raise BadInput("A GET request takes no body.", hint="Put it into `params`, or use POST.")
        headers = checked_headers(_texts(step.get("headers", {}), "headers"))
        paging = Paging.of(step.get("pages"))
        params = _texts(step.get("params", {}), "params") | (paging.first() if paging else {})
        url, rows_at = str(address(step["url"])), step.get("rows_at")
        return cls(url, step["method"], params, headers, step.get("body"), step["format"], rows_at, paging)

    def question(self, turned: Turned | None = None) -> Question:
        """What is sent for the first page, or for the one that `turned` names."""
        if turned is not None and turned.url is not None:
            url = address(turned.url)
        else:
            params = {**self.params, **(turned.params or {} if turned else {})}
            url = address(self.url).copy_merge_params(params) if params else address(self.url)
        headers = {"Accept": "application/json, text/csv, application/x-ndjson;q=0.9, */*;q=0.5", **self.headers}
        if self.body is None:
            return Question(self.method, str(url), headers)
        if not any(name.lower() == "content-type" for name in headers):
            headers["Content-Type"] = "text/plain; charset=utf-8" if isinstance(self.body, str) else "application/json"
        content = self.body if isinstance(self.body, str) else json.dumps(self.body, ensure_ascii=False)
        return Question(self.method, str(url), headers, content.encode())


@dataclass
class Fetched:
    """The rows that came, and how."""

    rows: list[Row] = field(default_factory=list)
    url: str = ""
    pages: int = 0
    bytes: int = 0
    more: bool = False
    """Whether there was another page that was not asked for."""


class HttpRows:
    """Fetches tables for plans."""

    def __init__(
        self, exchange: Exchange, most_rows: int, *, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    ) -> None:
        self._exchange, self._most_rows, self._sleep = exchange, most_rows, sleep

    async def fetch(self, step: Mapping[str, Any]) -> Fetched:
        """All rows the step asks for; a LanewayError if there are none to be had."""
        asked, found = Asked.of(step), Fetched()
        try:
            async with asyncio.timeout(ALL_SECONDS):
                await self._pages(asked, found)
        except TimeoutError:
            host = httpx.URL(asked.url).host
            raise Unavailable(
                f"{host} took longer than {ALL_SECONDS:g} seconds.", hint="Ask for fewer pages."
            ) from None
        return found

    async def _pages(self, asked: Asked, found: Fetched) -> None:
        turned: Turned | None = None
        seen: set[str] = set()
        while True:
            question = asked.question(turned)
            if question.url in seen and asked.paging is not None:
                return
            seen.add(question.url)
            reply, content = await self._ask(question)
            page = await self._read(asked, found, reply, content)
            turned = asked.paging.following(page) if asked.paging else None
            if turned is None:
                return
            if asked.paging is not None and found.pages >= asked.paging.most:
                found.more = True
                return

    async def _ask(self, question: Question) -> tuple[Reply, bytes]:
        """The reply and its content; what fails for a moment is asked again, unless it sends and may have arrived."""
        tried, clock = 0, asyncio.get_running_loop().time
        until = clock() + SECONDS
        while True:
            tried += 1
            try:
                reply = await self._exchange.ask(question, seconds=SECONDS, most_bytes=PAGE_BYTES)
                return reply, _checked(reply)
            except Unavailable as fault:
                again = clock() < until and (question.method == "GET" or isinstance(fault, NotConnected))
                pause = RETRIES.pause(tried, fault.retry_after) if again else None
                if pause is None:
                    raise
            await self._sleep(pause)

    async def _read(self, asked: Asked, found: Fetched, reply: Reply, content: bytes) -> Page:
        found.bytes += len(content)
        if found.bytes > ALL_BYTES:
            raise TooLarge(f"The pages have more than {ALL_BYTES} bytes together.", hint="Ask for fewer pages.")
        rows, body = await asyncio.to_thread(_rows, content, asked, reply)
        found.rows += rows
        found.pages += 1
        found.url = found.url or reply.url
        if len(found.rows) > self._most_rows:
            raise TooLarge(f"The pages have more than {self._most_rows} rows.", hint="Ask for fewer pages.")
        return Page(reply.url, reply.headers, body, len(rows), len(found.rows), found.pages)


def _checked(reply: Reply) -> bytes:
    host = httpx.URL(reply.url).host
    if reply.status >= 500 or reply.status in LATER:
        asked = retry_after(reply.headers)
        wait = "" if asked is None else f" and asks to wait {asked:.0f} s"
        raise Unavailable(f"{host} answered {reply.status}{wait}.", hint="Try again later.", retry_after=asked)
    if reply.status >= 400:
        raise FetchRefused(f"{host} answered {reply.status}.", hint="Look at the address, and at what is sent there.")
    if reply.body.cut:
        raise TooLarge(f"{host} sent more than {PAGE_BYTES} bytes.", hint="Ask for smaller pages.")
    if reply.body.encoding or reply.body.text is None:
        raise BadInput(f"{host} sent something that is no text.", hint="Give an address of JSON, NDJSON or CSV.")
    content = reply.body.content
    if reply.body.charset.lower() not in ("utf-8", "utf8", "us-ascii"):
        content = reply.body.text.encode()
    return content


def _rows(content: bytes, asked: Asked, reply: Reply) -> tuple[list[Row], Any]:
    mime, name = reply.body.mime, httpx.URL(reply.url).path
    if asked.paging is None or asked.paging.by not in ("next", "cursor"):
        return rows_in(content, asked.format, mime=mime, name=name, rows_at=asked.rows_at), None
    # The body is looked into twice, for its rows and for where it goes on.
    body = parsed(content)
    return rows_of(at(body, asked.rows_at) if asked.rows_at else body), body


def _texts(given: Mapping[str, Any], name: str) -> dict[str, str]:
    if len(given) > 100:
        raise BadInput(f"`{name}` has {len(given)} entries.", hint="At most 100.")
    for key, value in given.items():
        if not isinstance(key, str) or isinstance(value, dict | list) or value is None or len(str(value)) > 8000:
            raise BadInput(f"`{name}.{str(key)[:40]}` must be text or a number.", hint="Correct it.")
    return {key: str(value).lower() if isinstance(value, bool) else str(value) for key, value in given.items()}
