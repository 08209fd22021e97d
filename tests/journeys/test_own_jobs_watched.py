"""Laneway's own jobs are watched by the same chain as other agents: warned of, told about, ended."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

import psutil
import pytest

from laneway.domain.action import Verdict, allow, deny
from laneway.domain.conversation import Role
from laneway.domain.job import JobStatus
from laneway.domain.session import EventKind, SessionEvent
from laneway.engine.replay import replayed
from laneway.lanes.tools import ToolEntry
from laneway.llm.scripted import Asked, Call, Say, ScriptedModel, Turn
from laneway.reactors import Continue, Intervene, Reaction, ReactorContext, Severity, Warn
from laneway.store import principals
from tests.journeys.test_stop_and_commands import call_it, gone, sleep_in_a_child, sleeping
from tests.journeys.watching import (
    Saying,
    always,
    coffee,
    made,
    make_coffee,
    no_coffee_yet,
    notices,
    of_kind,
    once,
    settled,
)
from tests.running import laneway

__all__ = ["no_coffee_yet"]


async def test_a_reactor_sees_what_a_job_asks_calls_pays_and_gets(database_url: str, tmp_path: Path) -> None:
    watching = Saying()
    model = ScriptedModel(coffee)
    async with laneway(
        database_url, tmp_path, model, tools=[ToolEntry(make_coffee)], reactors=always(watching)
    ) as here:
        receipt = await here.send("make me coffee")
        await here.until(receipt.job_id)
        await settled(here)
        assert watching.kinds() == ["user", "assistant", "tool_called", "tool_ended", "assistant", "ended"]
        answered, called, ended = watching.seen[1], watching.seen[2], watching.seen[3]
        assert {event.session_id for event in watching.seen} == {str(receipt.job_id)}
        assert {event.provider for event in watching.seen} == {"laneway"}
        assert answered.model == "scripted"
        assert answered.tokens.input > 0
        assert answered.tokens.output > 0
        assert (called.tool, dict(called.arguments)) == ("make_coffee", {"cups": 2})
        assert (ended.call_id, ended.failed) == (called.call_id, False)
        assert ended.result_hash
        assert watching.seen[-1].text == "done"


async def test_what_is_replayed_from_the_store_is_what_was_seen(database_url: str, tmp_path: Path) -> None:
    watching = Saying()
    async with laneway(
        database_url, tmp_path, ScriptedModel(coffee), tools=[ToolEntry(make_coffee)], reactors=always(watching)
    ) as here:
        receipt = await here.send("make me coffee")
        await here.until(receipt.job_id)
        await settled(here)
        async with here.app.db.transaction() as tx:
            stored = await replayed(tx, await here.job(receipt.job_id))

    def told(event: SessionEvent) -> tuple[object, ...]:
        same = (event.kind, event.tool, event.call_id, dict(event.arguments), event.failed, event.result_hash)
        return (*same, event.tokens, event.cost, event.model)

    seen = [event for event in watching.seen if event.kind is not EventKind.TICK]
    assert [told(event) for event in stored.seen] == [told(event) for event in seen]


async def test_a_kill_ends_the_job_before_the_tool_it_was_about_and_the_reply_says_why(
    database_url: str, tmp_path: Path
) -> None:
    killing = Saying(once(EventKind.TOOL_CALLED, Intervene("No coffee after noon.", Severity.KILL)), "barista")
    async with laneway(
        database_url, tmp_path, ScriptedModel(coffee), tools=[ToolEntry(make_coffee)], reactors=always(killing)
    ) as here:
        receipt = await here.send("make me coffee")
        job = await here.until(receipt.job_id)
        assert job.status is JobStatus.CANCELLED
        assert made == []
        told = "Stopped. Ended by the reactor barista: No coffee after noon. Nothing had been done."
        assert [reply.text for reply in await here.replies(receipt.message_id)] == [told]
        assert job.error is not None
        assert "No coffee after noon." in job.error["message"]
        [killed] = await of_kind(here, "reactor.killed")
        assert killed.body["reactor"] == "barista"
        assert killed.body["tool"] == "make_coffee"


@pytest.mark.alone
async def test_a_kill_on_a_tick_ends_a_running_tool_with_its_child_process(database_url: str, tmp_path: Path) -> None:
    def long_enough(ctx: ReactorContext) -> Reaction:
        tick = ctx.event.kind is EventKind.TICK and bool(ctx.state.open_calls)
        return Intervene("It takes too long.", Severity.KILL) if tick else Continue()

    async with laneway(
        database_url, tmp_path, ScriptedModel(call_it), tools=[ToolEntry(sleep_in_a_child)],
        reactors=always(Saying(long_enough)), tick_seconds=0.5,
    ) as here:  # fmt: skip
        receipt = await here.send("what does it say?")
        child: psutil.Process = await sleeping()
        job = await here.until(receipt.job_id)
        assert job.status is JobStatus.CANCELLED
        await gone(child)
        [reply] = await here.replies(receipt.message_id)
        assert "It takes too long." in reply.text


async def test_a_customer_is_not_told_why_but_the_owner_is(database_url: str, tmp_path: Path) -> None:
    killing = Saying(once(EventKind.USER, Intervene("The secret budget of $3 is used up.", Severity.KILL)), "purse")
    async with laneway(database_url, tmp_path, reactors=always(Saying())) as here:
        await here.ask("hello")
    async with laneway(database_url, tmp_path, reactors=always(killing)) as here:
        async with here.app.db.transaction() as tx:
            ann = await principals.by_address(tx, "http:ann", Role.CUSTOMER, "Ann")
        receipt = await here.send("are you open?", "ann", id="ann1", principal=ann)
        assert (await here.until(receipt.job_id)).status is JobStatus.CANCELLED
        assert [reply.text for reply in await here.replies(receipt.message_id)] == ["Stopped. Nothing had been done."]
        [told] = await notices(here)
        assert "The secret budget of $3 is used up." in told
        assert str(receipt.job_id) in told


async def test_a_notification_reaches_the_owner_once_and_the_job_goes_on(database_url: str, tmp_path: Path) -> None:
    telling = Saying(once(EventKind.TOOL_ENDED, Intervene("Two cups at once!")), "doctor")
    async with laneway(
        database_url, tmp_path, ScriptedModel(coffee), tools=[ToolEntry(make_coffee)], reactors=always(telling)
    ) as here:
        assert await here.ask("make me coffee") == "Here you are."
        await settled(here)
        [told] = await notices(here)
        assert "Two cups at once!" in told
        assert "doctor" in told
        [event] = await of_kind(here, "reactor.notified")
        assert event.body["cause"].startswith("tool_ended:")


async def test_a_warning_is_an_event_and_the_strongest_of_several_reactions_wins(
    database_url: str, tmp_path: Path
) -> None:
    warning = Saying(once(EventKind.TOOL_CALLED, Warn("Hot!")), "hands")
    telling = Saying(once(EventKind.TOOL_CALLED, Intervene("Somebody is thirsty.")), "thirst")
    again = Saying(once(EventKind.TOOL_CALLED, Intervene("Very thirsty.")), "more thirst")
    async with laneway(
        database_url, tmp_path, ScriptedModel(coffee), tools=[ToolEntry(make_coffee)],
        reactors=always(warning, telling, again),
    ) as here:  # fmt: skip
        await here.ask("make me coffee")
        await settled(here)
        assert [event.body["reactor"] for event in await of_kind(here, "reactor.warned")] == ["hands", "more thirst"]
        assert [event.body["reactor"] for event in await of_kind(here, "reactor.notified")] == ["thirst"]
        assert len(await notices(here)) == 1


async def test_a_reactor_that_fails_is_an_event_and_the_work_goes_on(database_url: str, tmp_path: Path) -> None:
    def breaks(ctx: ReactorContext) -> Reaction:
        raise ZeroDivisionError("no milk")

    after = Saying()
    async with laneway(
        database_url, tmp_path, ScriptedModel(coffee), tools=[ToolEntry(make_coffee)],
        reactors=always(Saying(breaks, "broken"), after),
    ) as here:  # fmt: skip
        assert await here.ask("make me coffee") == "Here you are."
        await settled(here)
        [failed] = await of_kind(here, "reactor.failed")
        assert failed.body == {"reactor": "broken", "error": "ZeroDivisionError: no milk"}
        assert "tool_ended" in after.kinds()


async def test_the_clock_ticks_while_a_job_runs(database_url: str, tmp_path: Path) -> None:
    watching = Saying()

    def ticks() -> int:
        return [event.kind for event in watching.seen].count(EventKind.TICK)

    async def ticked(call: dict[str, Any]) -> None:
        async with asyncio.timeout(30):
            while ticks() < 3:
                await asyncio.sleep(0.02)

    slow = ScriptedModel([Say("done at last")], on_call=ticked)
    async with laneway(database_url, tmp_path, slow, reactors=always(watching), tick_seconds=0.2) as here:
        began = time.monotonic()
        assert await here.ask("what is new?") == "done at last"
        assert 3 <= ticks() <= 1 + (time.monotonic() - began) / 0.2


async def test_at_the_fifth_identical_call_the_model_is_told_so(database_url: str, tmp_path: Path) -> None:
    results: list[str] = []

    def stubborn(asked: Asked) -> Turn:
        results.extend(asked.tool_results)
        return Say("I give up.") if "hint" in "".join(asked.tool_results) else Call("make_coffee", {"cups": 1})

    async with laneway(database_url, tmp_path, ScriptedModel(stubborn), tools=[ToolEntry(make_coffee)]) as here:
        assert await here.ask("make me coffee") == "I give up."
        await settled(here)
        assert len(made) == 5
        assert ["hint" in result for result in results] == [False, False, False, False, True]
        assert "5 times with the same result" in results[-1]
        [warned] = await of_kind(here, "reactor.warned")
        assert warned.body["reactor"] == "loop"


async def test_a_loop_that_is_armed_ends_the_job_at_the_twelfth_call(database_url: str, tmp_path: Path) -> None:
    def endless(asked: Asked) -> Turn:
        return Call("make_coffee", {"cups": 1})

    async with laneway(
        database_url, tmp_path, ScriptedModel(endless), tools=[ToolEntry(make_coffee)], reactor_kill_on=("loop",)
    ) as here:
        receipt = await here.send("make me coffee")
        job = await here.until(receipt.job_id)
        await settled(here)
        assert job.status is JobStatus.CANCELLED
        assert len(made) == 12
        assert len(await notices(here)) == 1
        assert [event.body["reactor"] for event in await of_kind(here, "reactor.killed")] == ["loop"]


async def test_a_budget_in_tokens_ends_a_job(database_url: str, tmp_path: Path) -> None:
    def endless(asked: Asked) -> Turn:
        return Call("make_coffee", {"cups": asked.turn})

    async with laneway(
        database_url, tmp_path, ScriptedModel(endless), tools=[ToolEntry(make_coffee)],
        reactor_kill_on=("budget",), reactor_budget_tokens=2000,
    ) as here:  # fmt: skip
        receipt = await here.send("make me coffee")
        job = await here.until(receipt.job_id)
        assert job.status is JobStatus.CANCELLED
        [reply] = await here.replies(receipt.message_id)
        assert "budget" in reply.text.lower()


async def test_the_guard_alarms_about_what_was_refused_and_not_about_what_a_judge_let_pass(
    database_url: str, tmp_path: Path
) -> None:
    def reckless(asked: Asked) -> Turn:
        turns: list[Turn] = [
            Call("shell", {"command": "rm -rf build"}),
            Call("shell", {"command": "rm -rf /"}),
            Say("Oh."),
        ]
        return turns[asked.turn]

    async def shell(command: str) -> dict[str, Any]:
        """Runs a command."""
        made.append(command)
        return {"status": "success"}

    def judge(arguments: Any, call: Any) -> Verdict:
        bad = arguments["command"].endswith("/")
        return deny("deletes-system", "It deletes the system.") if bad else allow("fine")

    async with laneway(
        database_url, tmp_path, ScriptedModel(reckless), tools=[ToolEntry(shell, changes=True, judge=judge)]
    ) as here:
        await here.ask("is the build folder empty?")
        await settled(here)
        assert made == ["rm -rf build"]
        [told] = await notices(here)
        assert "rm -rf /" in told
        assert "build" not in told
        [refused] = await of_kind(here, "tool.refused")
        assert (refused.body["tool"], refused.body["rule"]) == ("shell", "deletes-system")
