"""Money in a whole Laneway: calls being made are reserved and not spent, and who finds no room meanwhile waits."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from decimal import Decimal
from typing import Any

import pytest

from laneway.app import Parts
from laneway.llm.offline.model import OfflineModel
from laneway.llm.single import only
from tests.llm.conftest import anthropic
from tests.servers import AnthropicServer, Hang, Say
from tests.web.conftest import Door, Open

GIVEN = {"classification": {"intent": "question", "summary": "Asks for news."}}
"""Brought along with a message, so that no model has to judge it."""
SHORT = Say("Here.", tokens_in=10, tokens_out=5, cache_read=0, cache_write=0)


class Bank:
    """A Laneway with a provider that answers when it is let."""

    def __init__(self, door: Door, provider: AnthropicServer) -> None:
        self.door, self.provider, self.gate = door, provider, threading.Event()

    def hold(self) -> None:
        """From now on no call is answered before `gate` is opened."""
        self.provider.script.default = Hang(60, SHORT, until=self.gate)

    async def send(self, number: int, **more: Any) -> str:
        sent = await self.door.send(f"what is {number}?", thread=f"m{number}", payload=GIVEN, **more)
        return str(sent["job_id"])

    def calls(self) -> list[tuple[Any, ...]]:
        return self.door.rows("SELECT state, cost, reserved_cost FROM token_ledger ORDER BY id")

    async def until(self, sql: str, count: int) -> None:
        """So many rows are found."""
        async with asyncio.timeout(30):
            while len(self.door.rows(sql)) < count:
                await asyncio.sleep(0.05)

    async def room_for(self, calls: float) -> None:
        """The owner may spend so many times the worst case of a call, beside what has been spent."""
        await self.door.until(await self.send(0))
        [(_, spent, worst)] = self.calls()
        cap = float(spent + worst * Decimal(calls))
        await self.door.put("/budget", json={"subject": "all", "period": "day", "usd": cap})


@pytest.fixture
async def bank(opened: Open) -> AsyncIterator[Bank]:
    with AnthropicServer() as provider:
        provider.script.default = SHORT
        async with opened(Parts(models=lambda db: only(anthropic(provider), db))) as door:
            yield Bank(door, provider)


OPEN = "SELECT 1 FROM token_ledger WHERE state = 'reserved'"
WAITED = "SELECT DISTINCT job_id FROM events WHERE kind = 'job.queued' AND body->'error'->>'code' = 'budget-busy'"


async def test_of_eight_at_once_where_two_fit_the_others_wait_as_rows_and_all_are_done(bank: Bank) -> None:
    await bank.room_for(2.5)
    bank.hold()
    jobs = [await bank.send(number) for number in range(1, 9)]
    await bank.until(OPEN, 2)
    await bank.until(WAITED, 6)
    assert bank.door.rows("SELECT 1 FROM jobs WHERE attempts > 1") == [], "waiting is no attempt"
    bank.gate.set()
    ended = [await bank.door.until(job) for job in jobs]
    assert [job["status"] for job in ended] == ["done"] * 8, [job["error"] for job in ended]
    assert {state for state, *_ in bank.calls()} == {"settled"}
    # Nobody was told of a budget without room: there was some a moment later.
    assert bank.door.rows("SELECT 1 FROM events WHERE kind IN ('budget.reached', 'job.failed')") == []


async def test_what_is_reserved_is_told_as_spent_nowhere(bank: Bank) -> None:
    await bank.room_for(1.5)
    [(_, spent, worst)] = bank.calls()
    bank.hold()
    job = await bank.send(1)
    await bank.until(OPEN, 1)
    door, cost = bank.door, float(spent)
    [day] = (await door.get("/ledger"))["items"]
    assert (day["calls"], day["cost"], day["reserved"], day["tokens_total"]) == (2, cost, float(worst), 15)
    assert (await door.get("/status"))["today"]["cost"] == cost
    assert (await door.get("/ledger/saved"))["spent"] == cost
    assert f"laneway_ledger_cost_today_usd {cost}" in (await door.http.get("/metrics")).text
    assert (await door.get(f"/jobs/{job}"))["ledger"][0]["cost"] == 0
    [measure] = [one for one in (await door.get("/budget"))["items"] if one["subject"] == "all"][-1]["measures"]
    assert (measure["spent"], measure["reserved"], measure["percent"] < 1) == (cost, float(worst), True)
    [reply] = (await door.ask("/budget", thread="other"))["replies"]
    assert f"${spent:.4f}, ${worst:.4f} reserved for calls being made; the cap is" in reply["text"]
    assert "Budget of this thread: $0.00 of" not in reply["text"]
    assert door.rows("SELECT sum(cost), sum(tokens_total) FROM token_ledger") == [(spent, 15)]
    bank.gate.set()
    assert (await door.until(job))["status"] == "done"


async def test_a_call_whose_maker_is_gone_is_settled_by_the_clock_and_lets_others_go_on(bank: Bank) -> None:
    await bank.room_for(2.5)
    [(_, spent, worst)] = bank.calls()
    # Two calls that no job here knows of: a process died in them, and one of them was never charged.
    sql = (
        "INSERT INTO token_ledger (scope, provider, state, reserved_cost) VALUES ('reactive', 'claude', 'reserved', %s)"
    )
    bank.door.rows(sql, worst)
    bank.door.rows(sql, worst)
    waits = await bank.send(1)
    await bank.until(WAITED, 1)
    bank.door.rows("UPDATE token_ledger SET state = 'released' WHERE id = (SELECT max(id) FROM token_ledger)")
    bank.door.rows("UPDATE token_ledger SET created_at = now() - interval '20 minutes' WHERE state = 'reserved'")
    assert (await bank.door.until(waits))["status"] == "done"
    await bank.until("SELECT 1 FROM token_ledger WHERE state = 'cut'", 1)
    assert bank.door.rows("SELECT sum(cost) FROM token_ledger") == [(spent * 2 + worst,)]


async def test_a_node_of_a_workflow_waits_for_room_as_a_row_and_is_no_failure(bank: Bank) -> None:
    await bank.room_for(1.2)
    node = {"id": "think", "type": "agent", "config": {"prompt": "Say a word."}}
    await bank.door.post("/workflows", 201, json={"tag": "thinking", "document": {"nodes": [node], "edges": []}})
    bank.hold()
    busy = await bank.send(1)
    await bank.until(OPEN, 1)
    run = await bank.door.post("/workflows/thinking/execute", 202, json={})
    await bank.until("SELECT 1 FROM workflow_nodes WHERE status = 'retrying'", 1)
    bank.gate.set()
    assert (await bank.door.until(busy))["status"] == "done"
    async with asyncio.timeout(40):
        while (found := await bank.door.get(f"/runs/{run['run_id']}"))["status"] not in ("done", "failed"):
            await asyncio.sleep(0.1)
    assert found["status"] == "done", found


async def test_a_schedule_that_could_not_make_a_single_call_is_refused_when_its_budget_is_set(bank: Bank) -> None:
    order = {"when": "every day at 9", "text": "look at the disk", "thread": "rounds", "name": "rounds"}
    refused = await bank.door.post("/schedules", 400, json={**order, "budget_usd": 0.001})
    least = refused["detail"].partition("$")[2].partition(",")[0]
    assert refused["detail"] == f"One call may cost up to ${least}, so a run could do nothing."
    assert (await bank.door.get("/schedules"))["items"] == []
    await bank.door.post("/schedules", 201, json={**order, "budget_usd": float(least)})
    subject = {"subject": "schedule", "name": "rounds", "period": "day"}
    for wrong, says in (({"usd": 0.001}, f"up to ${least}"), ({"tokens": 900}, "tokens, so a run could do nothing")):
        assert says in (await bank.door.put("/budget", 400, json={**subject, **wrong}))["detail"]
    # What it names is enough.
    started = await bank.door.post("/schedules/rounds/run", 202)
    assert (await bank.door.until(started["job_id"]))["status"] == "done"
    [(_, cost, worst)] = bank.calls()
    assert 0 < cost < worst <= Decimal(least)


async def test_rules_book_no_tokens_and_no_cap_stops_them(opened: Open) -> None:
    parts = Parts(models=lambda db: only(OfflineModel(), db))
    async with opened(parts, budget_day_tokens=1, budget_day_usd=0.0) as door:
        for number in range(3):
            answered = await door.ask("how full is the disk?", thread=f"t{number}")
            assert "budget" not in answered["replies"][0]["text"]
        [day] = (await door.get("/ledger"))["items"]
        assert (day["calls"] > 0, day["tokens_total"], day["cost"], day["reserved"]) == (True, 0, 0, 0)
        made = {"when": "every day at 9", "text": "look", "budget_usd": 0}
        await door.post("/schedules", 201, json=made)
