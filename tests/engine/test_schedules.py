"""Schedules and reminders happen once each, in order, on whichever worker comes first, and after restarts too."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from laneway.clock import FakeClock, SystemClock
from laneway.domain.conversation import Incoming, Message, Principal, Receipt
from laneway.domain.job import Job, JobStatus, Scope
from laneway.domain.schedule import Schedule, quiet_hours
from laneway.engine import recurrence
from laneway.engine.schedules import Initiative, run_now
from laneway.errors import Conflict
from laneway.store import conversations, events, intake, jobs, principals, proactive, reminders, schedules
from laneway.store.database import Database

NINE = datetime(2026, 11, 16, 8, 0, tzinfo=UTC)
"""09:00 on a Monday in Berlin."""
PULLED = frozenset({"http"})


@dataclass
class House:
    """An owner with a thread, a clock one can move, and the loop under test."""

    db: Database
    owner: Principal
    thread_id: UUID
    clock: FakeClock = field(default_factory=lambda: FakeClock(NINE - timedelta(minutes=30)))

    def initiative(self) -> Initiative:
        return Initiative(self.db, self.clock, PULLED)

    async def add(self, cron: str = "0 9 * * *", **more: Any) -> Schedule:
        values = {"text": "check the disk", "cron": cron, "zone": "Europe/Berlin", **more}
        values["next_at"] = recurrence.following(cron, values["zone"], self.clock.now())
        async with self.db.transaction() as tx:
            return await schedules.add(
                tx,
                name=values.pop("name", None),
                thread_id=self.thread_id,
                principal_id=self.owner.id,
                words=cron,
                **values,
            )

    async def now(self, moment: datetime) -> None:
        """It is this time, and everything due has happened."""
        self.clock.at = moment
        await self.initiative().turn()

    async def runs(self) -> list[Job]:
        async with self.db.transaction() as tx:
            return [job for job in (await jobs.page(tx))[::-1] if job.scope is Scope.PROACTIVE]

    async def said(self) -> list[str]:
        async with self.db.transaction() as tx:
            found = await conversations.messages(tx, thread_id=self.thread_id, limit=200)
        return [one.text for one in found[::-1] if one.author == "assistant"]

    async def schedule(self) -> Schedule:
        async with self.db.transaction() as tx:
            return (await schedules.page(tx))[0]

    async def finish(self, job: Job, text: str = "The disk is 91 % full.") -> proactive.Said:
        """The run has ended with this answer, as the journey's last step ends it."""
        async with self.db.transaction() as tx:
            await tx.execute("UPDATE jobs SET status = 'running' WHERE id = %s", (job.id,))
            said = await proactive.answer(tx, job, text, key="answer", pulled=PULLED, meta={}, now=self.clock.now())
            await jobs.move(tx, job.id, JobStatus.DONE)
        return said

    async def kinds(self) -> list[str]:
        async with self.db.transaction() as tx:
            cursor = await tx.execute("SELECT kind FROM events ORDER BY id")
            return [row[0] for row in await cursor.fetchall()]

    async def remind(self, text: str, due: datetime, **more: Any) -> None:
        async with self.db.transaction() as tx:
            await reminders.add(tx, self.thread_id, text, due, words=text, zone="Europe/Berlin", **more)


@pytest.fixture
async def house(db: Database) -> House:
    async with db.transaction() as tx:
        owner = await principals.set_owner_key(tx, "lw_test")
        receipt: Receipt = await intake.write(tx, Incoming("http", "main", "first", "hello", owner))
        await tx.execute("UPDATE jobs SET status = 'done' WHERE id = %s", (receipt.job_id,))
    return House(db, owner, receipt.thread_id)


async def test_a_due_schedule_starts_one_proactive_run_and_goes_on_to_its_next_time(house: House) -> None:
    added = await house.add()
    await house.now(NINE - timedelta(seconds=1))
    assert await house.runs() == []
    await house.now(NINE + timedelta(seconds=1))
    await house.now(NINE + timedelta(seconds=2))
    [run] = await house.runs()
    assert (run.scope, run.lane, run.mode, run.owner) == ("proactive", "tools", "EXECUTE", True)
    assert run.payload["schedule"] == str(added.id)
    async with house.db.transaction() as tx:
        message = await conversations.message(tx, run.message_id)
    assert isinstance(message, Message)
    assert (message.text, message.external_id) == ("check the disk", f"schedule:{added.id}:{NINE.isoformat()}")
    after = await house.schedule()
    assert (after.next_at, after.last_at, after.last_job_id) == (NINE + timedelta(days=1), NINE, run.id)
    assert await house.said() == []
    async with house.db.transaction() as tx:
        [told] = [event for event in await events.of_job(tx, run.id) if event.kind == "schedule.started"]
    assert told.body["name"] == added.name


