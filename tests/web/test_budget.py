"""Budgets by HTTP: the owner sees how each stands, sets one, takes it back; what does not fit is refused."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from laneway.app import Parts
from tests.servers import AnthropicServer
from tests.serving import scripted
from tests.web.conftest import Door, Open, keyed


async def put(door: Door, expected: int = 200, **budget: Any) -> Any:
    return await door.put("/budget", expected, json=budget)


async def test_the_budgets_of_the_settings_are_in_force_from_the_start(own_door: Door) -> None:
    found = await own_door.get("/budget")
    customers, mine = found["items"]
    assert (mine["subject"], mine["period"], mine["world"]) == ("all", "day", "owner")
    [measure] = mine["measures"]
    assert (measure["unit"], measure["cap"], measure["left"]) == ("usd", 5.0, 5.0)
    assert (measure["percent"], measure["setting"]) == (0.0, "budget.day_usd")
    assert datetime.fromisoformat(mine["resets_at"]).time().isoformat() == "00:00:00"
    assert (customers["world"], customers["measures"][0]["cap"]) == ("customer", 2.0)
    assert [(one["subject"], one["usd"], one["setting"]) for one in found["each"]] == [("job", 1.0, "budget.job")]


async def test_a_budget_that_was_set_refuses_the_next_job_and_its_removal_lets_it_through(door: Door) -> None:
    asked = await door.ask("what is new?")
    thread = asked["thread_id"]
    stored = await put(door, subject="thread", name=thread, period="ever", tokens=1)
    assert (stored["name"], stored["label"], stored["resets_at"]) == (thread, f"http/{door.thread}", None)
    [measure] = stored["measures"]
    assert measure["spent"] > 1
    assert (measure["left"], measure["setting"]) == (0.0, None)
    refused = await door.send("and now?")
    job = await door.until(refused["job_id"])
    assert job["error"]["code"] == "budget-exceeded"
    assert "of 1 tokens spent by this thread" in job["error"]["message"]
    assert f"laneway budget set --thread {thread} --tokens N" in job["error"]["message"]
    assert await door.delete("/budget", subject="thread", name=thread, period="ever") == {
        "subject": "thread", "name": thread, "period": "ever", "world": None,
    }  # fmt: skip
    assert (await door.until((await door.send("and now?"))["job_id"]))["status"] == "done"
    again = await door.delete("/budget", 404, subject="thread", name=thread, period="ever")
    assert "Nobody set" in again["detail"]


async def test_a_principal_is_known_by_name_address_or_id(door: Door) -> None:
    await door.ask("hello", sender={"id": "ann", "name": "Ann"}, thread="ann")
    sql = "SELECT p.id::text, a.address, p.name FROM principals p JOIN addresses a ON a.principal_id = p.id"
    [(person, address, called)] = door.rows(f"{sql} WHERE p.role = 'customer' AND a.address = 'http:ann'")
    for name in (person, address, called):
        assert (await put(door, subject="principal", name=name, period="day", usd=1))["name"] == person
    await door.ask("hello", sender={"id": "bea", "name": called}, thread="bea")
    assert person in (await put(door, 400, subject="principal", name=called, period="day", usd=1))["hint"]


async def test_a_budget_that_makes_no_sense_is_refused(door: Door) -> None:
    before = await door.get("/budget")
    cases: list[tuple[dict[str, Any], int, str]] = [
        ({"subject": "all"}, 400, "`usd` or `tokens`"),
        ({"subject": "all", "period": "ever", "usd": 1}, 400, "a day or a month"),
        ({"subject": "job", "name": "x", "usd": 1}, 400, "the whole job"),
        ({"subject": "moon", "usd": 1}, 400, "`subject`"),
        ({"subject": "all", "usd": -1}, 400, "`usd`"),
        ({"subject": "all", "usd": 1, "colour": "red"}, 400, "`colour`"),
        ({"subject": "lane", "name": "fast", "usd": 1}, 400, "no lane `fast`"),
        ({"subject": "scope", "name": "lazy", "usd": 1}, 400, "no scope `lazy`"),
        ({"subject": "thread", "name": "main", "usd": 1}, 400, "not the id of a thread"),
        ({"subject": "principal", "name": "zed", "usd": 1}, 404, "no principal `zed`"),
        ({"subject": "schedule", "name": "zed", "usd": 1}, 404, "no schedule `zed`"),
        ({"subject": "thread", "name": "x", "world": "customer", "usd": 1}, 400, "one world"),
    ]
    for budget, status, told in cases:
        assert told in (await put(door, status, **{"period": "day", **budget}))["detail"]
    assert (await door.get("/budget"))["items"] == before["items"]


async def test_a_call_that_does_not_fit_is_refused_and_the_thread_is_told_once(
    opened: Open, anthropic: AnthropicServer
) -> None:
    async with opened(Parts(), **keyed(anthropic, budget_day_usd=0.03)) as door:
        first, second = [await door.ask("What's the server uptime?") for _ in range(2)]
        said = [one["text"] for one in (await door.get("/messages"))["items"] if one["author"] == "assistant"]
    assert anthropic.requests == []
    refusal = "The day budget does not allow this call: $0.00 of $0.03 spent today (UTC)"
    assert [refusal in told["replies"][-1]["text"] for told in (first, second)] == [True, True]
    assert sum(text.startswith("The day budget has no room left") for text in said) == 1


async def test_the_chat_command_shows_every_cap_that_holds_there(opened: Open) -> None:
    async with opened(scripted(), budget_month_usd=20, budget_day_tokens=100_000) as door:
        replies = (await door.ask("/budget"))["replies"]
    assert replies[0]["text"].splitlines() == [
        "Spent today (UTC): $0.0000; the cap is $5.00.",
        "Day budget: 0 of 100,000 tokens spent (0 %).",
        "Month budget: $0.00 of $20.00 spent (0 %).",
    ]
