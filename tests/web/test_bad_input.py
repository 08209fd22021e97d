"""Whatever is wrong with a request is said clearly, and nothing is written."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest
import pytest_asyncio

from tests.conftest import cloned
from tests.serving import serving
from tests.web.conftest import counts

pytestmark = pytest.mark.asyncio(loop_scope="module")

JSON = {"content-type": "application/json"}
FORM = {"content-type": "multipart/form-data; boundary=x"}


@pytest.fixture(scope="module")
def one_database(postgres: str) -> Iterator[str]:
    """A database for all of these tests: none of them may write to it."""
    with cloned(postgres) as url:
        yield url


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def http(one_database: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[httpx.AsyncClient]:
    home: Path = tmp_path_factory.mktemp("home")
    async with (
        serving(one_database, home, max_text_bytes=1000, max_file_bytes=2000) as (url, key),
        httpx.AsyncClient(base_url=url, headers={"X-API-Key": key}, timeout=30) as client,
    ):
        yield client


async def refused(http: httpx.AsyncClient, database: str, status: int, method: str, path: str, **more: Any) -> Any:
    """The problem a request was refused with; nothing was written."""
    before = counts(database)
    response = await http.request(method, path, **more)
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    problem = response.json()
    assert set(problem) >= {"type", "title", "status", "detail", "code", "hint"}
    assert problem["status"] == status
    assert "Traceback" not in response.text
    assert counts(database) == before
    return problem


def form(*parts: tuple[str, bytes]) -> bytes:
    head = b'--x\r\nContent-Disposition: form-data; name="%s"\r\n\r\n%s\r\n'
    return b"".join(head % (name.encode(), value) for name, value in parts) + b"--x--\r\n"


POSTED: dict[str, tuple[int, Any, str]] = {
    "no text": (400, {}, "empty"),
    "empty text": (400, {"text": ""}, "empty"),
    "only spaces": (400, {"text": " \n\t "}, "empty"),
    "text of a wrong type": (400, {"text": 5}, "`text`"),
    "text is null": (400, {"text": None}, "`text`"),
    "a megabyte of text": (413, {"text": "x" * 1_048_576}, "1048576 bytes"),
    "a character too many": (413, {"text": "ä" * 501}, "1002 bytes"),
    "NUL in the text": (400, {"text": "a\x00b"}, "NUL"),
    "half a character in the text": (400, {"text": "\ud800"}, "Unicode"),
    "unknown mode": (400, {"text": "x", "mode": "GUESS"}, "`mode`"),
    "mode in small letters": (400, {"text": "x", "mode": "auto"}, "`mode`"),
    "unknown lane": (400, {"text": "x", "lane": "fast"}, "fast"),
    "unknown channel": (400, {"text": "x", "channel": "telegram"}, "`channel`"),
    "unknown field": (400, {"text": "x", "txet": "y"}, "`txet` is not known"),
    "payload of a wrong type": (400, {"text": "x", "payload": [1]}, "`payload`"),
    "NUL in the payload": (400, {"text": "x", "payload": {"a": ["\x00"]}}, "`payload`"),
    "half a character in a key": (400, {"text": "x", "payload": {"\udfff": 1}}, "`payload`"),
    "execute without classification": (400, {"text": "x", "mode": "EXECUTE"}, "payload.classification"),
    "sender without id": (400, {"text": "x", "sender": {"name": "Ada"}}, "`sender.id` is missing"),
    "sender with an unknown field": (400, {"text": "x", "sender": {"id": "a", "role": "owner"}}, "`sender.role`"),
    "sender with an unprintable id": (400, {"text": "x", "sender": {"id": "a\nb"}}, "sender"),
    "a customer's empty text": (400, {"text": "", "sender": {"id": "a"}}, "empty"),
    "a thread without a name": (400, {"text": "x", "thread": ""}, "thread"),
    "a thread with a long name": (400, {"text": "x", "thread": "t" * 201}, "thread"),
    "an id with a line break": (400, {"text": "x", "id": "a\nb"}, "id"),
    "an id of ours": (400, {"text": "x", "id": "reply:1:answer"}, "reply:"),
    "a list instead of an object": (400, ["text"], "object"),
    "a bare word": (400, "text", "object"),
}  # fmt: skip


@pytest.mark.parametrize("name", POSTED)
async def test_a_wrong_message_is_refused(http: httpx.AsyncClient, one_database: str, name: str) -> None:
    status, body, said = POSTED[name]
    problem = await refused(http, one_database, status, "POST", "/messages", content=json.dumps(body), headers=JSON)
    assert said in problem["detail"]
    assert problem["code"] == ("too-large" if status == 413 else "bad-input")


RAW: dict[str, tuple[int, bytes, dict[str, str], str]] = {
    "broken JSON": (400, b'{"text": "x"', JSON, "not valid JSON"),
    "nothing": (400, b"", JSON, "not valid JSON"),
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
    "a form that breaks off": (400, form(("text", b"x"), ("thread", b"y"))[:-12], FORM, "breaks off"),
    "an empty form": (400, form(), FORM, "empty"),
    "a form with invalid UTF-8": (400, form(("text", b"\xff\xfe")), FORM, "UTF-8"),
    "a form with its own charset": (
        400, form(("text", b"\xff")), {"content-type": "multipart/form-data; charset=utf-8; boundary=x"}, "UTF-8"),
    "a form with an unknown field": (400, form(("text", b"x"), ("txet", b"y")), FORM, "`txet`"),
    "a form with a field twice": (400, form(("text", b"x"), ("text", b"y")), FORM, "twice"),
    "a form with files as text": (400, form(("text", b"x"), ("files", b"y")), FORM, "`files`"),
    "a form with a broken payload": (400, form(("text", b"x"), ("payload", b"{")), FORM, "JSON"),
    "a form with a list as payload": (400, form(("text", b"x"), ("payload", b"[]")), FORM, "`payload`"),
    "a body beyond all bounds": (413, b" " * 13_000_000, JSON, "longer than"),
}  # fmt: skip


@pytest.mark.parametrize("name", RAW)
async def test_a_body_that_cannot_be_read_is_refused(http: httpx.AsyncClient, one_database: str, name: str) -> None:
    status, body, headers, said = RAW[name]
    problem = await refused(http, one_database, status, "POST", "/messages", content=body, headers=headers)
    assert said in problem["detail"]


async def test_a_body_of_unknown_length_is_cut_off(http: httpx.AsyncClient, one_database: str) -> None:
    async def endless() -> AsyncIterator[bytes]:
        for _ in range(200):
            yield b" " * 100_000

    for path in ("/messages", "/sql"):
        problem = await refused(http, one_database, 413, "POST", path, content=endless(), headers=JSON)
        assert problem["code"] == "too-large"


@pytest.mark.parametrize(
    ("files", "status", "said"),
    [
        ([("files", ("a.bin", b"x" * 2001))], 413, "a.bin has 2001 bytes"),
        ([("files", (f"{n}", b"x")) for n in range(21)], 400, "Too many files"),
        ([("text", ("a.txt", b"x"))], 400, "`text` must be text"),
        ([("files", (None, b"x"))], 400, "`files` must be a file"),
    ],
    ids=["too large", "too many", "text as a file", "a file as text"],
)
async def test_a_wrong_file_is_refused(
    http: httpx.AsyncClient, one_database: str, files: Any, status: int, said: str
) -> None:
    data = {} if files[0][0] == "text" else {"text": "x"}
    problem = await refused(http, one_database, status, "POST", "/messages", files=files, data=data)
    assert said in problem["detail"]


UNKNOWN = uuid4()
REQUESTS: dict[str, tuple[int, str, str, dict[str, Any], str]] = {
    "a path nobody serves": (404, "GET", "/nowhere", {}, "/nowhere"),
    "a slash too many": (404, "GET", "/jobs/", {}, "/jobs/"),
    "a wrong method": (405, "DELETE", "/messages", {}, "DELETE"),
    "an id that is none": (400, "GET", "/jobs/42", {}, "`job_id`"),
    "a message id that is none": (400, "GET", "/messages/x/why", {}, "`message_id`"),
    "a thread id that is none": (400, "POST", "/threads/x/stop", {}, "`thread_id`"),
    "a filter that is no id": (400, "GET", "/messages", {"params": {"thread": "main"}}, "`thread`"),
    "an unknown filter": (400, "GET", "/jobs", {"params": {"statuss": "done"}}, "`statuss`"),
    "an unknown status": (400, "GET", "/jobs", {"params": {"status": "lost"}}, "`status`"),
    "a limit of nothing": (400, "GET", "/jobs", {"params": {"limit": 0}}, "`limit`"),
    "a limit beyond": (400, "GET", "/jobs", {"params": {"limit": 201}}, "`limit`"),
    "a limit in words": (400, "GET", "/threads", {"params": {"limit": "ten"}}, "`limit`"),
    "a number beyond the database": (400, "GET", "/messages", {"params": {"before": 2**63}}, "`before`"),
    "an outbox state that is none": (400, "GET", "/outbox", {"params": {"state": "lost"}}, "`state`"),
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
    "a statement in no UTF-8": (400, "POST", "/sql", {"content": b'{"statement": "\xff"}', "headers": JSON}, "UTF-8"),
    "a statement as text": (400, "POST", "/sql", {"content": b"SELECT 1"}, "body"),
    "lines below nothing": (400, "GET", "/logs", {"params": {"lines": 0}}, "`lines`"),
    "a byte before the file": (400, "GET", "/logs", {"params": {"after": -1}}, "`after`"),
}  # fmt: skip


@pytest.mark.parametrize("name", REQUESTS)
async def test_a_wrong_request_is_refused(http: httpx.AsyncClient, one_database: str, name: str) -> None:
    status, method, path, more, said = REQUESTS[name]
    problem = await refused(http, one_database, status, method, path, **more)
    assert said in problem["detail"]


async def test_wrong_fields_are_listed_by_name(http: httpx.AsyncClient, one_database: str) -> None:
    body = {"text": 1, "mode": "x", "extra": 1}
    problem = await refused(http, one_database, 400, "POST", "/messages", json=body)
    assert set(problem["fields"]) == {"text", "mode", "extra"}


async def test_a_wrong_method_names_the_right_ones(http: httpx.AsyncClient) -> None:
    response = await http.put("/status")
    assert "GET" in response.headers["allow"]
