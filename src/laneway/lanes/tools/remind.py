"""`remind`: a text that comes back to the same thread at a later time."""

from __future__ import annotations

from laneway.clock import Clock
from laneway.domain.action import Verdict, deny
from laneway.errors import BadInput, Conflict
from laneway.lanes.tools.entry import Arguments, Call, Outcome, ToolEntry, failure, success
from laneway.language.times import moment_of, shown, zone_named
from laneway.store import reminders
from laneway.store.database import Database

LONGEST = 2000


def remind_entry(db: Database, clock: Clock, zone: str) -> ToolEntry:
    """The tool, over this database; `zone` is the owner's time zone."""

    async def remind(call: Call, text: str, when: str, time_zone: str | None = None) -> Outcome:
        """Deliver a text to this conversation later.

        `when` is like "in 20 minutes", "tomorrow at 9", "next friday 14:00" or "2026-11-20T09:00". Times are those of
        the owner's zone unless `time_zone` (like Europe/Berlin) says otherwise. Tell the person the time it answers.
        """
        try:
            _check(text)
            here = zone_named(time_zone or zone)
            due = moment_of(when, clock.now(), here)
            async with db.transaction() as tx:
                await reminders.check_room(tx, call.thread_id, call.world)
                made = await reminders.add(
                    tx,
                    call.thread_id,
                    text.strip(),
                    due,
                    words=when,
                    zone=here.key,
                    job_id=call.job_id,
                    meta={"sources": list(call.sources)} if call.sources else {},
                )
        except (BadInput, Conflict) as error:
            return failure(str(error))
        told = {"id": str(made.id), "due_at": made.due_at.isoformat(), "due": shown(made.due_at, here)}
        return success({**told, "text": made.text})

    def resolve(arguments: Arguments, call: Call) -> Arguments:
        try:
            here = zone_named(arguments.get("time_zone") or zone)
            due = moment_of(arguments["when"], call.request.message.created_at, here)
        except BadInput:
            return arguments
        return {**arguments, "when": due.astimezone(here).isoformat(" ", "seconds"), "time_zone": here.key}

    def judge(arguments: Arguments, call: Call) -> Verdict | None:
        try:
            _check(arguments["text"])
            moment_of(arguments["when"], clock.now(), zone_named(arguments.get("time_zone") or zone))
        except BadInput as error:
            return deny("impossible", str(error))
        return None

    return ToolEntry(
        remind, changes=True, idempotent=True, judge=judge, resolve=resolve, private=True, seconds=10,
        tags=("reminder", "later", "alarm", "timer"),
    )  # fmt: skip


def _check(text: str) -> None:
    if not text.strip() or len(text) > LONGEST:
        raise BadInput(f"A reminder has 1 to {LONGEST} characters.", hint="Say the short of it.")
    if "\x00" in text:
        raise BadInput("The text holds a NUL character.", hint="Send plain text.")
