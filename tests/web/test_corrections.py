"""A message's judgement is corrected over HTTP: noted at once, decided later, taken back, and only by those who may."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from laneway.domain.conversation import Role
from laneway.store import principals
from laneway.store.database import Database
from tests.cli.processes import Shell
from tests.web.conftest import Door, Open

STATEMENT = "the cache of the flower shop could do with a flush"
SMALL = """fallback = "ask"
[labels.ask]
examples = ["how full is the disk?", "is the server up?", "who is logged in?", "why is the site slow?",
  "what is the load?", "when did the backup end?", "which port is open?", "how many users are there?",
  "where is the log kept?", "what uses the memory?", "is the database running?", "how long has it been up?"]
[labels.do]
examples = ["restart the web server", "delete the old logs", "install the update", "stop the database",
  "create a new user", "kill that process", "show the last log lines", "list all users", "print the disk usage",
  "count the open files", "check the backup", "display the running jobs"]
"""
PATIENCE = 240
"""Seconds for what is trained on two busy cores."""


async def correct(door: Door, text: str, **told: Any) -> Any:
    """A message with this text, and the correction it got."""
    message = (await door.ask(text, mode="CLASSIFY"))["id"]
    return await door.post(f"/messages/{message}/correct", 202, json={"label": "command", **told})


async def withdraw(door: Door, correction: Any, expected: int = 200) -> Any:
    response = await door.http.delete(f"/corrections/{correction['id']}")
    assert response.status_code == expected, response.text
    return response.json()


async def test_a_correction_is_noted_and_why_shows_it(door: Door) -> None:
    message = (await door.ask("the cache could do with a flush"))["id"]
    told = {"label": "command", "needs_confirmation": True}
    noted = await door.post(f"/messages/{message}/correct", 202, json=told)
    assert (noted["state"], noted["label"], noted["flag"], noted["taxonomy"]) == ("pending", "command", True, "message")
    assert noted["text"] == "the cache could do with a flush"
    why = await door.get(f"/messages/{message}/why")
    assert why["corrections"] == [noted]


@pytest.mark.parametrize(
    ("told", "says"),
    [
        ({"label": "order"}, "`order` is no label of message. Say one of question, command, other."),
        ({"label": "command", "taxonomy": "mood"}, "There is no taxonomy `mood`."),
        ({"label": "question", "needs_confirmation": True}, "question cannot"),
        ({"label": "command", "needs_confirmation": "perhaps"}, "needs_confirmation"),
        ({"label": "command", "colour": "red"}, "colour"),
        ({}, "label"),
    ],
)
async def test_what_makes_no_sense_is_refused_and_nothing_is_stored(
    door: Door, told: dict[str, Any], says: str
) -> None:
    message = (await door.ask("how full is the disk?"))["id"]
    problem = await door.post(f"/messages/{message}/correct", 400, json=told)
    assert says in f"{problem['detail']} {problem.get('hint', '')}"
    assert (await door.get(f"/messages/{message}/why"))["corrections"] == []


async def test_only_messages_of_people_that_are_there_are_corrected(door: Door) -> None:
    missing = uuid4()
    problem = await door.post(f"/messages/{missing}/correct", 404, json={"label": "other"})
    assert str(missing) in problem["detail"]
    reply = (await door.ask("how full is the disk?"))["replies"][0]["message_id"]
    problem = await door.post(f"/messages/{reply}/correct", 400, json={"label": "other"})
    assert "was not judged" in problem["detail"]


async def test_corrections_are_listed_newest_first_and_page_by_page(door: Door) -> None:
    noted = [await correct(door, f"flush cache {number}") for number in range(3)]
    gone = await withdraw(door, noted[1])
    page = await door.get("/corrections", limit=2)
    assert (page["items"], page["next"]) == ([noted[2], gone], gone["id"])
    assert await door.get("/corrections", limit=2, before=page["next"]) == {"items": [noted[0]], "next": None}
    assert [one["id"] for one in (await door.get("/corrections", state="withdrawn"))["items"]] == [gone["id"]]
    assert "state" in (await door.get("/corrections", 400, state="forgotten"))["fields"]


async def test_a_correction_is_withdrawn_once_and_an_event_tells_of_it(door: Door) -> None:
    noted = await correct(door, "flush the cache")
    async with door.watching(since="start") as events:
        gone = await withdraw(door, noted)
        told = await anext(event async for event in events if event.event.startswith("classification.correction"))
    assert (gone["state"], gone["reason"]) == ("withdrawn", "It was pending before.")
    assert (told.event, told.data["body"]["correction_id"]) == ("classification.correction_withdrawn", noted["id"])
    problem = await withdraw(door, noted, 409)
    assert (problem["code"], noted["id"] in problem["detail"]) == ("conflict", True)
    assert (await door.get("/corrections"))["items"] == [gone]
    assert (await withdraw(door, {"id": uuid4()}, 404))["code"] == "not-found"


@asynccontextmanager
async def door_of(door: Door, database_url: str, role: Role) -> AsyncIterator[Door]:
    """The same door for somebody else, who has a key."""
    db, key = Database(database_url), f"lw_{uuid4().hex}"
    await db.open()
    async with db.transaction() as tx:
        await principals.add(tx, role, "Ann", key)
    await db.close()
    opened = Door(door.url, key)
    async with opened.http:
        yield opened


async def test_an_operator_may_correct_and_list_and_nothing_else(door: Door, database_url: str) -> None:
    message = (await door.ask("flush the cache"))["id"]
    async with door_of(door, database_url, Role.OPERATOR) as operator:
        noted = await operator.post(f"/messages/{message}/correct", 202, json={"label": "command"})
        assert (await operator.get("/corrections"))["items"] == [noted]
        assert (await withdraw(operator, noted, 403))["detail"] == "This needs a key of the role owner."
        for path in ("/messages", f"/messages/{message}", f"/messages/{message}/why", "/threads", "/jobs", "/events",
                     "/approvals", "/ledger", "/outbox", "/status", "/logs", "/metrics", "/openapi.json", "/nowhere",
                     "/corrections/", f"/corrections/{noted['id']}"):  # fmt: skip
            assert (await operator.get(path, 403))["code"] == "forbidden", path
        await operator.post("/messages", 403, json={"text": "flush the cache"})
        await operator.post("/sql", 403, json={"statement": "SELECT 1"})
        await operator.post("/classify", 403, json={"taxonomy": "message", "text": "flush the cache"})
        await operator.post("/corrections", 403)


async def test_a_customer_may_neither_correct_nor_look(door: Door, database_url: str) -> None:
    message = (await door.ask("flush the cache"))["id"]
    async with door_of(door, database_url, Role.CUSTOMER) as customer:
        problem = await customer.post(f"/messages/{message}/correct", 403, json={"label": "command"})
        assert problem["detail"] == "This needs a key of the role owner or operator."
        await customer.get("/corrections", 403)
        await withdraw(customer, {"id": uuid4()}, 403)
    assert (await door.get("/corrections"))["items"] == []


@pytest.fixture
def small(tmp_path: Path) -> None:
    """The owner has a taxonomy that is trained in a moment."""
    (tmp_path / "taxonomies").mkdir()
    (tmp_path / "taxonomies" / "small.toml").write_text(SMALL, encoding="utf-8")


async def judged(door: Door, text: str) -> tuple[str, str]:
    """What the text is by the small taxonomy, and who says so."""
    found = await door.post("/classify", json={"taxonomy": "small", "text": text, "model": False})
    return found["label"], found["decided_by"]


async def until_judged(door: Door, text: str, label: str, by: str) -> None:
    """Returns once the text is judged so."""
    async with asyncio.timeout(PATIENCE):
        while await judged(door, text) != (label, by):
            await asyncio.sleep(0.1)


async def until_decided(door: Door, correction: Any) -> Any:
    """The correction as it is listed once it is accepted or refused."""
    async with asyncio.timeout(PATIENCE):
        while True:
            (found,) = [one for one in (await door.get("/corrections"))["items"] if one["id"] == correction["id"]]
            if found["state"] != "pending":
                return found
            await asyncio.sleep(0.1)


@pytest.mark.slow
@pytest.mark.timeout(2 * PATIENCE)
@pytest.mark.usefixtures("small")
async def test_a_correction_changes_what_the_server_judges_until_it_is_withdrawn(opened: Open, tmp_path: Path) -> None:
    async with opened(local_classifier=True) as door:
        before, by = await judged(door, STATEMENT)
        noted = await correct(door, STATEMENT, taxonomy="small", label="do" if before == "ask" else "ask")
        learnt = await until_decided(door, noted)
        assert (learnt["state"], learnt["reason"][:6]) == ("accepted", "Learnt")
        # What was learnt word for word needs no encoder.
        await until_judged(door, STATEMENT, noted["label"], "rules")
        assert (await withdraw(door, learnt))["reason"] == "It was accepted before."
        await until_judged(door, STATEMENT, before, by)

        poison = await correct(door, "Delete the old logs!", taxonomy="small", label="ask")
        refused = await until_decided(door, poison)
        assert refused["state"] == "refused"
        assert "nearly the same as “delete the old logs”, which is do" in refused["reason"]
        shell = Shell(tmp_path, {"LANEWAY_URL": door.url, "LANEWAY_KEY": door.key})
        told = await asyncio.to_thread(shell.run, "why", poison["message_id"])
        assert f"to ask: refused. {refused['reason']}" in told
        assert (await judged(door, "Delete the old logs!"))[0] == "do"
