"""Plans as other programs write them, through `POST /pipelines` and the queue: fetched with patience, and joined."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from laneway.llm.scripted import Asked, Call, Say, Turn
from tests.journeys.redis_queue import Producer
from tests.journeys.tables_asked import FLIGHTS, offline
from tests.journeys.tooling import Start
from tests.servers.pages import Pages
from tests.serving import scripted
from tests.web.conftest import Door, Open

CITIES = [{"city": "Oslo", "country": "NO"}, {"city": "Bonn", "country": "DE"}]
ASK = "show me top 10 flights sorted by price"
Answering = Callable[[Request], Awaitable[Response]]


def in_turn(*answers: Response) -> Answering:
    """A page that gives each of the answers once, and the last of them from then on."""
    waiting = list(answers)

    async def answer(request: Request) -> Response:
        return waiting.pop(0) if len(waiting) > 1 else waiting[0]

    return answer


async def hanging_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Reads the request, and goes away without a word."""
    await reader.readuntil(b"\r\n\r\n")
    writer.close()


async def planned(door: Door, *steps: dict[str, Any], **more: Any) -> Any:
    return await door.post("/pipelines", json={"plan": {"steps": list(steps)}, "timeout_sec": 60, **more}, timeout=90)


def seeds_plan(web: Pages) -> list[dict[str, Any]]:
    """The call that the first runner's model makes for its own example, as its tool describes it."""
    return [
        {"step": "http_request", "url": f"{web.url}/flights.json", "method": "GET", "params": {"currency": "EUR"}},
        {"step": "table_filter", "condition": {"field": "price", "op": "<", "value": 200}},
        {"step": "table_sort", "field": "price", "order": "asc"},
        {"step": "table_select", "fields": ["airline", "price"]},
        {"step": "top_k", "k": 2},
    ]


CHEAPEST = [{"airline": "Bee", "price": 80}, {"airline": "Cee", "price": 95}]


async def test_a_fetch_that_may_succeed_a_moment_later_is_tried_again_and_one_that_sends_is_not(
    opened: Open, web: Pages
) -> None:
    table = JSONResponse(FLIGHTS)
    later = JSONResponse({}, 429, headers={"Retry-After": "0"})
    tomorrow = JSONResponse({}, 503, headers={"Retry-After": "86400"})
    broken = await asyncio.start_server(hanging_up, "127.0.0.1", 0)
    port = broken.sockets[0].getsockname()[1]
    hosts = [f"127.0.0.1:{web.port}", f"127.0.0.1:{port}"]
    async with broken, opened(offline(), allowed_hosts=hosts) as door:
        for status in (500, 502, 503):
            web.pages["/busy"] = in_turn(JSONResponse({}, status), later, table)
            web.visits.clear()
            found = await planned(door, {"do": "http_request", "url": f"{web.url}/busy"})
            assert (found["status"], found.get("rows"), len(web.visits)) == ("completed", FLIGHTS, 3), found
        web.pages["/busy"] = tomorrow
        for page, visits in (("/busy", 1), ("/nowhere", 1)):
            web.visits.clear()
            found = await planned(door, {"do": "http_request", "url": f"{web.url}{page}"})
            assert (found["status"], len(web.visits)) == ("failed", visits), found
            assert ("86400 s" in found["error"]["message"]) is (page == "/busy")
        found = await planned(door, {"do": "http_request", "url": f"http://127.0.0.1:{port}/"})
        assert found["error"]["type"] == "fetch-failed"
        web.pages["/sends"] = in_turn(JSONResponse({}, 503), table)
        web.visits.clear()
        sending = {"steps": [{"do": "http_request", "url": f"{web.url}/sends", "method": "POST"}]}
        asked = await door.post("/pipelines", 202, json={"plan": sending, "job_id": "sends"})
        await door.post(f"/approvals/{asked['approvals'][0]['id']}", json={"answer": "approve"})
        for job in (await door.get("/jobs"))["items"]:
            await door.until(job["id"])
        found = await door.post("/pipelines", json={"plan": sending, "job_id": "sends"})
        assert (found["error"]["type"], len(web.visits)) == ("fetch-failed", 1), "it may have been done"


