"""Whatever is wrong with a request is said clearly, and nothing is written."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from tests.conftest import cloned
from tests.serving import serving_beside
from tests.web.conftest import Door, counts

JSON = {"content-type": "application/json"}
FORM = {"content-type": "multipart/form-data; boundary=x"}
Request = tuple[int, str, str, dict[str, Any], str]
"""The status it must get, the request, and a part of what is said about it."""


@pytest.fixture(scope="module")
def strict_server(postgres: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Door]:
    """A server with small limits for all of these tests: none of them may write to its database."""
    home: Path = tmp_path_factory.mktemp("home")
    with (
        cloned(postgres) as database,
        serving_beside(database, home, max_text_bytes=1000, max_file_bytes=2000) as (url, key),
    ):
        yield Door(url, key, database)


@pytest.fixture
async def strict(strict_server: Door) -> AsyncIterator[Door]:
    door = Door(strict_server.url, strict_server.key, strict_server.database_url)
    async with door.http:
        yield door


async def refuse(door: Door, requests: dict[str, Request]) -> None:
    """Every request was refused with the problem it has, and nothing was written."""
    before, wrong = counts(door.database_url), []
    for name, (status, method, path, more, said) in requests.items():
        response = await door.http.request(method, path, **more)
        problem = response.json()
        good = (
            response.status_code == problem["status"] == status
            and response.headers["content-type"] == "application/problem+json"
            and set(problem) >= {"type", "title", "status", "detail", "code", "hint"}
            and said in problem["detail"]
            and "Traceback" not in response.text
            and (status != 413 or problem["code"] == "too-large")
        )
        wrong += [] if good else [f"{name}: {response.status_code} {response.text[:300]}"]
    assert not wrong, "\n".join(wrong)
    assert counts(door.database_url) == before


def form(*parts: tuple[str, bytes]) -> bytes:
    head = b'--x\r\nContent-Disposition: form-data; name="%s"\r\n\r\n%s\r\n'
    return b"".join(head % (name.encode(), value) for name, value in parts) + b"--x--\r\n"


POSTED: dict[str, tuple[int, Any, str]] = {
    "empty text": (400, {"text": ""}, "empty"),
    "only spaces": (400, {"text": " \n\t "}, "empty"),
    "text of a wrong type": (400, {"text": 5}, "`text`"),
    "a megabyte of text": (413, {"text": "x" * 1_048_576}, "1048576 bytes"),
    "a character too many": (413, {"text": "ä" * 501}, "1002 bytes"),
    "NUL in the text": (400, {"text": "a\x00b"}, "NUL"),
    "half a character in the text": (400, {"text": "\ud800"}, "Unicode"),
    "unknown mode": (400, {"text": "x", "mode": "GUESS"}, "`mode`"),
    "unknown lane": (400, {"text": "x", "lane": "fast"}, "fast"),
    "unknown field": (400, {"text": "x", "txet": "y"}, "`txet` is not known"),
    "payload of a wrong type": (400, {"text": "x", "payload": [1]}, "`payload`"),
    "NUL in the payload": (400, {"text": "x", "payload": {"a": ["\x00"]}}, "`payload`"),
    "half a character in a key": (400, {"text": "x", "payload": {"\udfff": 1}}, "`payload`"),
    "execute without classification": (400, {"text": "x", "mode": "EXECUTE"}, "payload.classification"),
    "sender without id": (400, {"text": "x", "sender": {"name": "Ada"}}, "`sender.id` is missing"),
    "sender with an unprintable id": (400, {"text": "x", "sender": {"id": "a\nb"}}, "sender"),
    "a thread without a name": (400, {"text": "x", "thread": ""}, "thread"),
    "a thread with a long name": (400, {"text": "x", "thread": "t" * 201}, "thread"),
    "an id with a line break": (400, {"text": "x", "id": "a\nb"}, "id"),
    "an id of ours": (400, {"text": "x", "id": "reply:1:answer"}, "reply:"),
    "a list instead of an object": (400, ["text"], "object"),
}  # fmt: skip


async def test_a_wrong_message_is_refused(strict: Door) -> None:
    posted = {
        name: (status, "POST", "/messages", {"content": json.dumps(body), "headers": JSON}, said)
        for name, (status, body, said) in POSTED.items()
    }
    await refuse(strict, posted)
    problem = await strict.post("/messages", 400, json={"text": 1, "mode": "x", "extra": 1})
    assert set(problem["fields"]) == {"text", "mode", "extra"}


RAW: dict[str, tuple[int, bytes, dict[str, str], str]] = {
    "half a character in the lane": (400, b'{"text": "x", "lane": "\\ud800"}', JSON, ""),
    "broken JSON": (400, b'{"text": "x"', JSON, "not valid JSON"),
    "invalid UTF-8": (400, b'{"text": "\xff\xfe"}', JSON, "UTF-8"),
    "NaN": (400, b'{"text": "x", "payload": {"a": NaN}}', JSON, "NaN"),
    "a number beyond all bounds": (400, b'{"text": "x", "payload": {"a": 1e999}}', JSON, "not finite"),
    "a number with too many digits": (400, b'{"text": "x", "payload": {"a": ' + b"9" * 5000 + b"}}", JSON, "JSON"),
    "nested without end": (400, b'{"text": "x", "payload": ' + b'{"a":' * 200 + b"1" + b"}" * 201, JSON, "deep"),
    "nested beyond the parser": (400, b"[" * 100_000, JSON, "deep"),
    "no content type": (415, b'{"text": "x"}', {}, "Content-Type"),
    "a form without files": (415, b"text=x", {"content-type": "application/x-www-form-urlencoded"}, "not taken"),
    "a form without a boundary": (400, b"x", {"content-type": "multipart/form-data"}, "boundary"),
    "a broken form": (400, b"--x\r\nrubbish", FORM, "form"),
    "an empty form": (400, form(), FORM, "empty"),
    "a form with invalid UTF-8": (400, form(("text", b"\xff\xfe")), FORM, "UTF-8"),
    "a form with its own charset": (
        400, form(("text", b"\xff")), {"content-type": "multipart/form-data; charset=utf-8; boundary=x"}, "UTF-8"),
    "a form with an unknown field": (400, form(("text", b"x"), ("txet", b"y")), FORM, "`txet`"),
    "a form with a field twice": (400, form(("text", b"x"), ("text", b"y")), FORM, "twice"),
    "a form with a broken payload": (400, form(("text", b"x"), ("payload", b"{")), FORM, "JSON"),
    "a body beyond all bounds": (413, b" " * 13_000_000, JSON, "longer than"),
}  # fmt: skip


async def endless() -> AsyncIterator[bytes]:
    for _ in range(200):
        yield b" " * 100_000


FILES: dict[str, tuple[int, Any, str]] = {
    "too large": (413, [("files", ("a.bin", b"x" * 2001))], "a.bin has 2001 bytes"),
    "too many": (400, [("files", (f"{n}", b"x")) for n in range(21)], "Too many files"),
    "text as a file": (400, [("text", ("a.txt", b"x"))], "`text` must be text"),
    "a file as text": (400, [("files", (None, b"x"))], "`files` must be a file"),
}


async def test_a_body_or_a_file_that_cannot_be_read_is_refused(strict: Door) -> None:
    requests: dict[str, Request] = {
        name: (status, "POST", "/messages", {"content": body, "headers": headers}, said)
        for name, (status, body, headers, said) in RAW.items()
    }
    for name, (status, files, said) in FILES.items():
        data = {} if name == "text as a file" else {"text": "x"}
        requests[name] = (status, "POST", "/messages", {"files": files, "data": data}, said)
    for path in ("/messages", "/sql"):
        requests[f"{path} without end"] = (413, "POST", path, {"content": endless(), "headers": JSON}, "")
    await refuse(strict, requests)


UNKNOWN = uuid4()
REQUESTS: dict[str, Request] = {
    "a path nobody serves": (404, "GET", "/nowhere", {}, "/nowhere"),
    "a wrong method": (405, "DELETE", "/messages", {}, "DELETE"),
    "an id that is none": (400, "GET", "/jobs/42", {}, "`job_id`"),
    "a filter that is no id": (400, "GET", "/messages", {"params": {"thread": "main"}}, "`thread`"),
    "an unknown filter": (400, "GET", "/jobs", {"params": {"statuss": "done"}}, "`statuss`"),
    "an unknown status": (400, "GET", "/jobs", {"params": {"status": "lost"}}, "`status`"),
    "a limit beyond": (400, "GET", "/jobs", {"params": {"limit": 201}}, "`limit`"),
    "a number beyond the database": (400, "GET", "/messages", {"params": {"before": 2**63}}, "`before`"),
    "a sum by nothing": (400, "GET", "/ledger", {"params": {"by": "moon"}}, "`by`"),
    "a sum since never": (400, "GET", "/ledger", {"params": {"since": "never"}}, "`since`"),
    "an answer that is none": (400, "POST", f"/approvals/{UNKNOWN}", {"json": {"answer": "maybe"}}, "`answer`"),
    "no answer": (400, "POST", f"/approvals/{UNKNOWN}", {}, "body"),
    "an answer and more": (
        400, "POST", f"/approvals/{UNKNOWN}", {"json": {"answer": "approve", "x": 1}}, "`x` is not known"),
    "an unknown approval": (404, "POST", f"/approvals/{UNKNOWN}", {"json": {"answer": "approve"}}, str(UNKNOWN)),
    "an unknown job": (404, "POST", f"/jobs/{UNKNOWN}/cancel", {}, str(UNKNOWN)),
    "a statement that is none": (400, "POST", "/sql", {"json": {"statement": 5}}, "`statement`"),
    "a broken statement": (400, "POST", "/sql", {"content": b"{", "headers": JSON}, "not valid JSON"),
    "a statement as text": (400, "POST", "/sql", {"content": b"SELECT 1"}, "body"),
    "lines below nothing": (400, "GET", "/logs", {"params": {"lines": 0}}, "`lines`"),
    "a byte before the file": (400, "GET", "/logs", {"params": {"after": -1}}, "`after`"),
    "a cursor that is none": (400, "GET", "/events", {"params": {"since": "-1"}}, "is not an event cursor"),
    "a cursor beyond": (400, "GET", "/events", {"params": {"since": f"{'9' * 19}-1"}}, "is not an event cursor"),
    "two different ids": (
        400, "POST", "/messages", {"json": {"text": "x", "id": "a"}, "headers": {"Idempotency-Key": "b"}},
        "Idempotency-Key"),
    "an unknown session": (404, "GET", f"/sessions/{UNKNOWN}/events", {}, str(UNKNOWN)),
    "a review of nothing": (400, "POST", "/reviews", {"json": {}}, ""),
    "a review of an unknown session": (404, "POST", "/reviews", {"json": {"session": str(UNKNOWN)}}, str(UNKNOWN)),
}  # fmt: skip


async def test_a_wrong_request_is_refused_and_a_wrong_method_names_the_right_ones(strict: Door) -> None:
    await refuse(strict, REQUESTS)
    assert "GET" in (await strict.http.put("/status")).headers["allow"]
