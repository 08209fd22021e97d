"""`http_request`: one question to a web server, within what the owner allows."""

from __future__ import annotations

import json as json_text
from typing import Any, Literal

import httpx

from laneway.domain.action import Verdict, allow, ask, deny
from laneway.errors import BadInput, LanewayError
from laneway.lanes.tools.entry import Arguments, Call, Outcome, ToolEntry, failure, success
from laneway.sandbox.exchange import READING, Exchange, Question, Reply, checked_headers, parsed
from laneway.sandbox.telling import named, redacted, shown

SECONDS, MOST_SECONDS = 20.0, 60.0
_SHOWN = ("content-type", "content-length", "date", "etag", "last-modified", "link", "location", "retry-after")

Method = Literal["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]


def http_request_with(exchange: Exchange) -> ToolEntry:
    """The tool, asking through this exchange."""

    async def http_request(
        call: Call,
        url: str,
        method: Method = "GET",
        headers: dict[str, str] | None = None,
        body: str | None = None,
        json: dict[str, Any] | list[Any] | None = None,
        timeout: float = SECONDS,
    ) -> Outcome:
        """Ask a web server and return its status, a few headers and its text (1 MB at most).

        Give `body` (text) or `json` with POST, PUT and PATCH. Hosts inside this machine or its network are refused
        unless the owner opened them. Redirects are followed. `timeout` is in seconds, 60 at most.
        """
        try:
            question = Question(method, url, *_content(method, headers or {}, body, json))
            reply = await exchange.ask(question, seconds=max(0.1, min(timeout, MOST_SECONDS)))
        except LanewayError as refusal:
            return failure(str(refusal))
        return outcome_of(reply)

    return ToolEntry(
        http_request, changes=True, idempotent=False, judge=judged, source=source, shown=redacted,
        seconds=MOST_SECONDS + 10,
        tags=("web", "page", "download", "fetch", "api", "url", "internet"),
    )  # fmt: skip


def judged(arguments: Arguments, call: Call) -> Verdict:
    """Reading is allowed; sending is asked; an address that is never asked is refused at once."""
    method, address = str(arguments.get("method") or "GET").upper(), str(arguments.get("url", ""))
    try:
        url = parsed(address)
    except BadInput as refusal:
        return deny("http.address", str(refusal))
    if method not in READING:
        return ask("http.sends", f"It sends a {method} request to {shown(url)}.")
    if named(url.host, address, call.request.message, call.sources):
        return allow("http.reads", changes=False)
    # An address can carry words out. In a turn that foreign words have reached, a person looks at it first.
    return allow("http.unnamed-host", f"It asks {shown(url)}, a host that nobody here named.")


def source(arguments: Arguments, outcome: Outcome) -> str | None:
    """Whatever a page says are the words of its author."""
    result = outcome.get("result")
    return f"the page {result['url']}" if isinstance(result, dict) else None


def outcome_of(reply: Reply) -> Outcome:
    """A reply in the shape of all tools; one that says something went wrong is an error, with all it said."""
    body = reply.body
    result: dict[str, Any] = {
        "url": reply.url,
        "status": reply.status,
        "headers": {name: reply.headers[name] for name in _SHOWN if name in reply.headers},
    }
    text = body.text
    if text is None:
        kind = body.encoding or body.mime or "of an unknown kind"
        result["note"] = f"It is binary ({kind}, {len(body.content)} bytes or more), so there is no text."
    else:
        result["text"] = text
        if body.cut:
            result["note"] = f"Only the first {len(body.content)} bytes are shown."
    if reply.status >= 400:
        return failure(f"{httpx.URL(reply.url).host} answered {reply.status}.", result=result)
    return success(result)


def _content(method: str, headers: dict[str, str], body: str | None, json: Any) -> tuple[dict[str, str], bytes | None]:
    given = checked_headers(headers)
    if body is None and json is None:
        return given, None
    if method in READING:
        raise BadInput(f"A {method} request takes no body.", hint="Put it into the address, or use POST.")
    if body is not None and json is not None:
        raise BadInput("Give `body` or `json`, not both.")
    named = any(name.lower() == "content-type" for name in given)
    if json is not None:
        kind = {} if named else {"Content-Type": "application/json"}
        return {**given, **kind}, json_text.dumps(json, ensure_ascii=False).encode()
    kind = {} if named else {"Content-Type": "text/plain; charset=utf-8"}
    return {**given, **kind}, (body or "").encode()
