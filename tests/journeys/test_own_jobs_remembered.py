"""What watchers know of a job outlives a restart and a long wait, and nobody is told twice."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Sequence
from typing import Any

from laneway.domain.conversation import PULLED
from laneway.domain.job import JobStatus
from laneway.domain.judgement import ApprovalState
from laneway.domain.session import EventKind
from laneway.engine.running import End, Run
from laneway.lanes.tools import ToolEntry
from laneway.llm.scripted import Asked, Call, Say, ScriptedModel, Turn
from laneway.reactors import Continue, Intervene, Reaction, Reactor, ReactorContext
from laneway.reactors.border import Failed
from laneway.reactors.loop_detector import LoopDetector
from laneway.reactors.own_jobs import OwnJobs
from laneway.reactors.stall_detector import StallDetector
from laneway.store import approvals
from tests.journeys.tooling import Start
from tests.journeys.watching import (
    Saying,
    always,
    coffee,
    eventually,
    made,
    make_coffee,
    no_coffee_yet,
    notices,
    of_kind,
    settled,
)
from tests.running import Laneway

__all__ = ["no_coffee_yet"]


async def test_after_a_restart_the_memory_is_rebuilt_and_nothing_is_told_twice(start: Start[Laneway]) -> None:
    stuck, results = asyncio.Event(), list[str]()
    first = True

    async def sip() -> dict[str, Any]:
        """Drinks."""
        made.append("sip")
        if len(made) == 5 and first:
            stuck.set()
            await asyncio.sleep(60)
        return {"status": "success", "result": "hot"}

    def stubborn(asked: Asked) -> Turn:
        results.extend(asked.tool_results)
        return Say("Enough.") if "hint" in "".join(asked.tool_results) else Call("sip")

    watchers: list[Saying] = []

    def make(run: Run, failed: Callable[[Failed], None]) -> Sequence[Reactor]:
        # Tells the owner of the third cup, counting for itself.
        cups = itertools.count(1)

        def count(ctx: ReactorContext) -> Reaction:
            third = ctx.event.kind is EventKind.TOOL_ENDED and next(cups) == 3
            return Intervene("Three cups are enough.") if third else Continue()

        watchers.append(Saying(count, "doctor"))
        return [LoopDetector(), watchers[-1]]

    model, tools = ScriptedModel(stubborn), [ToolEntry(sip)]
    async with start(model, tools=tools, reactors=make) as here:
        receipt = await here.send("drink with me")
        async with asyncio.timeout(30):
            await stuck.wait()
        assert len(await eventually(here, "reactor.notified")) == 1
        here.app.engine.running.stop_all(End.DRAINED)
    first = False
    async with start(model, tools=tools, reactors=make) as here:
        job = await here.until(receipt.job_id)
        await settled(here)
        assert job.status is JobStatus.DONE
        assert [reply.text for reply in await here.replies(receipt.message_id)] == ["Enough."]
        # The fifth call was begun before the restart and is known from the store: this is where the hint belongs.
        assert ["hint" in result for result in results][-1]
        assert "5 times with the same result" in results[-1]
        assert [watcher.kinds().count("tool_ended") for watcher in watchers] == [4, 5]
        assert len(await notices(here)) == 1
        assert len(await of_kind(here, "reactor.notified")) == 1


async def test_what_happened_right_before_a_crash_is_still_acted_on(start: Start[Laneway]) -> None:
    def after_coffee(ctx: ReactorContext) -> Reaction:
        return Intervene("That was the last one.") if ctx.event.kind is EventKind.TOOL_ENDED else Continue()

    async with start(ScriptedModel(coffee), tools=[ToolEntry(make_coffee)], reactors=always(Saying())) as here:
        receipt = await here.send("make me coffee")
        await here.until(receipt.job_id)
        await settled(here)
        async with here.app.db.transaction() as tx:
            # As a crash would leave it: the outcome is stored, nobody has reacted to it, another process takes over.
            await tx.execute("DELETE FROM token_ledger WHERE id = (SELECT max(id) FROM token_ledger)")
            await tx.execute(
                "UPDATE jobs SET status = 'running', epoch = epoch + 1, finished_at = NULL WHERE id = %s",
                (receipt.job_id,),
            )
        left = await here.job(receipt.job_id)
        watched = OwnJobs(here.app.db, always(Saying(after_coffee, "last")), PULLED)
        for _ in range(2):
            run = Run(left, "another")
            async with watched.watching(run):
                await run.watch.begin()
            await watched.settled()
        assert len(await notices(here)) == 1
        assert [event.body["reactor"] for event in await of_kind(here, "reactor.notified")] == ["last"]


async def test_a_job_that_waited_days_for_a_yes_goes_on_with_its_memory_and_without_a_false_alarm(
    start: Start[Laneway],
) -> None:
    watching = Saying()
    tools = [ToolEntry(make_coffee, changes=True, asks=True)]

    def make(run: Run, failed: Callable[[Failed], None]) -> Sequence[Reactor]:
        return [StallDetector(), watching]

    async with start(ScriptedModel(coffee), tools=tools, reactors=make, tick_seconds=0.1) as here:
        receipt = await here.send("make me coffee")
        await here.until(receipt.job_id, JobStatus.WAITING)
        await settled(here)
        assert watching.kinds() == ["user", "assistant"]
        async with here.app.db.transaction() as tx:
            await tx.execute("UPDATE token_ledger SET settled_at = settled_at - interval '2 days', "
                             "created_at = created_at - interval '2 days'")  # fmt: skip
            await tx.execute("UPDATE jobs SET started_at = started_at - interval '2 days'")
            await tx.execute("UPDATE events SET created_at = created_at - interval '2 days'")
            [asked] = await approvals.page(tx)
            await approvals.answer(tx, asked.id, ApprovalState.APPROVED, here.owner)
        await here.until(receipt.job_id)
        await settled(here)
        live = [e.kind.value for e, old in zip(watching.seen[2:], watching.replayed[2:], strict=True) if not old]
        last = [kind for kind in live if kind != "tick"][-5:]
        assert last == ["started", "tool_called", "tool_ended", "assistant", "ended"]
        assert "user" in [e.kind.value for e, old in zip(watching.seen, watching.replayed, strict=True) if old]
        assert await notices(here) == []
