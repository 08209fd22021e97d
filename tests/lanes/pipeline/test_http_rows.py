"""`http_request` of a plan: rows from JSON, CSV and NDJSON, page by page, and never from inside the network."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

import pytest
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response

from laneway.errors import BadInput, LanewayError, TooLarge, Unavailable
from laneway.lanes.pipeline.http_rows import Fetched, FetchRefused, HttpRows
from laneway.sandbox.exchange import Exchange
from laneway.sandbox.hosts import Allowed, HostRefused
from tests.servers.pages import Pages

ROWS = [{"id": number, "price": number * 10} for number in range(1, 8)]


@pytest.fixture
def web() -> Iterator[Pages]:
    with Pages() as pages:
        yield pages


def open_to(web: Pages) -> HttpRows:
    return HttpRows(Exchange(Allowed.of([f"127.0.0.1:{web.port}"])), most_rows=1000)


async def fetch(web: Pages, path: str = "/", **step: Any) -> Fetched:
    return await open_to(web).fetch({"do": "http_request", "url": f"{web.url}{path}", **step})


async def test_a_list_of_objects_is_a_table_and_parameters_and_headers_go_along(web: Pages) -> None:
    web.pages["/"] = JSONResponse(ROWS)
    found = await fetch(web, params={"q": "a b", "n": 3}, headers={"X-Key": "k"})
    assert found.rows == ROWS
    (visit,) = web.visits
    assert (visit.query, visit.headers["x-key"]) == ("q=a+b&n=3", "k")


async def test_csv_and_ndjson_are_tables_and_columns_of_numbers_are_numbers(web: Pages) -> None:
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


async def by_number(request: Request) -> Response:
    page = int(request.query_params.get("page", 1))
    return JSONResponse({"rows": ROWS[(page - 1) * 3 : page * 3]})


async def by_offset(request: Request) -> Response:
    start = int(request.query_params["offset"])
    return JSONResponse({"rows": ROWS[start : start + 3]})


async def by_cursor(request: Request) -> Response:
    start = int(request.query_params.get("after", 0))
    following = start + 3 if start + 3 < len(ROWS) else None
    return JSONResponse({"rows": ROWS[start : start + 3], "meta": {"next": following}})


async def by_next(request: Request) -> Response:
    start = int(request.query_params.get("from", 0))
    following = f"/?from={start + 3}" if start + 3 < len(ROWS) else None
    return JSONResponse({"rows": ROWS[start : start + 3], "next": following})


async def by_link(request: Request) -> Response:
    start = int(request.query_params.get("from", 0))
    link = {"Link": f'<?from={start + 3}>; rel="next", </>; rel="first"'} if start + 3 < len(ROWS) else {}
    return JSONResponse(ROWS[start : start + 3], headers=link)


@pytest.mark.parametrize(
    ("page", "pages"),
    [
        (by_number, {"by": "page", "size": 3}), (by_number, {"by": "page"}), (by_offset, {"by": "offset", "size": 3}),
        (by_cursor, {"by": "cursor", "at": "meta.next", "param": "after"}), (by_next, {"by": "next", "at": "next"}),
        (by_link, {"by": "link"}),
    ],
)  # fmt: skip
async def test_every_kind_of_pages_is_read_to_its_end(web: Pages, page: Any, pages: dict[str, Any]) -> None:
    web.pages["/"] = page
    found = await fetch(web, pages=pages)
    assert found.rows == ROWS
    assert not found.more


async def test_pages_are_read_no_further_than_the_plan_allows_and_that_is_told(web: Pages) -> None:
    web.pages["/"] = by_link
    found = await fetch(web, pages={"by": "link", "most": 2})
    assert (len(found.rows), found.pages, found.more, len(web.visits)) == (6, 2, True, 2)


async def test_pages_that_go_in_circles_end(web: Pages) -> None:
    web.pages["/"] = JSONResponse({"rows": ROWS, "next": "/"})
    found = await fetch(web, pages={"by": "next", "at": "next", "most": 100})
    assert len(web.visits) == found.pages == 1


async def test_a_next_page_at_another_host_is_not_asked_and_gets_no_header(web: Pages) -> None:
    web.pages["/"] = JSONResponse({"rows": ROWS, "next": web.at("localhost", "/b")})
    with pytest.raises(BadInput, match="the next page is at localhost; it was not asked"):
        await fetch(web, headers={"Authorization": "Bearer k"}, pages={"by": "next", "at": "next"})
    assert len(web.visits) == 1


async def test_a_post_sends_its_body_as_json(web: Pages) -> None:
    web.pages["/"] = JSONResponse(ROWS)
    await fetch(web, method="post", body={"q": "é"})
    assert (web.visits[0].method, json.loads(web.visits[0].body)) == ("POST", {"q": "é"})
    assert web.visits[0].headers["content-type"] == "application/json"


@pytest.mark.parametrize(
    "step",
    [
        {"method": "DELETE"}, {"body": "x"}, {"headers": {"Host": "x"}}, {"headers": {"Cookie": "a=b"}}, {"pages": {}},
        {"pages": {"by": "cursor"}}, {"pages": {"by": "page", "start": -1}}, {"format": "xml"}, {"cookies": "a"},
        {"params": {"a": [1]}}, {"headers": {"X": "a\r\nY: b"}},
    ],
)  # fmt: skip
async def test_what_cannot_be_asked_is_refused_before_anybody_is(web: Pages, step: dict[str, Any]) -> None:
    with pytest.raises(BadInput):
        await fetch(web, **step)
    assert web.visits == []


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:{port}/", "http://localhost:{port}/", "http://[::1]:{port}/", "http://2130706433:{port}/",
        "http://0x7f000001:{port}/", "http://0177.0.0.1:{port}/", "http://127.1:{port}/", "http://0.0.0.0:{port}/",
        "http://169.254.169.254/latest/meta-data/", "http://10.0.0.1/", "http://192.168.1.1/", "http://[fd00::1]/",
        "http://[::ffff:127.0.0.1]:{port}/", "http://me:secret@127.0.0.1:{port}/", "file:///etc/passwd",
        "ftp://127.0.0.1/", "gopher://127.0.0.1:{port}/", "http://127.0.0.1:{port}\\@example.org/",
    ],
)  # fmt: skip
async def test_nothing_inside_is_reached_however_it_is_spelt(web: Pages, url: str) -> None:
    web.pages["/"] = JSONResponse(ROWS)
    closed = HttpRows(Exchange(Allowed()), most_rows=1000)
    with pytest.raises(LanewayError) as refusal:
        await closed.fetch({"url": url.format(port=web.port)})
    assert isinstance(refusal.value, BadInput | HostRefused)
    assert web.visits == []


async def test_a_redirect_inside_and_a_name_that_leads_inside_are_refused(web: Pages) -> None:
    web.pages["/inside"] = JSONResponse(ROWS)

    async def names(host: str, port: int) -> Iterable[str]:
        return {"site.example": ["127.0.0.1"], "rebind.example": ["127.0.0.1"]}[host]

    rows = HttpRows(Exchange(Allowed.of([f"site.example:{web.port}"]), resolve=names), most_rows=1000)
    for inside in (f"{web.url}/inside", "http://169.254.169.254/", web.at("rebind.example", "/inside")):
        web.pages["/"] = RedirectResponse(inside)
        with pytest.raises(HostRefused):
            await rows.fetch({"url": web.at("site.example")})
    assert {visit.path for visit in web.visits} == {"/"}
    with pytest.raises(HostRefused):
        await rows.fetch({"url": web.at("rebind.example", "/inside")})


async def test_a_name_that_changes_its_mind_between_two_pages_is_checked_again(web: Pages) -> None:
    answers = [["127.0.0.1"], ["10.0.0.1"]]

    async def names(host: str, port: int) -> Iterable[str]:
        return answers.pop(0)

    web.pages["/"] = by_link
    rows = HttpRows(Exchange(Allowed.of([f"127.0.0.1:{web.port}"]), resolve=names), most_rows=1000)
    with pytest.raises(HostRefused, match=r"10\.0\.0\.1"):
        await rows.fetch({"url": web.at("flips.example"), "pages": {"by": "link"}})
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
    for status in (408, 429, 500, 503):
        web.pages["/down"] = PlainTextResponse("later", status)
        with pytest.raises(Unavailable, match=f"answered {status}"):
            await fetch(web, "/down")
    web.pages["/page"] = PlainTextResponse("<html><p>hello</p></html>", media_type="text/html")
    with pytest.raises(BadInput, match="a page, not a table"):
        await fetch(web, "/page")
