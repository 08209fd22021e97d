"""`http`: one request to a web server, guarded like every request of ours; its answer is read as JSON, rows or text."""

from __future__ import annotations

import asyncio
import csv
import io
import json
from collections.abc import Mapping
from typing import Any

import httpx

from laneway.errors import BadInput, PermanentFault, Unavailable, UncertainFault
from laneway.lanes.workflow.hands import Doing, Done, Failed, Kind, Outcome
from laneway.lanes.workflow.references import whole
from laneway.sandbox.bodies import MOST_BYTES
from laneway.sandbox.exchange import LATER, METHODS, READING, Question, Reply, checked_headers, parsed

_SHOWN = ("content-type", "date", "etag", "last-modified", "link", "location", "retry-after")


async def requested(doing: Doing) -> Outcome:
    """Its output is {status, headers, body, url}, with the fields of a JSON object beside them and a list as `rows`;

    the page it read taints what is made of it.
    """
    question = _question(doing)
    host = parsed(question.url).host
    if doing.secrets and doing.sources and not _fixed_host(doing):
        # Whoever's words chose the host would be handed the secret.
        return Failed("It would send a secret to a host that words from outside named.", retryable=False)
    reading = question.method in READING

    async def ask() -> dict[str, Any]:
        try:
            reply = await doing.hands.exchange.ask(question, seconds=doing.seconds, most_bytes=MOST_BYTES)
        except Unavailable as error:
            if reading:
                raise
            raise UncertainFault(error.message, hint="It may have arrived.") from None
        return await asyncio.to_thread(_read, reply, doing.config, host)

    again = reading or question.method in ("PUT", "DELETE") or bool(doing.config.get("idempotent"))
    outcome = await doing.act(ask, again=again, about=f"{question.method} {host}")
    return Done(outcome.output, (f"the page {outcome.output['url']}",)) if isinstance(outcome, Done) else outcome


def _question(doing: Doing) -> Question:
    config = doing.config
    method = str(config.get("method") or "GET").upper()
    if method not in METHODS:
        raise BadInput(f"The method `{method[:20]}` is not sent.", hint=f"Use one of {', '.join(sorted(METHODS))}.")
    url = parsed(str(config.get("url") or ""))
    if params := config.get("params"):
        if not isinstance(params, Mapping):
            raise BadInput("`params` must be an object.", hint="Write {name: value}.")
        url = url.copy_merge_params({str(name): _plain(value) for name, value in params.items()})
    headers = checked_headers({str(name): str(value) for name, value in (config.get("headers") or {}).items()})
    body = config.get("body", config.get("json"))
    if body is None or method in READING:
        return Question(method, str(url), headers)
    named = any(name.lower() == "content-type" for name in headers)
    if isinstance(body, str):
        kind = {} if named else {"Content-Type": "text/plain; charset=utf-8"}
        content = body.encode()
    else:
        kind, content = {} if named else {"Content-Type": "application/json"}, json.dumps(body).encode()
    key = {} if method == "PUT" else {"Idempotency-Key": f"{doing.run.id}.{doing.name}.{doing.record.visit}"}
    return Question(method, str(url), {**key, **kind, **headers}, content)


def _fixed_host(doing: Doing) -> bool:
    """Whether the address names its host itself, before anything is filled into it."""
    written = str((doing.node.get("config") or {}).get("url") or "")
    if (alone := whole(written)) is not None:
        return alone.root == "secrets"
    _, _, rest = written.partition("://")
    return "$" not in rest.partition("/")[0] and "://" in written


def _read(reply: Reply, config: Mapping[str, Any], host: str) -> dict[str, Any]:
    if reply.status in LATER or reply.status >= 500:
        raise Unavailable(f"{host} answered {reply.status}.", hint="Try again later.")
    if reply.status >= 400:
        raise PermanentFault(f"{host} answered {reply.status}: {(reply.body.text or '')[:300]}")
    if reply.body.cut:
        raise PermanentFault(f"The answer of {host} is longer than {MOST_BYTES} bytes.", hint="Ask for less.")
    headers = {name: reply.headers[name] for name in _SHOWN if name in reply.headers}
    body = _body(reply, config)
    beside = body if isinstance(body, dict) else {"rows": body} if isinstance(body, list) else {}
    return {**beside, "status": reply.status, "headers": headers, "url": _bare(reply.url), "body": body}


def _body(reply: Reply, config: Mapping[str, Any]) -> Any:
    text, wanted = reply.body.text, str(config.get("format") or "auto").lower()
    if text is None:
        raise PermanentFault("The answer is binary, so there is no text in it.")
    mime = reply.body.mime or ""
    if wanted == "auto":
        wanted = "json" if "json" in mime else "csv" if "csv" in mime else "ndjson" if "ndjson" in mime else "text"
        if "ndjson" in mime or "jsonl" in mime:
            wanted = "ndjson"
    try:
        found = _parsed(text, wanted)
    except (ValueError, RecursionError, csv.Error) as error:
        raise PermanentFault(f"The answer is no {wanted}: {error}.") from None
    return _at(found, str(config["rows_at"])) if config.get("rows_at") else found


def _parsed(text: str, wanted: str) -> Any:
    if wanted == "json":
        return json.loads(text) if text.strip() else None
    if wanted == "ndjson":
        return [json.loads(line) for line in text.splitlines() if line.strip()]
    if wanted == "csv":
        return list(csv.DictReader(io.StringIO(text)))
    return text


def _at(value: Any, path: str) -> Any:
    for part in path.split("."):
        if not isinstance(value, Mapping) or part not in value:
            raise PermanentFault(f"The answer has no `{path}`.")
        value = value[part]
    return value


def _bare(url: str) -> str:
    """The address without its query, which may hold a key."""
    return str(httpx.URL(url).copy_with(query=None, fragment=None))


def _plain(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else json.dumps(value)


KIND = Kind("http", requested, knows_secrets=True, hears=True, takes=False)
