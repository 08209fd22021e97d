"""The bridge on loopback refuses what WAHA refuses, with WAHA's own words, and then has sent nothing."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx
import pytest

from tests.servers.waha_server import Cut, Fail, WahaServer

ANN, ANNS_LID = "4915112345678@c.us", "123123123123@lid"
NOT_AS_EXPECTED = "Session status is not as expected. Try again later or restart the session"
POSTS = ("sendText", "sendSeen", "startTyping", "stopTyping")
READS = (f"/api/default/lids/{ANNS_LID}", "/api/default/chats/overview", f"/api/default/chats/{ANN}/messages")


@pytest.fixture
def server() -> Iterator[WahaServer]:
    with WahaServer() as running:
        yield running


@pytest.fixture
async def http(server: WahaServer) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(base_url=server.url, headers={"X-Api-Key": server.api_key}) as client:
        yield client


def text(**given: Any) -> dict[str, Any]:
    return {"session": "default", "chatId": ANN, "text": "Hello"} | given


async def test_what_waha_takes_is_taken(server: WahaServer, http: httpx.AsyncClient) -> None:
    for verb in POSTS:
        assert (await http.post(f"/api/{verb}", json=text())).status_code == 201, verb
    for path in READS:
        assert (await http.get(path)).status_code == 200, path
    assert server.texts(ANN) == ["Hello"]


@pytest.mark.parametrize("headers", [{}, {"X-Api-Key": "a-wrong-key"}], ids=["none", "wrong"])
async def test_without_the_key_nothing_is_open(server: WahaServer, headers: dict[str, str]) -> None:
    async with httpx.AsyncClient(base_url=server.url, headers=headers) as stranger:
        answers = [await stranger.post(f"/api/{verb}", json=text()) for verb in POSTS]
        answers += [await stranger.get(path) for path in (*READS, "/api/sessions/default", "/api/version")]
    assert {answer.status_code for answer in answers} == {401}
    assert answers[0].json() == {"message": "Unauthorized", "statusCode": 401}
    assert server.sent == []


async def test_a_session_it_does_not_have_is_named(server: WahaServer, http: httpx.AsyncClient) -> None:
    asked = await http.get("/api/sessions/sales")
    assert asked.status_code == 404
    assert asked.json() == {"statusCode": 404, "message": "Session not found", "error": "Not Found"}
    answers = [await http.post(f"/api/{verb}", json=text(session="sales")) for verb in POSTS]
    answers += [await http.get(path.replace("default", "sales")) for path in READS]
    for answer in answers:
        assert answer.status_code == 404
        assert answer.json()["message"] == 'Session "sales" does not exist'
    assert server.sent == []


@pytest.mark.parametrize("status", ["STARTING", "SCAN_QR_CODE", "FAILED", "STOPPED"])
async def test_a_session_that_does_not_work_says_how_it_is_and_does_nothing(
    server: WahaServer, http: httpx.AsyncClient, status: str
) -> None:
    server.status = status
    answers = [await http.post(f"/api/{verb}", json=text()) for verb in POSTS] + [
        await http.get(path) for path in READS
    ]
    for answer in answers:
        assert answer.status_code == 422
        expected = {"error": NOT_AS_EXPECTED, "session": "default", "status": status, "expected": ["WORKING"]}
        assert answer.json() == expected
    told = (await http.get("/api/sessions/default")).json()
    assert (told["status"], told["me"]) == (status, None)
    assert server.sent == []


@pytest.mark.parametrize(
    ("body", "wrong"),
    [
        ({"session": "default", "text": "x"}, ["chatId must be a string"]),
        ({"session": "default", "chatId": 4915112345678, "text": "x"}, ["chatId must be a string"]),
        ({"chatId": ANN, "text": "x"}, ["session must be a string"]),
        ({"session": "default", "chatId": ANN}, ["text must be a string"]),
        ({}, ["chatId must be a string", "session must be a string", "text must be a string"]),
    ],
)
async def test_what_is_missing_is_listed(
    server: WahaServer, http: httpx.AsyncClient, body: dict[str, Any], wrong: list[str]
) -> None:
    answer = await http.post("/api/sendText", json=body)
    assert answer.status_code == 400
    assert answer.json() == {"statusCode": 400, "message": wrong, "error": "Bad Request"}
    assert server.sent == []


@pytest.mark.parametrize(
    "chat",
    ["123123123123@c.us", "4915112345678@lid", "4915112345678@s.whatsapp.net", "4915112345678", "status@broadcast"],
    ids=["a lid as a number", "a number as a lid", "an internal id", "no id", "the status"],
)
async def test_a_chat_that_is_nobodys_ends_in_the_engines_exception(
    server: WahaServer, http: httpx.AsyncClient, chat: str
) -> None:
    server.account.lids[ANNS_LID] = ANN
    answer = await http.post("/api/sendText", json=text(chatId=chat))
    assert answer.status_code == 500
    told = answer.json()
    assert told["statusCode"] == 500
    assert told["exception"]["message"] == f"2 UNKNOWN: no LID found for {chat} from server"
    assert told["request"]["body"]["chatId"] == chat
    assert server.sent == []


async def test_a_verb_and_a_file_it_does_not_have_are_not_found(http: httpx.AsyncClient) -> None:
    verb = await http.post("/api/sendCarrierPigeon", json=text())
    assert (verb.status_code, verb.json()["message"]) == (404, "Cannot POST /api/sendCarrierPigeon")
    file = await http.get("/api/files/default/none.jpg")
    assert (file.status_code, file.json()["message"]) == (404, "File not found")


async def test_it_misbehaves_on_order_once_and_then_behaves_again(server: WahaServer, http: httpx.AsyncClient) -> None:
    server.orders["sendText"].extend([Fail(429, {}, {"retry-after": "7"}), Cut(accepted=True), Cut(accepted=False)])
    patience = await http.post("/api/sendText", json=text(text="one"))
    assert (patience.status_code, patience.headers["retry-after"]) == (429, "7")
    for words in ("two", "three"):
        with pytest.raises(httpx.TransportError):
            await http.post("/api/sendText", json=text(text=words))
    assert (await http.post("/api/sendText", json=text(text="four"))).status_code == 201
    assert server.texts(ANN) == ["two", "four"]


async def test_webhooks_are_signed_over_the_bytes_that_are_sent(server: WahaServer) -> None:
    body = b'{"event": "message"}'
    headers = server.signed(body)
    assert headers["X-Webhook-Hmac"] == hmac.new(server.hmac_key.encode(), body, hashlib.sha512).hexdigest()
    assert headers["X-Webhook-Hmac-Algorithm"] == "sha512"
    assert server.signed(body, "another-key")["X-Webhook-Hmac"] != headers["X-Webhook-Hmac"]
    assert server.account.event({})["id"].startswith("evt_")
