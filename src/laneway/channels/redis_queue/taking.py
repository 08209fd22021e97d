"""Writes a job down, or the refusal of one; when it returns, Redis may let go of it."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import Literal

from laneway.channels.intake import Intake
from laneway.channels.redis_queue.acting import Acting
from laneway.channels.redis_queue.job_message import JobMessage, Unreadable
from laneway.channels.redis_queue.results import failed_of
from laneway.domain.conversation import Incoming, Principal
from laneway.domain.judgement import OutboxState
from laneway.errors import BadInput, Forbidden, TooMany, failure
from laneway.lanes.pipeline.unpacking import lay
from laneway.store import conversations, events, outbox, redis_jobs
from laneway.store.artifacts import Artifacts
from laneway.store.database import Connection, Database
from laneway.store.redis_jobs import CHANNEL
from laneway.store.refusals import CannotHold, holding

Outcome = Literal["taken", "duplicate"]


@dataclass(frozen=True, slots=True)
class Taker:
    """The way of a job from Redis into the database."""

    db: Database
    intake: Intake
    acting: Acting
    shelf: Artifacts

    async def take(self, job: JobMessage, *, again: bool = False) -> Outcome:
        """The job is committed, once; Unreadable: it never will be; TooMany and Unavailable: it must wait.

        One that failed may be sent anew under its id, and the result of one that did not is published anew; not if
        it is only taken `again`, because a worker died.
        """
        try:
            with holding():
                if job.tables:
                    await self._lay(job)
                async with self.db.transaction() as tx:
                    return await self._write(tx, job, again)
        except (BadInput, Forbidden) as error:
            raise Unreadable(error.code, str(error), job.job_id, job.named) from None
        except CannotHold as error:
            reason = f"The database cannot hold what is in the job ({error})."
            raise Unreadable("malformed", reason, job.job_id, job.named) from error

    async def _lay(self, job: JobMessage) -> None:
        """The job's tables are stored, if the job will be: before the transaction, which a slow shelf would hold up."""
        async with self.db.transaction() as tx:
            attempt = await self._attempt(tx, job.job_id)
            if attempt is None:
                return
            self.intake.check(_incoming(job, await self.acting.who(tx, job.named.get("workflow_owner")), attempt))
        await lay(self.db, self.shelf, job.tables)

    async def _attempt(self, tx: Connection, job_id: str, *, anew: bool = False) -> int | None:
        """Which attempt at the job may begin now; None while one is not over, or has not failed.

        With `anew` a result that stands is published once more.
        """
        last = await redis_jobs.last_attempt(tx, job_id)
        if last is None:
            return 1
        if last.result is not None and last.result.state is OutboxState.SENDING:
            # Whoever sends this may have that result in hands, or may not.
            raise TooMany("The last result of this job is just being published.", retry_after=0.1)
        if last.result is None or last.result.state not in (OutboxState.SENT, OutboxState.UNDELIVERABLE):
            return None
        meta, not_approved = last.result.meta, last.asked.not_approved if last.asked else None
        if failed_of(meta, last.result.text, not_approved) is not None and last.number < redis_jobs.MOST_ATTEMPTS:
            return last.number + 1
        if anew:
            await redis_jobs.publish_again(tx, last.result)
        return None

    async def _write(self, tx: Connection, job: JobMessage, again: bool) -> Outcome:
        attempt = await self._attempt(tx, job.job_id, anew=not again)
        if attempt is None:
            await events.append(tx, "message.duplicate", {"external_id": redis_jobs.key_of("job", job.job_id)})
            return "duplicate"
        incoming = _incoming(job, await self.acting.who(tx, job.named.get("workflow_owner")), attempt)
        self.intake.check(incoming)
        receipt = await self.intake.write(tx, incoming)
        if receipt.duplicate:
            return "duplicate"
        await redis_jobs.opened(tx, receipt)
        return "taken"

    async def refuse(self, bad: Unreadable, *, again: bool = False) -> None:
        """Whoever waits for the job's result will have a failed one, once; a copy of a good job changes nothing.

        CannotHold: nobody will have one.
        """
        if bad.job_id is not None:
            with holding():
                async with self.db.transaction() as tx:
                    await self._write_refusal(tx, bad, bad.job_id, again)

    async def _write_refusal(self, tx: Connection, bad: Unreadable, job_id: str, again: bool) -> None:
        attempt = await self._attempt(tx, job_id)
        if attempt is None or (again and attempt > 1):
            return
        own = await self.acting.own(tx)
        meta = {"refused": {"job_id": job_id, **bad.named}, "failed": failure(bad.type, bad.reason)}
        # One for each: replies of a thread wait for one another, and one key in Redis may be of a wrong type.
        # An id that would spoil the lists that people see is told there by its hash.
        shown = job_id if job_id.isprintable() else sha256(job_id.encode()).hexdigest()
        thread = await conversations.ensure_thread(tx, CHANNEL, redis_jobs.key_of("refused", shown), own)
        await outbox.write(
            tx, thread.id, f"I did not take the job {job_id}. {bad.reason}",
            external_id=redis_jobs.key_of("refused", job_id, attempt), pulled=(), meta=meta,
        )  # fmt: skip


def _incoming(job: JobMessage, principal: Principal, attempt: int) -> Incoming:
    # A session belongs to whoever began it: the same name of somebody else is another conversation.
    thread = f"job:{job.job_id}" if job.session_id is None else f"session:{principal.id}:{job.session_id}"
    return Incoming(
        CHANNEL, thread, redis_jobs.key_of("job", job.job_id, attempt), job.prompt, principal,
        payload={"runner": job.runner()}, program=True,
    )  # fmt: skip
