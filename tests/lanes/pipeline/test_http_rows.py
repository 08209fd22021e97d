"""`http_request` of a plan: rows from JSON, CSV and NDJSON, page by page, and never from inside the network."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response

from laneway.errors import BadInput, LanewayError, TooLarge, Unavailable
from laneway.lanes.pipeline.http_rows import Fetched, FetchRefused, HttpRows
from laneway.lanes.pipeline.plan import plan_of
from laneway.sandbox.exchange import Exchange
from laneway.sandbox.hosts import Allowed, HostRefused
from tests.servers.pages import Pages

ROWS = [{"id": number, "price": number * 10} for number in range(1, 8)]


class Naps:
    """A sleep that takes no time, remembers how long it should have been, and does what a test does meanwhile."""

    def __init__(self, meanwhile: Callable[[], object] | None = None) -> None:
        self.seconds: list[float] = []
        self._meanwhile = meanwhile

    async def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)
        if self._meanwhile is not None:
            self._meanwhile()


def open_to(port: int, naps: Naps | None = None) -> HttpRows:
    return HttpRows(Exchange(Allowed.of([f"127.0.0.1:{port}"])), most_rows=1000, sleep=naps or Naps())


def step_of(url: str, **step: Any) -> dict[str, Any]:
    """The step as a checked plan has it."""
    [checked] = plan_of([{"do": "http_request", "url": url, **step}]).fetches.values()
    return checked


async def fetch(web: Pages, path: str = "/", naps: Naps | None = None, **step: Any) -> Fetched:
    return await open_to(web.port, naps).fetch(step_of(f"{web.url}{path}", **step))


async def test_json_csv_and_ndjson_are_tables_and_what_the_step_says_goes_along(web: Pages) -> None:
    web.pages["/"] = JSONResponse(ROWS)
    assert (await fetch(web, params={"q": "a b", "n": 3}, headers={"X-Key": "k"})).rows == ROWS
    await fetch(web, method="post", body={"q": "é"})
    got, posted = web.visits
    assert (got.query, got.headers["x-key"]) == ("q=a+b&n=3", "k")
    assert (posted.method, json.loads(posted.body)) == ("POST", {"q": "é"})
    assert posted.headers["content-type"] == "application/json"
    web.pages["/a.csv"] = PlainTextResponse("name,price,zip\nAnn,10,01234\nBob,,99999\n", media_type="text/csv")
    assert (await fetch(web, "/a.csv")).rows == [
        {"name": "Ann", "price": 10, "zip": "01234"}, {"name": "Bob", "price": None, "zip": "99999"},
    ]  # fmt: skip
    web.pages["/b"] = PlainTextResponse("\n".join(json.dumps(row) for row in ROWS), media_type="application/x-ndjson")
    assert (await fetch(web, "/b")).rows == ROWS


async def test_rows_are_found_where_the_plan_says_and_several_lists_are_not_guessed_between(web: Pages) -> None:
    web.pages["/"] = JSONResponse({"data": {"items": ROWS}, "a": [{"x": 1}], "b": [{"y": 1}]})
    assert (await fetch(web, rows_at="data.items")).rows == ROWS
    with pytest.raises(BadInput, match=r"several lists: `a`, `b`.*rows_at"):
        await fetch(web)
    with pytest.raises(BadInput, match=r"nothing at `data\.rows`"):
        await fetch(web, rows_at="data.rows")


async def pages_of_three(request: Request) -> Response:
    """Three rows from where the request says, with every way to say where the next ones are."""
    asked = request.query_params
    start = int(asked.get("offset", asked.get("after", (int(asked.get("page", 1)) - 1) * 3)))
    more = start + 3 < len(ROWS)
    document = {
        "rows": ROWS[start : start + 3],
        "meta": {"next": start + 3 if more else None},
        "next": f"/?offset={start + 3}" if more else None,
    }
    link = {"Link": f'<?offset={start + 3}>; rel="next", </>; rel="first"'} if more else {}
    return JSONResponse(document, headers=link)


async def test_every_kind_of_pages_is_read_to_its_end_and_no_further_than_the_plan_allows(web: Pages) -> None:
    web.pages["/"] = pages_of_three
    for pages in (
        {"by": "page", "size": 3}, {"by": "page"}, {"by": "offset", "size": 3}, {"by": "link"},
        {"by": "cursor", "at": "meta.next", "param": "after"}, {"by": "next", "at": "next"},
    ):  # fmt: skip
        found = await fetch(web, pages=pages)
        assert (found.rows, found.more) == (ROWS, False), pages
    web.visits.clear()
    found = await fetch(web, pages={"by": "link", "most": 2})
    assert (len(found.rows), found.pages, found.more, len(web.visits)) == (6, 2, True, 2)
    web.pages["/"] = JSONResponse({"rows": ROWS, "next": "/"})
    assert (await fetch(web, pages={"by": "next", "at": "next", "most": 100})).pages == 1, "a circle ends"


async def test_a_next_page_at_another_host_is_not_asked_and_gets_no_header(web: Pages) -> None:
    web.pages["/"] = JSONResponse({"rows": ROWS, "next": web.at("localhost", "/b")})
    with pytest.raises(BadInput, match="the next page is at localhost; it was not asked"):
        await fetch(web, headers={"Authorization": "Bearer k"}, pages={"by": "next", "at": "next"})
    assert len(web.visits) == 1


async def test_what_cannot_be_asked_or_lies_inside_is_refused_before_anybody_is_asked(web: Pages) -> None:
    steps: list[dict[str, Any]] = [
        {"method": "DELETE"}, {"body": "x"}, {"headers": {"Host": "x"}}, {"headers": {"Cookie": "a=b"}}, {"pages": {}},
        {"pages": {"by": "cursor"}}, {"pages": {"by": "page", "start": -1}}, {"format": "xml"}, {"cookies": "a"},
        {"params": {"a": [1]}}, {"headers": {"X": "a\r\nY: b"}},
    ]  # fmt: skip
    for step in steps:
        with pytest.raises(BadInput):
            await fetch(web, **step)
    web.pages["/"] = JSONResponse(ROWS)
    closed = HttpRows(Exchange(Allowed()), most_rows=1000)
    for url in (web.url, web.at("0x7f000001"), "http://169.254.169.254/", web.at("me:secret@127.0.0.1"), "file:///x"):
        with pytest.raises((BadInput, HostRefused)):
            await closed.fetch(step_of(url))
    assert web.visits == []


async def test_a_name_that_changes_its_mind_between_two_pages_is_checked_again(web: Pages) -> None:
    answers = [["127.0.0.1"], ["10.0.0.1"]]

    async def names(host: str, port: int) -> Iterable[str]:
        return answers.pop(0)

    web.pages["/"] = pages_of_three
    rows = HttpRows(Exchange(Allowed.of([f"127.0.0.1:{web.port}"]), resolve=names), most_rows=1000)
    with pytest.raises(HostRefused, match=r"10\.0\.0\.1"):
        await rows.fetch(step_of(web.at("flips.example"), pages={"by": "link"}))
    assert len(web.visits) == 1


async def test_too_much_an_error_and_a_page_for_people_are_told_as_such(web: Pages) -> None:
    web.pages["/"] = JSONResponse([{"n": n} for n in range(1001)])
    with pytest.raises(TooLarge, match="more than 1000 rows"):
        await fetch(web)
    web.pages["/big"] = PlainTextResponse("x" * 16_000_001)
    with pytest.raises(TooLarge, match="more than 16000000 bytes"):
        await fetch(web, "/big")
    with pytest.raises(FetchRefused, match="answered 404"):
        await fetch(web, "/nowhere")
    web.pages["/down"] = PlainTextResponse("later", 503)
    with pytest.raises(Unavailable, match="answered 503"):
        await fetch(web, "/down")
    web.pages["/page"] = PlainTextResponse("<html><p>hello</p></html>", media_type="text/html")
    with pytest.raises(BadInput, match="a page, not a table"):
        await fetch(web, "/page")


async def test_what_fails_for_a_moment_is_asked_again_as_late_as_the_server_says_and_not_for_ever(web: Pages) -> None:
    def answering(*answers: Response) -> None:
        waiting = list(answers)

        async def answer(request: Request) -> Response:
            return waiting.pop(0) if len(waiting) > 1 else waiting[0]

        web.pages["/"] = answer
        web.visits.clear()

    def busy(status: int, wait: str | None = None) -> Response:
        return PlainTextResponse("later", status, headers={} if wait is None else {"Retry-After": wait})

    table = JSONResponse(ROWS)
    for status in (408, 425, 429, 500, 502, 503, 504):
        naps = Naps()
        answering(busy(status, "7"), busy(status), table)
        assert (await fetch(web, naps=naps)).rows == ROWS
        assert naps.seconds[0] == 7.0
        assert 0 <= naps.seconds[1] <= 1.0
    answering(busy(503, "Wed, 21 Oct 2015 07:28:00 GMT"), table)
    await fetch(web, naps=(naps := Naps()))
    assert naps.seconds == [0.0], "that was long ago"
    answering(busy(503))
    with pytest.raises(Unavailable, match="answered 503"):
        await fetch(web)
    assert len(web.visits) == 4
    for status, wait in ((429, "31"), (404, None), (403, "1")):
        answering(busy(status, wait), table)
        with pytest.raises(
            LanewayError, match=f"answered {status}" + (" and asks to wait 31 s" if wait == "31" else "")
        ):
            await fetch(web)
        assert len(web.visits) == 1
    answering(pages_reply(1), busy(500), pages_reply(2))
    found = await fetch(web, pages={"by": "page", "size": 3, "most": 2})
    assert (len(found.rows), [visit.query for visit in web.visits]) == (6, ["page=1", "page=2", "page=2"])


def pages_reply(number: int) -> Response:
    return JSONResponse(ROWS[(number - 1) * 3 : number * 3])


async def test_what_sends_is_sent_again_only_where_nothing_can_have_arrived(web: Pages) -> None:
    for status in (429, 503):
        web.pages["/"] = PlainTextResponse("later", status, headers={"Retry-After": "0"})
        web.visits.clear()
        with pytest.raises(Unavailable):
            await fetch(web, method="POST")
        assert len(web.visits) == 1
    with socket.socket() as late:
        # Bound and not listening: whoever comes is refused, until it listens.
        late.bind(("127.0.0.1", 0))
        port = late.getsockname()[1]
        web.redirect("/", f"http://127.0.0.1:{port}/", 303)
        both = Exchange(Allowed.of([f"127.0.0.1:{web.port}", f"127.0.0.1:{port}"]))
        web.visits.clear()
        with pytest.raises(Unavailable):
            await HttpRows(both, most_rows=1000, sleep=(naps := Naps())).fetch(step_of(web.url, method="POST"))
        assert (len(web.visits), naps.seconds) == (1, []), "it had arrived, and led elsewhere"
        listening = threading.Event()

        def listen() -> None:
            late.listen()
            listening.set()

        naps = Naps(listen)
        asking = asyncio.create_task(open_to(port, naps).fetch(step_of(f"http://127.0.0.1:{port}/", method="POST")))
        await asyncio.to_thread(serve_one, late, listening)
        assert (await asking).rows == []
        assert len(naps.seconds) == 1


def serve_one(server: socket.socket, listening: threading.Event) -> None:
    """One visitor gets an empty table."""
    assert listening.wait(30)
    server.settimeout(30)
    with server.accept()[0] as visitor:
        visitor.recv(65536)
        visitor.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n[]")
