"""A message's judgement is corrected over HTTP: noted at once, decided later, taken back, and only by those who may."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from tests.web.conftest import Door, Open

STATEMENT = "the cache of the flower shop could do with a flush"
SMALL = """fallback = "ask"
[labels.ask]
examples = ["how full is the disk?", "is the server up?", "who is logged in?", "why is the site slow?"]
[labels.do]
examples = ["restart the web server", "delete the old logs", "install the update", "stop the database"]
"""


async def correct(door: Door, text: str, **told: Any) -> Any:
    """A message with this text, and the correction it got."""
    message = (await door.ask(text, mode="CLASSIFY"))["id"]
    return await door.post(f"/messages/{message}/correct", 202, json={"label": "command", **told})


async def withdraw(door: Door, correction: Any, expected: int = 200) -> Any:
    return await door.delete(f"/corrections/{correction['id']}", expected)


async def test_what_makes_no_sense_is_refused_and_nothing_is_stored(door: Door) -> None:
    asked = await door.ask("how full is the disk?")
    message = asked["id"]
    cases: list[tuple[dict[str, Any], str]] = [
        ({"label": "order"}, "`order` is no label of message. Say one of question, command, other."),
        ({"label": "command", "taxonomy": "mood"}, "There is no taxonomy `mood`."),
        ({"label": "question", "needs_confirmation": True}, "question cannot"),
        ({"label": "command", "needs_confirmation": "perhaps"}, "needs_confirmation"),
        ({"label": "command", "colour": "red"}, "colour"),
        ({}, "label"),
    ]
    for told, says in cases:
        problem = await door.post(f"/messages/{message}/correct", 400, json=told)
        assert says in f"{problem['detail']} {problem.get('hint', '')}"
    assert (await door.get(f"/messages/{message}/why"))["corrections"] == []
    await door.post(f"/messages/{uuid4()}/correct", 404, json={"label": "other"})
    reply = asked["replies"][0]["message_id"]
    problem = await door.post(f"/messages/{reply}/correct", 400, json={"label": "other"})
    assert "was not judged" in problem["detail"]


async def test_corrections_are_listed_newest_first_and_page_by_page(own_door: Door) -> None:
    door = own_door
    noted = [await correct(door, f"flush cache {number}") for number in range(3)]
    gone = await withdraw(door, noted[1])
    page = await door.get("/corrections", limit=2)
    assert (page["items"], page["next"]) == ([noted[2], gone], gone["id"])
    assert await door.get("/corrections", limit=2, before=page["next"]) == {"items": [noted[0]], "next": None}
    assert [one["id"] for one in (await door.get("/corrections", state="withdrawn"))["items"]] == [gone["id"]]
    assert "state" in (await door.get("/corrections", 400, state="forgotten"))["fields"]


async def test_a_correction_is_noted_shown_by_why_and_withdrawn_once_and_an_event_tells_of_it(door: Door) -> None:
    noted = await correct(door, "flush the cache", needs_confirmation=True)
    assert (noted["state"], noted["label"], noted["flag"], noted["taxonomy"]) == ("pending", "command", True, "message")
    assert (await door.get(f"/messages/{noted['message_id']}/why"))["corrections"] == [noted]
    async with door.watching(since="start") as events:
        gone = await withdraw(door, noted)
        told = await anext(one async for one in events if one.event == "classification.correction_withdrawn")
    assert (gone["state"], gone["reason"]) == ("withdrawn", "It was pending before.")
    assert told.data["body"]["correction_id"] == noted["id"]
    problem = await withdraw(door, noted, 409)
    assert (problem["code"], noted["id"] in problem["detail"]) == ("conflict", True)
    assert gone in (await door.get("/corrections"))["items"]
    assert (await withdraw(door, {"id": uuid4()}, 404))["code"] == "not-found"


async def test_an_operator_may_correct_and_list_and_nothing_else_and_a_customer_neither(door: Door) -> None:
    message = (await door.ask("flush the cache"))["id"]
    async with door.somebody_else("operator") as operator:
        noted = await operator.post(f"/messages/{message}/correct", 202, json={"label": "command"})
        assert noted in (await operator.get("/corrections"))["items"]
        assert (await withdraw(operator, noted, 403))["detail"] == "This needs a key of the role owner."
        for path in (f"/messages/{message}", f"/messages/{message}/why", f"/corrections/{noted['id']}"):
            assert (await operator.get(path, 403))["code"] == "forbidden", path
        await operator.post("/classify", 403, json={"taxonomy": "message", "text": "flush the cache"})
    async with door.somebody_else("customer") as customer:
        problem = await customer.post(f"/messages/{message}/correct", 403, json={"label": "command"})
        assert problem["detail"] == "This needs a key of the role owner or operator."
        await customer.get("/corrections", 403)
        await withdraw(customer, noted, 403)
    assert (await door.get(f"/messages/{message}/why"))["corrections"] == [noted]


@pytest.mark.slow
async def test_a_correction_changes_what_the_server_judges_until_it_is_withdrawn(opened: Open, tmp_path: Path) -> None:
    # A taxonomy of the owner's that is trained in a moment.
    (tmp_path / "taxonomies").mkdir()
    (tmp_path / "taxonomies" / "small.toml").write_text(SMALL, encoding="utf-8")
    async with opened(local_classifier=True) as door, asyncio.timeout(100):

        async def judged() -> tuple[str, str]:
            asked = {"taxonomy": "small", "text": STATEMENT, "model": False}
            found = await door.post("/classify", json=asked)
            return found["label"], found["decided_by"]

        before = await judged()
        other = "do" if before[0] == "ask" else "ask"
        noted = await correct(door, STATEMENT, taxonomy="small", label=other)
        # What was learnt word for word needs no encoder.
        while await judged() != (other, "rules"):
            await asyncio.sleep(0.1)
        (learnt,) = (await door.get("/corrections"))["items"]
        assert (learnt["state"], learnt["reason"][:6]) == ("accepted", "Learnt")
        assert (await withdraw(door, noted))["reason"] == "It was accepted before."
        while await judged() != before:
            await asyncio.sleep(0.1)