async def test_many_workers_at_the_same_moment_start_each_time_once(house: House) -> None:
    for number in range(5):
        await house.add("0 9 * * *", name=f"s{number}")
    await house.remind("stretch", NINE)
    house.clock.at = NINE
    await asyncio.gather(*(house.initiative().turn() for _ in range(8)))
    assert sorted(run.payload["name"] for run in await house.runs()) == [f"s{number}" for number in range(5)]
    assert await house.said() == ["Reminder: stretch"]


async def test_a_crash_in_the_middle_of_starting_leaves_nothing_and_the_time_is_run_once(house: House) -> None:
    class Crash(Exception):
        pass

    async def begin_and_crash() -> None:
        async with house.db.transaction() as tx:
            claimed = await schedules.claim(tx, NINE)
            assert claimed is not None
            await house.initiative()._fire(tx, claimed, NINE, NINE + timedelta(days=1))
            raise Crash

    await house.add()
    house.clock.at = NINE
    with pytest.raises(Crash):
        await begin_and_crash()
    assert await house.runs() == []
    await house.now(NINE + timedelta(seconds=5))
    assert len(await house.runs()) == 1


async def test_runs_missed_while_the_server_was_down_are_reported_and_run_once(house: House) -> None:
    await house.add("0 9 * * *", name="disk")
    await house.remind("call Ann", NINE)
    await house.now(NINE + timedelta(days=2, hours=3))
    assert len(await house.runs()) == 1
    berlin = "09:00 (Europe/Berlin)"
    assert await house.said() == [
        f"Reminder (due Mon 2026-11-16 {berlin}, late because Laneway was not running): call Ann",
        f"Missed 3 runs of `disk` between Mon 2026-11-16 {berlin} and Wed 2026-11-18 {berlin}. It runs once now.",
    ]
    assert (await house.runs())[0].payload["missed"] == 3
    assert (await house.schedule()).next_at == NINE + timedelta(days=3)
    await house.now(NINE + timedelta(days=2, hours=4))
    assert len(await house.said()) == 2
    await house.finish((await house.runs())[0], "NOTHING")
    await house.now(NINE + timedelta(days=3, minutes=5))
    assert (await house.said())[-1] == f"Missed 1 run of `disk` at Thu 2026-11-19 {berlin}. It runs once now."
    assert (await house.kinds()).count("schedule.missed") == 2


async def test_a_schedule_whose_last_run_is_open_is_skipped_and_the_next_result_that_is_said_says_so(
    house: House,
) -> None:
    await house.add("*/15 * * * *", name="load")
    quarter = timedelta(minutes=15)
    await house.now(NINE - quarter)
    [first] = await house.runs()
    await house.now(NINE)
    await house.now(NINE + quarter)
    assert [run.id for run in await house.runs()] == [first.id]
    assert (await house.kinds()).count("schedule.skipped") == 2
    assert (await house.schedule()).skipped == 2
    await house.finish(first, "NOTHING")
    await house.now(NINE + quarter * 2)
    await house.finish((await house.runs())[1], "Load is high.")
    for late in (3, 4):
        await house.now(NINE + quarter * late)
    await house.finish((await house.runs())[2], "Load is fine again.")
    assert await house.said() == [
        "Load is high.\n\n(2 runs were skipped between Mon 2026-11-16 09:00 (Europe/Berlin) and "
        "Mon 2026-11-16 09:15 (Europe/Berlin): the one before had not ended.)",
        "Load is fine again.\n\n(1 run was skipped at Mon 2026-11-16 10:00 (Europe/Berlin): "
        "the one before had not ended.)",
    ]


async def test_nothing_to_say_is_not_said_and_later_turns_do_not_see_the_run(house: House) -> None:
    added = await house.add("*/15 * * * *")
    await house.now(NINE - timedelta(minutes=15))
    assert await house.finish((await house.runs())[0], "`NOTHING`") == "nothing"
    await house.now(NINE)
    assert await house.finish((await house.runs())[1], "The disk is 91 % full.") == "now"
    assert await house.said() == ["The disk is 91 % full."]
    assert "schedule.nothing" in await house.kinds()
    async with house.db.transaction() as tx:
        asked = await intake.write(tx, Incoming("http", "main", "later", "is it?", house.owner))
        trigger = await conversations.message(tx, asked.message_id)
        assert trigger is not None
        seen = [one.text for one in await conversations.history(tx, trigger, 30)]
    assert seen == ["hello", "check the disk", "The disk is 91 % full.", "is it?"]
    await house.now(NINE + timedelta(minutes=15))
    async with house.db.transaction() as tx:
        trigger = await conversations.message(tx, (await house.runs())[2].message_id)
        assert trigger is not None
        seen = [one.text for one in await conversations.history(tx, trigger, 30)]
    assert seen == ["check the disk", "The disk is 91 % full.", "check the disk"]
    assert str(added.id) == trigger.meta["schedule"]