async def test_the_seeds_plan_is_a_list_and_is_taken_as_its_client_sends_it(opened: Open, web: Pages) -> None:
    steps = seeds_plan(web)
    async with opened(offline(), allowed_hosts=[f"127.0.0.1:{web.port}"]) as door:
        for body in ({"plan": steps}, {"pipeline": steps, "session_id": "s-1"}, {"plan": {"pipeline": steps}},
                     {"plan": {"session_id": "s-1", "pipeline": steps}},
                     {"prompt": ASK, "pipeline": steps, "session_id": "s-1", "input_ref": None}):  # fmt: skip
            found = await door.post("/pipelines", json=body)
            assert (found["status"], found.get("rows")) == ("completed", CHEAPEST), (body, found)
        assert web.visits[0].query == "currency=EUR"
        before = found["result_ref"]
        found = await door.post("/pipelines", json={"pipeline": [{"step": "top_k", "k": 1}], "input_ref": before})
        assert found["rows"] == CHEAPEST[:1]
        flat = {"step": "table_filter", "field": "price", "op": ">", "value": 80}
        found = await door.post("/pipelines", json={"pipeline": [flat], "input_ref": before})
        assert found["rows"] == CHEAPEST[1:]
        wrong = await door.post("/pipelines", 400, json={"pipeline": [{"step": "table_srot", "field": "price"}]})
        assert "Step 1" in wrong["detail"]


async def test_what_the_first_runner_posts_is_in_params_and_is_a_body(opened: Open, web: Pages) -> None:
    step = {"step": "http_request", "url": f"{web.url}/flights.json", "method": "POST", "params": {"q": "Oslo"}}
    async with opened(offline(), allowed_hosts=[f"127.0.0.1:{web.port}"]) as door:
        asked = await door.post("/pipelines", 202, json={"pipeline": [step], "job_id": "posts"})
        await door.post(f"/approvals/{asked['approvals'][0]['id']}", json={"answer": "approve"})
        for job in (await door.get("/jobs"))["items"]:
            await door.until(job["id"])
        found = await door.post("/pipelines", json={"pipeline": [step], "job_id": "posts"})
        assert found["rows"] == FLIGHTS
    [visit] = web.visits
    assert (visit.query, json.loads(visit.body)) == ("", {"q": "Oslo"})


async def test_a_job_of_the_queue_may_bring_the_seeds_plan(queue: Start[Producer], web: Pages) -> None:
    async with queue(allowed_hosts=[f"127.0.0.1:{web.port}"]) as producer:
        for field in ("plan", "pipeline"):
            await producer.push(f"by-{field}", ASK, **{field: seeds_plan(web)})
            result = await producer.result(f"by-{field}")
            assert (result["status"], result["result_preview"].get("sample")) == ("completed", CHEAPEST), result


async def test_tables_from_two_addresses_are_joined(opened: Open, web: Pages) -> None:
    web.pages["/cities.json"] = JSONResponse(CITIES)
    flights = {"do": "http_request", "url": f"{web.url}/flights.json"}
    cities = {"do": "http_request", "url": f"{web.url}/cities.json", "table": "cities"}
    join = {"do": "join", "table": "cities", "on": ["city"]}
    in_oslo = [{**row, "country": "NO"} for row in FLIGHTS if row["city"] == "Oslo"]
    async with opened(offline(), allowed_hosts=[f"127.0.0.1:{web.port}"]) as door:
        found = await planned(door, flights, cities, join)
        assert (found["status"], found.get("rows")) == ("completed", in_oslo), found
        assert found["sentence"] == (
            f"From {web.url}/flights.json, with cities from {web.url}/cities.json: join cities by city."
        )
        assert found["counts"] == [
            {"step": "http_request", "rows": 4}, {"step": "http_request", "rows": 2}, {"step": "join", "rows": 2},
        ]  # fmt: skip
        assert found["sources_of_rows"] == [f"{web.url}/flights.json", f"{web.url}/cities.json"]
        unnamed = {key: value for key, value in cities.items() if key != "table"}
        found = await planned(door, flights, unnamed, {**join, "table": "http_request_2"})
        assert found["rows"] == in_oslo
        plan = {"from": "cities", "steps": [flights, cities, {"do": "limit", "count": 1}]}
        found = await door.post("/pipelines", json={"plan": plan})
        assert found["rows"] == CITIES[:1]
        plan = {"from": "flights", "steps": [cities, join]}
        found = await door.post("/pipelines", json={"plan": plan, "tables": {"flights": FLIGHTS}})
        assert (found["rows"], found["counts"][0]) == (in_oslo, {"step": "flights", "rows": 4})
        assert found["sentence"].startswith("From flights, with cities from ")
        found = await planned(door, flights, cities, join, tables={"cities": CITIES})
        assert found["error"]["type"] == "bad-input"
        assert "There is a table cities already" in found["error"]["message"]
        for steps, said in (
            ([flights, cities, cities], "Step 3 (http_request): there is a table cities already."),
            ([flights, join, cities], "Step 3 (http_request): it must come first."),
        ):
            wrong = await door.post("/pipelines", 400, json={"plan": steps})
            assert said in wrong["detail"]


