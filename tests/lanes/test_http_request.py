"""`http_request` as a model uses it: what it returns, what is asked first, and what is never written down."""

from __future__ import annotations

import json
from typing import Any

from starlette.responses import JSONResponse, PlainTextResponse, Response

from laneway.domain.action import Decision
from laneway.lanes.tools.entry import Outcome, ToolEntry
from laneway.lanes.tools.http_request import http_request_with
from laneway.sandbox.exchange import Exchange
from laneway.sandbox.hosts import Allowed
from laneway.sandbox.telling import redacted
from tests.lanes.calls import a_call
from tests.servers.pages import Pages


def tool(web: Pages) -> ToolEntry:
    return http_request_with(Exchange(Allowed.of([f"127.0.0.1:{web.port}"])))


async def ask(web: Pages, path: str = "/", **arguments: Any) -> Outcome:
    outcome: Outcome = await tool(web).function(a_call(), f"{web.url}{path}", **arguments)
    return outcome


async def test_a_page_is_returned_with_its_status_a_few_headers_and_its_text(web: Pages) -> None:
    web.pages["/"] = PlainTextResponse("hello", headers={"ETag": "x", "Set-Cookie": "a=b", "X-Powered-By": "magic"})
    outcome = await ask(web)
    result = outcome["result"]
    assert (outcome["status"], result["text"], result["status"]) == ("success", "hello", 200)
    assert (result["url"], result["headers"]["etag"]) == (f"{web.url}/", "x")
    assert not {"set-cookie", "x-powered-by"} & set(result["headers"])
    assert {"stdout", "stderr", "exit_code", "error"} <= set(outcome)
    assert tool(web).source({}, outcome) == f"the page {web.url}/"
    outcome = await ask(web, "/nowhere")
    assert (outcome["status"], outcome["error"]) == ("error", "127.0.0.1 answered 404.")
    assert outcome["result"]["text"] == "There is no such page."
    assert tool(web).source({}, outcome) is not None


async def test_a_picture_is_named_and_a_long_page_is_cut_and_says_so(web: Pages) -> None:
    web.pages["/"] = Response(b"\x89PNG\0\0", media_type="image/png")
    outcome = await ask(web)
    assert "image/png" in outcome["result"]["note"]
    assert "text" not in outcome["result"]
    web.pages["/"] = PlainTextResponse("x" * 1_200_000)
    outcome = await ask(web)
    assert len(outcome["result"]["text"]) == 1_000_000
    assert outcome["result"]["note"] == "Only the first 1000000 bytes are shown."


async def test_json_and_text_are_sent_as_what_they_are(web: Pages) -> None:
    web.pages["/"] = JSONResponse({"ok": True})
    await ask(web, method="POST", json={"name": "é"})
    await ask(web, method="PUT", body="plain é")
    first, second = web.visits
    assert (first.method, json.loads(first.body)) == ("POST", {"name": "é"})
    assert first.headers["content-type"] == "application/json"
    assert (second.method, second.body.decode()) == ("PUT", "plain é")


async def test_what_is_refused_reaches_nobody_and_brings_nobodys_words(web: Pages) -> None:
    arguments: dict[str, Any]
    for arguments in (
        {"body": "x"},
        {"method": "POST", "body": "x", "json": {}},
        {"headers": {"Host": "x"}},
        {"headers": {"X": "a\r\nY: b"}},
    ):
        assert (await ask(web, **arguments))["status"] == "error"
    entry = http_request_with(Exchange(Allowed()))
    outcome = await entry.function(a_call(), f"{web.url}/")
    assert "LANEWAY_ALLOWED_HOSTS" in outcome["error"]
    assert entry.source({}, outcome) is None
    assert web.visits == []


def test_reading_is_allowed_and_sending_is_asked() -> None:
    entry = http_request_with(Exchange(Allowed()))
    for url, method, decision, changes in (
        ("https://named.example/a?b=c", "GET", Decision.ALLOW, False),
        ("https://named.example/", "HEAD", Decision.ALLOW, False),
        ("https://other.example/", "GET", Decision.ALLOW, True),
        ("https://evil.named.example/", "GET", Decision.ALLOW, True),
        ("https://named.example.evil.example/", "GET", Decision.ALLOW, True),
        ("https://named.example/", "POST", Decision.ASK, True),
        ("https://named.example/", "DELETE", Decision.ASK, True),
        ("file:///etc/passwd", "GET", Decision.DENY, True),
        ("http://me:secret@named.example/", "GET", Decision.DENY, True),
    ):
        verdict = entry.judge({"url": url, "method": method}, a_call("What does https://named.example/ say today?"))
        assert verdict is not None
        assert (verdict.decision, verdict.changes) == (decision, changes), url
        assert "secret" not in verdict.why


def test_keys_are_not_written_down() -> None:
    arguments = {
        "url": "https://api.example/x?api_key=k1&page=2&access_token=k2",
        "headers": {"Authorization": "Bearer k3", "X-Custom": "k4", "Accept": "text/html"},
        "json": {"password": "k5", "inner": [{"secret": "k6", "name": "Ann"}]},
        "method": "POST",
    }
    told = redacted(arguments)
    assert not [key for key in ("k1", "k2", "k3", "k4", "k5", "k6") if key in json.dumps(told)]
    assert (told["headers"]["Accept"], told["method"], told["json"]["inner"][0]["name"]) == ("text/html", "POST", "Ann")
    assert "page=2" in told["url"]
    assert arguments["headers"] == {"Authorization": "Bearer k3", "X-Custom": "k4", "Accept": "text/html"}
