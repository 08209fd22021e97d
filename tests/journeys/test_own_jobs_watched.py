"""Laneway's own jobs are watched by the same chain as other agents: warned of, told about, ended."""

from __future__ import annotations

from typing import Any

import psutil

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
from tests.journeys.tooling import Start
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
from tests.running import Laneway

__all__ = ["no_coffee_yet"]


def what_counts(event: SessionEvent) -> tuple[object, ...]:
    same = (event.kind, event.tool, event.call_id, dict(event.arguments), event.failed, event.result_hash)
    return (*same, event.tokens, event.cost, event.model)


async def test_a_reactor_sees_what_a_job_asks_calls_pays_and_gets_as_the_store_tells_it(
    start: Start[Laneway],
) -> None:
    watching = Saying()
    model = ScriptedModel(coffee)
    async with start(model, tools=[ToolEntry(make_coffee)], reactors=always(watching)) as here:
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
        async with here.app.db.transaction() as tx:
            stored = await replayed(tx, await here.job(receipt.job_id))
        seen = [event for event in watching.seen if event.kind is not EventKind.TICK]
        assert [what_counts(event) for event in stored.seen] == [what_counts(event) for event in seen]


async def test_a_kill_ends_the_job_before_the_tool_it_was_about_and_the_reply_says_why(start: Start[Laneway]) -> None:
    killing = Saying(once(EventKind.TOOL_CALLED, Intervene("No coffee after noon.", Severity.KILL)), "barista")
    async with start(ScriptedModel(coffee), tools=[ToolEntry(make_coffee)], reactors=always(killing)) as here:
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


async def test_a_kill_on_a_tick_ends_a_running_tool_with_its_child_process(start: Start[Laneway]) -> None:
    seen: list[psutil.Process] = []

    def long_enough(ctx: ReactorContext) -> Reaction:
        tick = ctx.event.kind is EventKind.TICK and bool(ctx.state.open_calls) and bool(seen)
        return Intervene("It takes too long.", Severity.KILL) if tick else Continue()

    async with start(ScriptedModel(call_it), tools=[ToolEntry(sleep_in_a_child)],
        reactors=always(Saying(long_enough)), tick_seconds=0.1,
    ) as here:  # fmt: skip
        receipt = await here.send("what does it say?")
        seen.append(await sleeping())
        job = await here.until(receipt.job_id)
        assert job.status is JobStatus.CANCELLED
        await gone(seen[0])
        [reply] = await here.replies(receipt.message_id)
        assert "It takes too long." in reply.text


async def test_a_customer_is_not_told_why_but_the_owner_is(start: Start[Laneway]) -> None:
    customers: list[str] = []

    def enough(ctx: ReactorContext) -> Reaction:
        asked = ctx.event.kind is EventKind.USER and bool(customers)
        return Intervene("The secret budget of $3 is used up.", Severity.KILL) if asked else Continue()

    async with start(reactors=always(Saying(enough))) as here:
        await here.ask("hello")
        async with here.app.db.transaction() as tx:
            ann = await principals.by_address(tx, "http:ann", Role.CUSTOMER, "Ann")
        customers.append(ann.name)
        receipt = await here.send("are you open?", "ann", id="ann1", principal=ann)
        assert (await here.until(receipt.job_id)).status is JobStatus.CANCELLED
        assert [reply.text for reply in await here.replies(receipt.message_id)] == ["Stopped. Nothing had been done."]
        [told] = await notices(here)
        assert "The secret budget of $3 is used up." in told
        assert str(receipt.job_id) in told


async def test_the_owner_is_told_once_warnings_are_events_and_a_reactor_that_fails_hurts_nobody(
    start: Start[Laneway],
) -> None:
    def breaks(ctx: ReactorContext) -> Reaction:
        raise ZeroDivisionError("no milk")

    said: list[Reaction] = [Warn("Hot!"), Intervene("Somebody is thirsty."), Intervene("Very thirsty.")]
    saying = [Saying(once(EventKind.TOOL_CALLED, one), f"r{place}") for place, one in enumerate(said)]
    watchers = always(Saying(breaks, "broken"), *saying)
    async with start(ScriptedModel(coffee), tools=[ToolEntry(make_coffee)], reactors=watchers) as here:
        assert await here.ask("make me coffee") == "Here you are."
        await settled(here)
        assert [event.body["reactor"] for event in await of_kind(here, "reactor.warned")] == ["r0", "r2"]
        [notified] = await of_kind(here, "reactor.notified")
        assert notified.body["reactor"] == "r1"
        assert notified.body["cause"].startswith("tool_called:")
        [told] = await notices(here)
        assert "Somebody is thirsty." in told
        [failed] = await of_kind(here, "reactor.failed")
        assert failed.body == {"reactor": "broken", "error": "ZeroDivisionError: no milk"}
        assert "tool_ended" in saying[0].kinds()


async def test_at_the_fifth_identical_call_the_model_is_told_and_at_the_twelfth_an_armed_watcher_ends_the_job(
    start: Start[Laneway],
) -> None:
    results: list[str] = []

    def endless(asked: Asked) -> Turn:
        results.extend(asked.tool_results)
        return Call("make_coffee", {"cups": 1})

    async with start(ScriptedModel(endless), tools=[ToolEntry(make_coffee)], reactor_kill_on=("loop",)) as here:
        receipt = await here.send("make me coffee")
        job = await here.until(receipt.job_id)
        await settled(here)
        assert job.status is JobStatus.CANCELLED
        assert len(made) == 12
        assert ["hint" in result for result in results][:5] == [False, False, False, False, True]
        assert "5 times with the same result" in results[4]
        assert [event.body["reactor"] for event in await of_kind(here, "reactor.warned")][:1] == ["loop"]
        assert len(await notices(here)) == 1
        assert [event.body["reactor"] for event in await of_kind(here, "reactor.killed")] == ["loop"]


async def test_the_guard_alarms_about_what_was_refused_and_not_about_what_a_judge_let_pass(
    start: Start[Laneway],
) -> None:
    def reckless(asked: Asked) -> Turn:
        commands = ("rm -rf build", "rm -rf /")
        return Call("shell", {"command": commands[asked.turn]}) if asked.turn < 2 else Say("Oh.")

    async def shell(command: str) -> dict[str, Any]:
        """Runs a command."""
        made.append(command)
        return {"status": "success"}

    def judge(arguments: Any, call: Any) -> Verdict:
        bad = arguments["command"].endswith("/")
        return deny("deletes-system", "It deletes the system.") if bad else allow("fine")

    async with start(ScriptedModel(reckless), tools=[ToolEntry(shell, changes=True, judge=judge)]) as here:
        await here.ask("is the build folder empty?")
        await settled(here)
        assert made == ["rm -rf build"]
        [told] = await notices(here)
        assert "rm -rf /" in told
        assert "build" not in told
        [refused] = await of_kind(here, "tool.refused")
        assert (refused.body["tool"], refused.body["rule"]) == ("shell", "deletes-system")
