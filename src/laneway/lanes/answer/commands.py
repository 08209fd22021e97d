"""The chat commands every channel knows: /help, /new, /status, /budget, /stop, /plan."""

from __future__ import annotations

from uuid import UUID

from laneway.domain.conversation import World
from laneway.domain.job import Job, JobStatus
from laneway.domain.report import what_was_done
from laneway.lanes.contract import Request
from laneway.store import conversations, effects, jobs, ledger
from laneway.store.database import Database

NAMES = ("help", "new", "status", "budget", "stop")
HELP = """I understand plain requests, and these commands:
/help    this text
/new     forget what was said so far in this conversation
/plan …  say how you would do it, and do nothing
/status  what is running and waiting here
/budget  what has been spent today, and the cap
/stop    end everything running or waiting in this conversation"""


class Commands:
    """Answers chat commands from the store; no model is asked."""

    def __init__(self, db: Database, model: str, day_cap: float | None) -> None:
        self._db, self._model, self._day_cap = db, model, day_cap

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
        if name == "chosen":
            return "Understood."
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
        async with self._db.transaction() as tx:
            today = await ledger.spent(tx, today=True)
        cap = "no cap" if self._day_cap is None else f"the cap is ${self._day_cap:.2f}"
        return f"Spent today (UTC): ${today.cost:.4f}; {cap}."

    async def _stop(self, request: Request) -> str:
        """The door has already asked the jobs to stop; this tells which they were."""
        stopped = request.job.payload.get("stopped", [])
        if not stopped:
            return "Nothing was running or waiting here."
        async with self._db.transaction() as tx:
            # Running jobs tell it themselves once they have ended; those that waited cannot.
            done = [e for job in request.job.payload.get("waiting", []) for e in await effects.of_job(tx, UUID(job))]
        return f"Stopped {len(stopped)} job{'s' if len(stopped) > 1 else ''}. {what_was_done(done)}".strip()


def _count(here: list[Job], status: str) -> int:
    return sum(1 for job in here if job.status == status)
