"""The owner is told and asked in one place, where a person reads: never in a thread that a program's request opened."""

from __future__ import annotations

from typing import Any

import pytest

from laneway.llm.scripted import Asked, Call, Say, Turn
from tests.journeys.telegram_chat import OPERATOR, OWNER, Chat
from tests.journeys.tooling import Counter, Start, calls
from tests.servers.pages import Pages
from tests.serving import scripted
from tests.web.conftest import Door, Open


async def told_in(door: Door, text: str) -> str | None:
    """The thread in which this notice stands."""
    rows = door.rows(
        "SELECT t.channel || '/' || t.external_id FROM messages m JOIN threads t ON t.id = m.thread_id "
        "WHERE m.meta ? 'notice' AND m.text LIKE %s", f"%{text}%",
    )  # fmt: skip
    assert len(rows) <= 1
    return rows[0][0] if rows else None


async def table_work(door: Door, **more: Any) -> None:
    """A program has something worked out."""
    plan = {"steps": [{"do": "top_k", "k": 1, "by": "price"}]}
    tables = {"flights": [{"price": 3}, {"price": 2}]}
    assert (await door.post("/pipelines", 200, json={"plan": plan, "tables": tables, **more}))["status"] == "completed"


async def test_a_notice_never_goes_where_a_program_asked_but_where_a_person_wrote_last(opened: Open) -> None:
    async with opened() as door:
        await table_work(door)
        await table_work(door, session_id="s")
        assert (await door.post("/notices", json={"text": "to nobody", "id": "1"}))["told"] is False
        assert await told_in(door, "to nobody") is None
        await door.ask("hello", thread="kitchen")
        await table_work(door)
        assert (await door.post("/notices", json={"text": "to the kitchen", "id": "2"}))["told"] is True
        assert await told_in(door, "to the kitchen") == "http/kitchen"
        assert (await door.get("/people/notices"))["place"] == "http/kitchen"


async def test_the_owner_chooses_the_place_and_takes_the_choice_back(opened: Open) -> None:
    async with opened() as door:
        await door.ask("hello", thread="kitchen")
        await door.ask("hello", thread="study")
        assert (await door.put("/people/notices", json={"place": "http/kitchen"}))["place"] == "http/kitchen"
        await door.ask("hello again", thread="study")
        await door.post("/notices", json={"text": "chosen"})
        assert await told_in(door, "chosen") == "http/kitchen"
        assert (await door.put("/people/notices", json={"place": None}))["place"] == "http/study"
        refused = await door.put("/people/notices", 400, json={"place": "telegram"})
        assert "on `telegram`" in refused["detail"]
        await door.ask("hello", sender={"id": "ann"})
        [(theirs,)] = door.rows("SELECT channel || '/' || external_id FROM threads WHERE world = 'customer'")
        await door.put("/people/notices", 400, json={"place": theirs})
        assert (await door.get("/people/notices"))["place"] == "http/study"


@pytest.fixture
def shop() -> Any:
    with Pages() as pages:
        yield pages


async def test_what_a_programs_request_asks_is_asked_where_the_owner_reads(opened: Open, shop: Pages) -> None:
    plan = {"steps": [{"do": "http_request", "url": f"{shop.url}/offer", "method": "POST", "body": {"q": 1}}]}
    async with opened(allowed_hosts=[f"127.0.0.1:{shop.port}"]) as door:
        await door.ask("hello", thread="kitchen")
        waiting = await door.post("/pipelines", 202, json={"plan": plan})
        assert waiting["status"] == "waiting"
        assert await told_in(door, waiting["approvals"][0]["id"]) == "http/kitchen"


async def test_an_operators_approval_reaches_the_owner_who_answers_it_there(telegram: Start[Chat]) -> None:
    counter = Counter()
    async with telegram(calls(Call("press", {"button": "red"})), [counter.entry(asks=True)]) as chat:
        chat.telegram.world.chat(OPERATOR)
        await chat.say("hello", sender=OWNER)
        await chat.sees(1)
        await chat.say("restart the server web1", sender=OPERATOR)
        _, question = await chat.sees(2)
        assert "asks; here a button or a command answers it." in question.text
        (theirs,) = await chat.sees(1, OPERATOR)
        assert await chat.press("Yes", theirs, sender=OPERATOR) == "You may not answer this; the owner may."
        assert counter.done == []
        assert await chat.press("Yes", question, sender=OWNER) == "Approved."
        assert "All done." in [one.text for one in await chat.sees(2, OPERATOR)]
        assert counter.done == ["red"]
        await chat.until(lambda: not question.buttons and not theirs.buttons)


async def test_a_notice_is_no_turn_of_the_model(opened: Open) -> None:
    seen: list[str] = []

    def script(asked: Asked) -> Turn:
        seen.append(str(asked.messages))
        return Say("As I said.")

    async with opened(scripted(script)) as door:
        await door.ask("what is new?")
        await door.post("/notices", json={"text": "80 % of the day budget is spent"})
        assert await told_in(door, "80 %") == f"http/{door.thread}"
        await door.ask("what was it again?")
        assert "As I said." in seen[-1]
        assert not any("80 %" in one for one in seen)