async def test_each_of_two_addresses_that_are_sent_to_is_asked_about(opened: Open, web: Pages) -> None:
    web.pages["/cities.json"] = JSONResponse(CITIES)
    posts: list[dict[str, Any]] = [
        {"do": "http_request", "url": f"{web.url}/{name}.json", "method": "POST", "table": name}
        for name in ("flights", "cities")
    ]
    order = {"plan": [*posts, {"do": "join", "table": "cities", "on": "city", "how": "semi"}], "job_id": "two"}
    async with opened(offline(), allowed_hosts=[f"127.0.0.1:{web.port}"]) as door:
        for visits in (0, 1):
            asked = await door.post("/pipelines", 202, json=order)
            assert (asked["status"], len(web.visits)) == ("waiting", visits)
            await door.post(f"/approvals/{asked['approvals'][0]['id']}", json={"answer": "approve"})
            for job in (await door.get("/jobs"))["items"]:
                await door.until(job["id"], "waiting", "done", "failed")
        found = await door.post("/pipelines", json=order)
        assert found["rows"] == [row for row in FLIGHTS if row["city"] == "Oslo"]
        assert [visit.path for visit in web.visits] == ["/flights.json", "/cities.json"]


async def test_a_models_plan_of_two_addresses_is_judged_by_the_stricter_of_them(opened: Open, web: Pages) -> None:
    reads = {"do": "http_request", "url": f"{web.url}/flights.json"}
    sends = {**reads, "method": "POST", "table": "sent"}

    def script(asked: Asked) -> Turn:
        return Call("execute_pipeline", {"plan": [reads, sends]}) if len(asked.messages) == 1 else Say("Done.")

    async with opened(scripted(script), allowed_hosts=[f"127.0.0.1:{web.port}"]) as door:
        receipt = await door.send(f"work on {web.url}/flights.json", lane="tools")
        job = await door.until(receipt["job_id"], "waiting", "done", "failed")
        assert job["status"] == "waiting", job
        assert "It sends a POST request" in job["approvals"][0]["why"]
        assert web.visits == []
        await door.post(f"/approvals/{job['approvals'][0]['id']}", json={"answer": "approve"})
        assert (await door.until(receipt["job_id"]))["status"] == "done"
        assert [visit.method for visit in web.visits] == ["GET", "POST"]


async def test_joins_of_every_kind_a_union_and_a_rank(door: Door) -> None:
    tables = {"flights": FLIGHTS[:2], "cities": CITIES}
    ida, bee = FLIGHTS[:2]
    nobody = {"airline": None, "price": None, "city": "Bonn", "country": "DE"}
    for how, rows in (
        ("inner", [{**ida, "country": "NO"}]), ("semi", [ida]), ("anti", [bee]),
        ("left", [{**ida, "country": "NO"}, {**bee, "country": None}]),
        ("right", [{**ida, "country": "NO"}, nobody]),
        ("full", [{**ida, "country": "NO"}, {**bee, "country": None}, nobody]),
    ):  # fmt: skip
        plan = {"from": "flights", "steps": [{"do": "join", "table": "cities", "on": ["city"], "how": how}]}
        found = await door.post("/pipelines", json={"plan": plan, "tables": tables})
        assert found.get("rows") == rows, (how, found)
    plan = {"from": "flights", "steps": [
        {"do": "union", "tables": ["more"]},
        {"do": "rank", "by": "price", "order": "asc", "within": ["city"], "column": "place"},
    ]}  # fmt: skip
    found = await door.post("/pipelines", json={"plan": plan, "tables": {"flights": FLIGHTS[:2], "more": FLIGHTS[2:]}})
    assert found.get("rows") == [{**row, "place": place} for row, place in zip(FLIGHTS, (2, 1, 1, 2), strict=True)]
    assert found["sentence"] == (
        "From flights: put the rows of more below, then number the rows by price within each city, lowest first, "
        "as place."
    )
    assert found["sources_of_rows"] == ["the table `flights` of the request", "the table `more` of the request"]
