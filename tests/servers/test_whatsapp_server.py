"""The Graph API on loopback refuses what Meta refuses, with Meta's own words."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx
import pytest

from tests.servers.whatsapp_server import NUMBER_ID, TOKEN, WhatsAppServer

KIM = "4915112345678"
BASE: dict[str, Any] = {"messaging_product": "whatsapp", "recipient_type": "individual", "to": KIM}


@pytest.fixture
def server() -> Iterator[WhatsAppServer]:
    with WhatsAppServer() as running:
        running.templates["note"] = 1
        yield running


@pytest.fixture
async def http(server: WhatsAppServer) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(base_url=server.api, headers={"Authorization": f"Bearer {TOKEN}"}) as client:
        yield client


def text(body: str) -> dict[str, Any]:
    return {"type": "text", "text": {"body": body}}


def buttons(count: int, title: str = "Yes", body: str = "?") -> dict[str, Any]:
    made = [{"type": "reply", "reply": {"id": f"id{n}", "title": f"{title}{n}"}} for n in range(count)]
    return {
        "type": "interactive",
        "interactive": {"type": "button", "body": {"text": body}, "action": {"buttons": made}},
    }


def rows(count: int, title: str = "Row", **row: str) -> dict[str, Any]:
    made = [{"id": f"id{n}", "title": f"{title}{n}", **row} for n in range(count)]
    action = {"button": "Choose", "sections": [{"title": "All", "rows": made}]}
    return {"type": "interactive", "interactive": {"type": "list", "body": {"text": "?"}, "action": action}}


def note(*parameters: str, name: str = "note") -> dict[str, Any]:
    given = [{"type": "text", "text": one} for one in parameters]
    body = [{"type": "body", "parameters": given}]
    return {"type": "template", "template": {"name": name, "language": {"code": "en"}, "components": body}}


@pytest.mark.parametrize(
    "taken",
    [text("x" * 4096), buttons(3, "y" * 19), buttons(1, body="x" * 1024), rows(10, "z" * 23), note("one line")],
    ids=["text", "buttons", "body", "rows", "template"],
)
async def test_what_meta_takes_is_taken(server: WhatsAppServer, http: httpx.AsyncClient, taken: dict[str, Any]) -> None:
    answer = await http.post(f"/{NUMBER_ID}/messages", json=BASE | taken)
    assert answer.status_code == 200, answer.text
    assert answer.json()["messages"] == [{"id": server.sent[0].id}]
    assert answer.json()["contacts"] == [{"input": KIM, "wa_id": KIM}]


@pytest.mark.parametrize(
    ("refused", "code", "words"),
    [
        (text("x" * 4097), 100, "must be at most 4096 characters"),
        (text(" "), 100, "text['body'] is required"),
        (buttons(4), 131009, "Max allowed buttons: 3"),
        (buttons(0), 131009, "Min allowed buttons: 1"),
        (buttons(1, "x" * 20), 131009, "Button title length invalid. Min length: 1, Max length: 20"),
        (buttons(1, body="x" * 1025), 131009, "Max length: 1024"),
        (rows(11), 131009, "Total row count exceed max allowed count: 10"),
        (rows(1, "x" * 24), 131009, "Max length: 24"),
        (rows(1, description="x" * 73), 131009, "Max length is 72"),
        (note("a", name="gone"), 132001, "does not exist"),
        (note("a", "b"), 132000, "number of localizable_params (2)"),
        (note("two\nlines"), 132018, "new-line/tab"),
        ({"type": "fax", "fax": {}}, 131051, "not currently supported"),
        ({"type": "text"}, 131008, "mandatory"),
        ({"recipient_type": "business_scoped_user_id", **text("x")}, 100, "Invalid parameter"),
    ],
)  # fmt: skip
async def test_what_meta_refuses_is_refused(
    http: httpx.AsyncClient, refused: dict[str, Any], code: int, words: str
) -> None:
    answer = await http.post(f"/{NUMBER_ID}/messages", json=BASE | refused)
    assert answer.status_code in (400, 404)
    error = answer.json()["error"]
    assert (error["type"], error["code"]) == ("OAuthException", code)
    assert words in error["message"] + error.get("error_data", {}).get("details", "")
    assert error["fbtrace_id"]


async def test_tokens_numbers_windows_people_and_rates_are_checked(
    server: WhatsAppServer, http: httpx.AsyncClient
) -> None:
    async def code(path: str = NUMBER_ID, **headers: str) -> tuple[int, int]:
        answer = await http.post(f"/{path}/messages", json=BASE | text("x"), headers=headers)
        return answer.status_code, answer.json().get("error", {}).get("code", 0)

    assert await code(authorization="Bearer wrong") == (401, 190)
    assert await code(KIM) == (400, 100)
    server.shut.add(KIM)
    assert await code() == (400, 131047)
    server.unknown.add(KIM)
    assert await code() == (400, 131026)
    server.shut.clear()
    server.unknown.clear()
    server.pair_burst = 2
    assert [await code() for _ in range(3)] == [(200, 0), (200, 0), (400, 131056)]


async def test_files_need_the_token_and_their_address_expires(server: WhatsAppServer, http: httpx.AsyncClient) -> None:
    media_id = server.add_media(b"voice", "audio/ogg")
    found = (await http.get(f"/{media_id}")).json()
    assert (found["file_size"], found["mime_type"]) == (5, "audio/ogg")
    assert (await http.get(found["url"])).content == b"voice"
    assert (await http.get(found["url"], headers={"Authorization": ""})).status_code == 401
    server.url_seconds = -1
    late = (await http.get(f"/{media_id}")).json()["url"]
    assert (await http.get(late)).status_code == 404
