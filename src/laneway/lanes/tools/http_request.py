"""`http_request`: one question to a web server, within what the owner allows."""

from __future__ import annotations

import json as json_text
import re
from collections.abc import Mapping
from typing import Any, Literal

import httpx

from laneway.domain.action import Verdict, allow, ask, deny
from laneway.domain.redaction import HIDDEN
from laneway.domain.redaction import redacted as hidden
from laneway.errors import BadInput, LanewayError
from laneway.lanes.tools.entry import Arguments, Call, Outcome, ToolEntry, failure, success
from laneway.sandbox.exchange import READING, Exchange, Question, Reply, checked_headers, parsed

SECONDS, MOST_SECONDS = 20.0, 60.0
LONGEST_URL = 8000
_SHOWN = ("content-type", "content-length", "date", "etag", "last-modified", "link", "location", "retry-after")
_HARMLESS = frozenset({"accept", "accept-language", "content-type", "user-agent", "if-none-match", "range"})
_SECRET = re.compile(r"auth|token|secret|passw|cookie|session|credential|sig|key|code", re.IGNORECASE)
_PARAMETER = re.compile(r"([?&;][^=&;#?]{0,200})=[^&;#]*")

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
    if _named(url.host, address, call):
        return allow("http.reads", changes=False)
    # An address can carry words out. In a turn that foreign words have reached, a person looks at it first.
    return allow("http.unnamed-host", f"It asks {shown(url)}, a host that nobody here named.")


def source(arguments: Arguments, outcome: Outcome) -> str | None:
    """Whatever a page says are the words of its author."""
    result = outcome.get("result")
    return f"the page {result['url']}" if isinstance(result, dict) else None


def redacted(arguments: Arguments) -> dict[str, Any]:
    """The arguments as they may be written down: of headers only the harmless ones, no key in address or body."""
    told: dict[str, Any] = hidden(dict(arguments))
    if isinstance(headers := told.get("headers"), Mapping):
        told["headers"] = {name: value if name.lower() in _HARMLESS else HIDDEN for name, value in headers.items()}
    if isinstance(told.get("url"), str):
        told["url"] = _without_keys(told["url"][:LONGEST_URL])
    return told


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


def shown(url: httpx.URL) -> str:
    """The address without what may be a secret in its query."""
    return _without_keys(str(url))[:300]


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


def _named(host: str, address: str, call: Call) -> bool:
    """Whether the owner's own words name this host and, once others have spoken in this turn, this very address."""
    message = call.request.message
    if any(message.meta.get(key) for key in ("forwarded", "voice", "sources")):
        return False
    if call.sources and address not in message.text:
        return False
    said = message.text.lower()
    return re.search(rf"(?<![\w.-]){re.escape(host.lower())}(?![\w-]|\.\w)", said) is not None


def _without_keys(address: str) -> str:
    return _PARAMETER.sub(lambda part: f"{part[1]}={HIDDEN}" if _SECRET.search(part[1]) else part[0], address)