async def test_in_quiet_hours_it_runs_and_its_result_waits_for_the_morning_unless_it_is_urgent(house: House) -> None:
    begin, end = quiet_hours("22:00-07:00")
    await house.add("0 3 * * *", quiet_from=begin, quiet_to=end)
    await house.add("0 3 * * *", quiet_from=begin, quiet_to=end, urgent=True, name="urgent")
    three = datetime(2026, 11, 17, 2, tzinfo=UTC)
    await house.now(three)
    runs = {run.payload["name"] == "urgent": run for run in await house.runs()}
    assert await house.finish(runs[False], "The backup failed.") == "held"
    assert await house.finish(runs[True], "The disk is full.") == "now"
    await house.now(three + timedelta(hours=3, minutes=59))
    assert await house.said() == ["The disk is full."]
    await house.now(three + timedelta(hours=4))
    await house.now(three + timedelta(hours=4, minutes=1))
    assert await house.said() == ["The disk is full.", "The backup failed."]


async def test_times_over_a_pause_are_neither_run_nor_reported(house: House) -> None:
    added = await house.add()
    async with house.db.transaction() as tx:
        paused = await schedules.pause(tx, added)
    assert paused.next_at is None
    await house.now(NINE + timedelta(days=3))
    async with house.db.transaction() as tx:
        await schedules.resume(tx, paused, recurrence.following(added.cron, added.zone, house.clock.now()))
    await house.now(NINE + timedelta(days=3, hours=1))
    assert (await house.runs(), await house.said()) == ([], [])
    await house.now(NINE + timedelta(days=4))
    assert len(await house.runs()) == 1


async def test_run_now_runs_beside_the_times_and_not_while_a_run_is_open(house: House) -> None:
    added = await house.add()
    async with house.db.transaction() as tx:
        receipt = await run_now(tx, added, house.clock.now())
    assert (await house.schedule()).next_at == NINE
    async with house.db.transaction() as tx:
        with pytest.raises(Conflict, match=str(receipt.job_id)):
            await run_now(tx, await schedules.get(tx, added.name), house.clock.now())


async def test_a_schedule_whose_zone_is_gone_is_paused_and_its_owner_told(house: House) -> None:
    await house.add(name="old")
    await house.add(name="good")
    async with house.db.transaction() as tx:
        await tx.execute("UPDATE schedules SET zone = 'Mars/Base' WHERE name = 'old'")
    await house.now(NINE)
    assert [run.payload["name"] for run in await house.runs()] == ["good"]
    [told] = await house.said()
    assert told.startswith("The schedule `old` is paused: There is no time zone `Mars/Base`.")


async def test_reminders_come_once_in_the_order_they_are_due_after_restarts_too_unless_cancelled(house: House) -> None:
    for text, minutes in (("never", 1), ("second", 2), ("first", 1), ("third", 2)):
        await house.remind(text, NINE + timedelta(minutes=minutes))
    async with house.db.transaction() as tx:
        never = next(one for one in await reminders.page(tx) if one.text == "never")
        await reminders.cancel(tx, never.id)
        with pytest.raises(Conflict, match="already cancelled"):
            await reminders.cancel(tx, never.id)
    await house.now(NINE + timedelta(seconds=30))
    assert await house.said() == []
    house.clock.at = NINE + timedelta(minutes=2, seconds=1)
    await asyncio.gather(*(house.initiative().turn() for _ in range(6)))
    await house.initiative().turn()
    assert [text.rpartition(": ")[2] for text in await house.said()] == ["first", "second", "third"]


async def test_on_a_pushed_channel_a_reminder_waits_in_the_outbox_to_be_sent(house: House) -> None:
    await house.remind("call Ann", NINE)
    house.clock.at = NINE
    await Initiative(house.db, house.clock, frozenset()).turn()
    async with house.db.transaction() as tx:
        cursor = await tx.execute("SELECT state, channel FROM outbox")
        assert await cursor.fetchall() == [("pending", "http")]


async def test_the_loop_sleeps_until_something_is_due_and_wakes_when_that_becomes_earlier(house: House) -> None:
    real = Initiative(house.db, SystemClock(), PULLED)
    assert await real.turn() == pytest.approx(30, abs=1)
    loop = asyncio.create_task(real.keep_going())
    try:
        # By now it sleeps; it would for half a minute.
        await asyncio.sleep(0.1)
        due = datetime.now(UTC) + timedelta(seconds=0.2)
        await house.remind("now", due)
        async with asyncio.timeout(20):
            while not await house.said():
                await asyncio.sleep(0.02)
        assert datetime.now(UTC) >= due
    finally:
        loop.cancel()
        await asyncio.gather(loop, return_exceptions=True)
