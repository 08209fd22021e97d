"""Requests about tables or workflows get to their lane whatever they look like, and say how it went in one shape."""

from __future__ import annotations

from typing import Any

from tests.journeys.tables_asked import CHEAPEST, FLIGHTS, chat, offline
from tests.web.conftest import Door, Open

CRATES = [
    {"crate": "c1", "kg": 12, "port": "Oslo"},
    {"crate": "c2", "kg": 45, "port": "Rome"},
    {"crate": "c3", "kg": 31, "port": "Oslo"},
]
REPORT = {
    "nodes": [
        {"id": "fetch", "type": "http", "config": {"url": "https://example.org/rows"}},
        {"id": "process", "type": "transform", "config": {"set": {"rows": "$nodes.fetch.body"}}},
        {"id": "mail", "type": "notify", "config": {"channel": "email", "message": "Done"}},
    ],
    "edges": [{"from": "fetch", "to": "process"}, {"from": "process", "to": "mail"}],
    "triggers": [{"type": "cron", "schedule": "0 7 * * *"}],
}
CHANGES = (
    "pause report until tomorrow at 9",
    "ask me before mail",
    "tell me when fetch fails",
    "remove the step process",
    "rename fetch to download",
    "retry fetch 5 times",
    "send it to anna@example.org instead",
    "set the url of fetch to https://example.org/x",
)


async def waiting_change(door: Door, job_id: str) -> Any:
    """The question that a change of a workflow waits for; nothing has been changed."""
    await door.until(job_id, "waiting", seconds=60)
    [found] = [one for one in (await door.get("/approvals", state="pending"))["items"] if one["job_id"] == job_id]
    assert (await door.get("/workflows/report"))["version"] == 1
    return found


async def test_a_sentence_that_changes_a_workflow_word_for_word_reaches_it_from_any_conversation(opened: Open) -> None:
    async with opened(offline(), local_classifier=True) as door:
        receipt = await door.send("rename fetch to download", thread="before")
        job = await door.until(receipt["job_id"], seconds=60)
        assert job["lane"] != "workflow", "nothing of that name is stored"
        await door.post("/workflows", 201, json={"tag": "report", "document": REPORT})
        for number, sentence in enumerate(CHANGES):
            receipt = await door.send(sentence, thread=f"change {number}")
            approval = await waiting_change(door, receipt["job_id"])
            await door.post(f"/approvals/{approval['id']}", json={"answer": "reject"})
            await door.until(receipt["job_id"], seconds=60)
        shape = await chat(door, CHANGES[-1], 202, workflow_tag="report", current_workflow=REPORT)
        assert shape["approvals"], "and no address was fetched"


async def test_make_this_permanent_takes_what_was_done_once_and_not_offered(door: Door) -> None:
    done = await chat(door, CHEAPEST, tables={"flights": FLIGHTS}, session_id="s")
    assert "offer" not in done
    shape = await chat(door, "make this permanent", 202, session_id="s")
    assert shape["approvals"]


BROKEN: tuple[tuple[str, dict[str, Any]], ...] = (
    ("rename fetch to get", {"nodes": [{"id": "fetch"}], "edges": []}),
    ("remove the fetch step", {"nodes": [{"id": "fetch", "type": "http"}], "edges": ["x"]}),
    ("pause the workflow", {"nodes": [{"id": "fetch", "type": "wait"}], "edges": [], "triggers": "x"}),
    ("remove the fetch step", {"nodes": {"fetch": {"type": "wait", "dependents": 5}}}),
)


async def test_a_workflow_sent_along_that_is_none_is_refused_with_what_is_wrong(door: Door) -> None:
    for number, (text, sent) in enumerate(BROKEN):
        named = await door.send(text, lane="workflow", thread=f"named {number}", runner={"current_workflow": sent})
        job = await door.until(named["job_id"], seconds=60)
        assert (job["status"], job["attempts"]) == ("done", 1), job
        assert job["result"]["failed"]["type"] in ("schema", "bad-input"), job["result"]
        left = await door.send(text, thread=f"left {number}", runner={"current_workflow": sent})
        assert (await door.until(left["job_id"], "done", "waiting", seconds=60))["attempts"] == 1


async def test_a_message_or_request_that_brings_tables_is_work_on_them(opened: Open) -> None:
    asked = (("the heaviest crate", 1), ("show the crates from Oslo", 2), ("crates over 30 kg", 2), ("average kg", 1))
    async with opened(offline(), local_classifier=True) as door:
        for text, rows in asked:
            receipt = await door.send(text, tables={"crates": CRATES}, thread=text)
            job = await door.until(receipt["job_id"], seconds=60)
            assert (job["lane"], job["status"]) == ("pipeline", "done"), text
            assert job["result"]["result_preview"]["row_count"] == rows, text
        for given in (
            {"prompt": "average kg"},
            {"prompt": "distinct ports"},
            {"plan": {"from": "crates", "steps": []}},
        ):
            found = await door.post("/pipelines", json={**given, "tables": {"crates": CRATES}})
            assert found["status"] == "completed", found


async def test_of_other_rows_a_remembered_plan_answers_nothing_it_was_not_made_for(door: Door) -> None:
    for prompt, prices in (("the cheapest flight", [5, 5, 9]), ("the 2 cheapest flights", [5, None, None])):
        once = await chat(door, prompt, tables={"flights": [{"flight": f"f{n}", "price": n} for n in (5, 7, 9)]})
        assert once["status"] == "completed"
        rows = [{"flight": f"f{place}", "price": price} for place, price in enumerate(prices)]
        again = await chat(door, prompt, tables={"flights": rows})
        fresh = await chat(door, f"{prompt} now", tables={"flights": rows})
        assert again["status"] == fresh["status"] or again["plan"] != once["plan"]
        assert again["status"] != "completed" or again["plan"] == fresh["plan"]
