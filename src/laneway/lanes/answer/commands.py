"""The chat commands every channel knows: /help, /new, /status, /budget, /stop, /undo, /plan."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from uuid import UUID

from laneway.domain.budget import Account, Caps, Period, Standing, Subject
from laneway.domain.conversation import Principal, World
from laneway.domain.job import Job, JobStatus
from laneway.domain.report import what_was_done
from laneway.errors import Conflict
from laneway.lanes.contract import Request
from laneway.store import budgets, conversations, effects, jobs, principals, spending, undo
from laneway.store.database import Database

NAMES = ("help", "new", "status", "budget", "stop", "undo")
HELP = """I understand plain requests (“help” without the slash shows examples), and these commands:
/help    this text
/new     forget what was said so far in this conversation
/plan …  say how you would do it, and do nothing
/status  what is running and waiting here
/budget  what has been spent, and the caps
/stop    end everything running or waiting in this conversation
/undo    put back the files that were last changed here"""

UndoJob = Callable[[UUID, Principal], Awaitable[str]]
"""Puts back what a job changed and says what that was."""


class Commands:
    """Answers chat commands from the store; no model is asked."""

    def __init__(self, db: Database, model: str, caps: Caps, undo: UndoJob) -> None:
        self._db, self._model, self._caps, self._undo_job = db, model, caps, undo

    async def answer(self, name: str, request: Request) -> str:
        """The command has been carried out; returns what to tell the user."""
        if name == "new":
            async with self._db.transaction() as tx:
                await conversations.start_anew(tx, request.message)
            return "A fresh start: I no longer look at what was said before."
        if name == "status":
            return await self._status(request)
        if name == "budget":
            return await self._budget(request)
        if name == "stop":
            return await self._stop(request)
        if name == "undo":
            return await self._undo(request)
        if name == "chosen":
            return "Understood."
        if name == "which":
            return "There is another question by now. Look at it, and answer once more: `laneway approvals` lists them."
        if name.startswith("unknown:"):
            return f"I do not know the command /{name.removeprefix('unknown:')}.\n{HELP}"
        return HELP

    async def _status(self, request: Request) -> str:
        async with self._db.transaction() as tx:
            here = await jobs.open_in_thread(tx, request.job.thread_id)
            everywhere = await jobs.counts(tx)
        lines = [f"In this conversation: {_count(here, 'running')} running, {_count(here, 'queued')} queued, "
                 f"{_count(here, 'waiting')} waiting for an answer."]  # fmt: skip
        if request.world is World.OWNER:
            totals = ", ".join(f"{everywhere[status]} {status}" for status in JobStatus if everywhere.get(status))
            lines += [f"Everywhere: {totals}.", f"Model: {self._model}."]
        return "\n".join(lines)

    async def _budget(self, request: Request) -> str:
        if request.world is not World.OWNER:
            return "Only the owner can see the budget."
        account = Account(thread_id=request.job.thread_id, principal=request.message.principal_id)
        async with self._db.transaction() as tx:
            sums = await spending.spent(tx, today=True, world=World.OWNER)
            here, today = await budgets.whose(tx, account)
            standings = await spending.standings(tx, await budgets.holding(tx, here, self._caps), today)
        caps = [one.budget.usd for one in standings if _is_day(one) and one.budget.usd is not None]
        cap = f"the cap is ${caps[0]:.2f}" if caps else "no cap"
        reserved = f", ${sums.reserved:.4f} reserved for calls being made" if sums.reserved else ""
        return "\n".join([f"Spent today (UTC): ${sums.cost:.4f}{reserved}; {cap}.", *_others(standings)])

    async def _stop(self, request: Request) -> str:
        """The door has already asked the jobs to stop; this tells which they were."""
        stopped = request.job.payload.get("stopped", [])
        if not stopped:
            return "Nothing was running or waiting here."
        async with self._db.transaction() as tx:
            # Running jobs tell it themselves once they have ended; those that waited cannot.
            done = [e for job in request.job.payload.get("waiting", []) for e in await effects.of_job(tx, UUID(job))]
        return f"Stopped {len(stopped)} job{'s' if len(stopped) > 1 else ''}. {what_was_done(done)}".strip()

    async def _undo(self, request: Request) -> str:
        """The job named after the command, or the last one here that changed files, is undone."""
        if request.world is not World.OWNER or request.message.principal_id is None:
            return "Only the owner can undo."
        named = request.message.text.partition(" ")[2].strip()
        async with self._db.transaction() as tx:
            job_id = await undo.last_changing(tx, request.job.thread_id, named)
            principal = await principals.by_id(tx, request.message.principal_id)
        if job_id is None or principal is None:
            return "There is nothing here to undo."
        try:
            return await self._undo_job(job_id, principal)
        except Conflict as error:
            return str(error)


def _is_day(standing: Standing) -> bool:
    return standing.budget.subject is Subject.ALL and standing.budget.period is Period.DAY


def _others(standings: list[Standing]) -> Iterator[str]:
    """A line for each further cap that holds in this conversation."""
    for standing in standings:
        for measure in standing.measures():
            if not (_is_day(standing) and measure.unit == "usd"):
                used, title = measure.of_cap(measure.spent), standing.budget.title
                yield f"{title[0].upper()}{title[1:]}: {used} spent ({measure.share * 100:.0f} %)."


def _count(here: list[Job], status: str) -> int:
    return sum(1 for job in here if job.status == status)
