"""Jobs: claimed in order, moved along their state machine, taken over from dead workers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from laneway.domain.ids import new_id
from laneway.domain.job import AWAITED_BY, FINAL, Job, JobStatus, check_transition, node_of, sources
from laneway.domain.judgement import Classification
from laneway.errors import BudgetBusy, IllegalTransition, LeaseLost, NotFound
from laneway.store import events
from laneway.store.database import DUE, Connection
from laneway.store.json_columns import in_order
from laneway.store.rows import Rows, columns, row_of

_COLUMNS = columns(Job)
WOKEN = 3
"""A call that has ended may leave room for more than one; all of them would be too many to try in vain."""

# A job may start when nothing before it in its thread is open. Commands aside of the order start at once.
_READY = """
    j.status = 'queued' AND (j.not_before IS NULL OR j.not_before <= now())
    AND (j.aside OR NOT EXISTS (
        SELECT 1 FROM jobs e WHERE e.thread_id = j.thread_id AND NOT e.aside
        AND (e.status = 'running' OR (e.status = 'queued' AND e.seq < j.seq))))
"""


async def claim(tx: Connection, worker: str, *, limit: int, owner_only: bool = False) -> list[Job]:
    """Up to `limit` ready jobs are running and belong to `worker`; the owner's come first, those of programs do not."""
    async with tx.cursor(row_factory=row_of(Job)) as cursor:
        await cursor.execute(
            f"""
            UPDATE jobs SET status = 'running', worker = %s, run = run + 1, epoch = epoch + 1,
                   attempts = attempts + 1, started_at = coalesce(started_at, now()), not_before = NULL
            WHERE id IN (SELECT j.id FROM jobs j WHERE {_READY} AND (j.owner AND NOT j.program OR NOT %s)
                         ORDER BY (j.owner AND NOT j.program) DESC, j.seq LIMIT %s FOR UPDATE SKIP LOCKED)
            RETURNING {_COLUMNS}
            """,
            (worker, owner_only, limit),
        )
        return sorted(await cursor.fetchall(), key=lambda job: (not job.first, job.seq))


async def is_programs(tx: Connection, job_id: UUID) -> bool:
    """Whether a program asked for the job, or for what led to it: what the job leads to goes behind people, too."""
    row = await (await tx.execute("SELECT program FROM jobs WHERE id = %s", (job_id,))).fetchone()
    return row is not None and bool(row[0])


async def seconds_to_next(tx: Connection) -> float | None:
    """How long until the next delayed job becomes ready; None if there is none."""
    cursor = await tx.execute(
        "SELECT extract(epoch FROM min(not_before) - now())::float8 FROM jobs "
        "WHERE status = 'queued' AND not_before > now()"
    )
    row = await cursor.fetchone()
    return None if row is None or row[0] is None else max(0.0, float(row[0]))


async def wait(tx: Connection, job_id: UUID, error: dict[str, Any], delay: float) -> None:
    """The running job is queued until `wake` or the end of the delay; that it had to wait is no attempt."""
    await tx.execute("UPDATE jobs SET attempts = attempts - 1 WHERE id = %s", (job_id,))
    await move(tx, job_id, JobStatus.QUEUED, delay=delay, resume=True, error=error)


async def wake(tx: Connection) -> None:
    """The first of the jobs that wait for room in a budget try again: a call has ended."""
    cursor = await tx.execute(
        "UPDATE jobs SET not_before = NULL WHERE id IN (SELECT id FROM jobs WHERE status = 'queued' "
        "AND not_before > now() AND error->>'code' = %s ORDER BY (owner AND NOT program) DESC, seq LIMIT %s "
        "FOR UPDATE SKIP LOCKED)",
        (BudgetBusy.code, WOKEN),
    )
    if cursor.rowcount:
        await tx.execute("SELECT pg_notify('laneway_jobs', '')")


async def get(tx: Connection, job_id: UUID) -> Job:
    """The job, or NotFound."""
    found = await Rows(tx, Job).fetch_one(f"SELECT {_COLUMNS} FROM jobs WHERE id = %s", (job_id,))
    if found is None:
        raise NotFound(f"There is no job {job_id}.", hint="`laneway jobs` lists them.")
    return found


async def page(
    tx: Connection,
    *,
    status: JobStatus | None = None,
    thread_id: UUID | None = None,
    message_id: UUID | None = None,
    limit: int = 50,
    before: int | None = None,
) -> list[Job]:
    """Jobs, newest first; `before` is the `seq` of the last one of the page before."""
    return await Rows(tx, Job).fetch_all(
        f"SELECT {_COLUMNS} FROM jobs WHERE (%(status)s::text IS NULL OR status = %(status)s) "
        "AND (%(thread)s::uuid IS NULL OR thread_id = %(thread)s) "
        "AND (%(message)s::uuid IS NULL OR message_id = %(message)s) "
        "AND (%(before)s::bigint IS NULL OR seq < %(before)s) ORDER BY seq DESC LIMIT %(limit)s",
        {"status": status, "thread": thread_id, "message": message_id, "before": before, "limit": limit},
    )


async def counts(tx: Connection) -> dict[str, int]:
    """How many jobs stand at each status."""
    cursor = await tx.execute("SELECT status, count(*) FROM jobs GROUP BY status")
    return dict(await cursor.fetchall())


async def open_in_thread(tx: Connection, thread_id: UUID) -> list[Job]:
    """The thread's jobs that have not ended, oldest first, commands left out."""
    return await Rows(tx, Job).fetch_all(
        f"SELECT {_COLUMNS} FROM jobs WHERE thread_id = %s AND NOT aside "
        "AND status IN ('queued', 'running', 'waiting') ORDER BY seq",
        (thread_id,),
    )


async def holds(tx: Connection, job: Job, worker: str, epoch: int, *, lock: bool = False) -> bool:
    """Whether `worker` may still act for this job: it was not taken over and nobody asked to stop it.

    With `lock` nobody moves the job, or tells it to stop, before `tx` ends.
    """
    cursor = await tx.execute(
        "SELECT 1 FROM jobs WHERE id = %s AND worker = %s AND epoch = %s AND status = 'running' "
        f"AND cancel_requested_at IS NULL {'FOR NO KEY UPDATE' if lock else ''}",
        (job.id, worker, epoch),
    )
    return await cursor.fetchone() is not None


async def adopt(tx: Connection, job_id: UUID, run: int, worker: str) -> Job | None:
    """The running job belongs to `worker` from now on and no one else; None if this run is no longer its run."""
    return await Rows(tx, Job).fetch_one(
        "UPDATE jobs SET worker = %s, epoch = CASE WHEN worker = %s THEN epoch ELSE epoch + 1 END "
        f"WHERE id = %s AND run = %s AND status = 'running' RETURNING {_COLUMNS}",
        (worker, worker, job_id, run),
    )


async def move(
    tx: Connection,
    job_id: UUID,
    target: JobStatus,
    *,
    result: dict[str, Any] | None = None,
    error: dict[str, Any] | None = None,
    delay: float | None = None,
    resume: bool = False,
    lane: str | None = None,
) -> Job:
    """The job has the status `target`, its event is written; IllegalTransition if it may not go there.

    LeaseLost if it was to wait, and somebody has told it to stop: nothing of `tx` may be kept then.
    """
    finished = target in (JobStatus.DONE, JobStatus.FAILED, JobStatus.CANCELLED)
    moved = await Rows(tx, Job).fetch_one(
        f"""
            UPDATE jobs SET status = %(target)s, worker = NULL, resume = %(resume)s,
                   result = coalesce(%(result)s, result), error = %(error)s, lane = coalesce(%(lane)s, lane),
                   not_before = CASE WHEN %(delay)s::float8 IS NULL THEN NULL
                                     ELSE now() + make_interval(secs => %(delay)s) END,
                   finished_at = CASE WHEN %(finished)s THEN now() END
            WHERE id = %(id)s AND status = ANY(%(sources)s) RETURNING {_COLUMNS}
            """,
        {
            "target": target,
            "resume": resume,
            "result": None if result is None else in_order(result),
            "error": None if error is None else Jsonb(error),
            "lane": lane,
            "delay": delay,
            "finished": finished,
            "id": job_id,
            "sources": list(sources(target)),
        },
    )
    if moved is None:
        check_transition(job_id, (await get(tx, job_id)).status, target)
        raise NotFound(f"There is no job {job_id}.", hint="`laneway jobs` lists them.")
    if target is JobStatus.WAITING and moved.cancel_requested_at is not None:
        # Its question would stay open, though whoever might answer it has said that it shall stop.
        raise LeaseLost(f"Job {job_id} was stopped; it does not begin to wait.")
    await events.append(
        tx, f"job.{target}", {"error": error} if error else {}, thread_id=moved.thread_id, job_id=job_id
    )
    # A job that ended or went back lets the next one of its thread start.
    await tx.execute("SELECT pg_notify('laneway_jobs', '')")
    if finished and (node_of(moved) or (target is not JobStatus.DONE and "workflow_run" in moved.payload)):
        # A run of a workflow may wait for it as a row; one that ended well has told so itself.
        await tx.execute("SELECT pg_notify(%s, '')", (DUE,))
    if finished and AWAITED_BY in moved.payload:
        # Nobody ends it between the look at it and its going on.
        await tx.execute("SELECT 1 FROM jobs WHERE id = %s FOR NO KEY UPDATE", (moved.payload[AWAITED_BY],))
        await go_on(tx, UUID(moved.payload[AWAITED_BY]))
    return moved


async def await_others(tx: Connection, job_id: UUID, others: Sequence[UUID]) -> bool:
    """The job waits until one of the others ends; False if all of them have ended."""
    for other in others:
        # Whoever ends it meanwhile has done so before this, or reads this.
        await note(tx, other, {AWAITED_BY: str(job_id)})
    waits = any([(await get(tx, other)).status not in FINAL for other in others])
    if waits:
        await move(tx, job_id, JobStatus.WAITING)
    return waits


async def go_on(tx: Connection, job_id: UUID) -> bool:
    """The job that waited is queued with a fresh set of attempts; False if it does not wait."""
    if (await get(tx, job_id)).status is not JobStatus.WAITING:
        return False
    await move(tx, job_id, JobStatus.QUEUED)
    await tx.execute("UPDATE jobs SET attempts = 0 WHERE id = %s", (job_id,))
    return True


async def retry(tx: Connection, job_id: UUID) -> Job:
    """The failed job is queued again and will go on from its last good step, with a fresh set of attempts."""
    await tx.execute("SELECT 1 FROM jobs WHERE id = %s FOR UPDATE", (job_id,))
    status = (await get(tx, job_id)).status
    if status is not JobStatus.FAILED:
        # Waiting and running jobs may become queued too, but not because a person asked for another try.
        raise IllegalTransition(f"Job {job_id} is {status}; only a failed one can be retried.")
    await tx.execute("UPDATE jobs SET attempts = 0 WHERE id = %s", (job_id,))
    return await move(tx, job_id, JobStatus.QUEUED, resume=True)


async def request_cancel(tx: Connection, job_id: UUID) -> Job:
    """A queued or waiting job is cancelled; a running one has been told to stop, whoever runs it."""
    # The question and then its job, as whoever answers does; the other way round the two would wait for each other.
    await tx.execute("SELECT 1 FROM approvals WHERE job_id = %s AND state = 'pending' FOR UPDATE", (job_id,))
    # Locked first: between reading "queued" and cancelling, a worker could have claimed it.
    await tx.execute("SELECT 1 FROM jobs WHERE id = %s FOR UPDATE", (job_id,))
    job = await get(tx, job_id)
    if job.status is JobStatus.WAITING:
        await tx.execute(
            "UPDATE approvals SET state = 'superseded', answered_at = now() WHERE job_id = %s AND state = 'pending'",
            (job_id,),
        )
    if job.status in (JobStatus.QUEUED, JobStatus.WAITING):
        return await move(tx, job_id, JobStatus.CANCELLED)
    check_transition(job_id, job.status, JobStatus.CANCELLED)
    await tx.execute(
        "UPDATE jobs SET cancel_requested_at = coalesce(cancel_requested_at, now()) WHERE id = %s", (job_id,)
    )
    await tx.execute("SELECT pg_notify('laneway_cancels', %s)", (str(job_id),))
    return await get(tx, job_id)


async def cancel_if_open(tx: Connection, job_id: UUID) -> Job | None:
    """The same for one of several: None if it has ended meanwhile, which is no reason to leave the others alone."""
    try:
        return await request_cancel(tx, job_id)
    except IllegalTransition:
        return None


async def stop_thread(tx: Connection, thread_id: UUID) -> list[Job]:
    """What was open in the thread and has been told to stop, oldest first."""
    # The newest is told first: its end locks whoever waits for it.
    found = reversed(await open_in_thread(tx, thread_id))
    return [job for job in found if await cancel_if_open(tx, job.id) is not None][::-1]


async def note(tx: Connection, job_id: UUID, facts: dict[str, Any]) -> None:
    """The job's payload holds these facts, too."""
    cursor = await tx.execute("SELECT payload FROM jobs WHERE id = %s FOR UPDATE", (job_id,))
    row = await cursor.fetchone()
    if row is not None:
        await tx.execute("UPDATE jobs SET payload = %s WHERE id = %s", (in_order({**row[0], **facts}), job_id))


async def count_death(tx: Connection, job_id: UUID) -> int:
    """One more worker has died while it ran this job; returns how many have."""
    cursor = await tx.execute("UPDATE jobs SET deaths = deaths + 1 WHERE id = %s RETURNING deaths", (job_id,))
    row = await cursor.fetchone()
    return int(row[0]) if row else 0


async def running_of(tx: Connection, worker: str) -> list[Job]:
    """The jobs a worker was running, locked for whoever takes them over."""
    return await Rows(tx, Job).fetch_all(
        f"SELECT {_COLUMNS} FROM jobs WHERE worker = %s AND status = 'running' ORDER BY seq FOR UPDATE", (worker,)
    )


async def told_to_stop(tx: Connection, worker: str) -> list[UUID]:
    """The jobs a worker is running that somebody asked to stop."""
    cursor = await tx.execute(
        "SELECT id FROM jobs WHERE worker = %s AND status = 'running' AND cancel_requested_at IS NOT NULL", (worker,)
    )
    return [row[0] for row in await cursor.fetchall()]


async def hand_over(tx: Connection, job_id: UUID, *, worker: str, next_run: bool) -> Job:
    """A dead worker's running job belongs to `worker`; `next_run` starts a new run of it."""
    job = await Rows(tx, Job).fetch_one(
        "UPDATE jobs SET worker = %s, epoch = epoch + 1, run = run + %s WHERE id = %s AND status = 'running' "
        f"RETURNING {_COLUMNS}",
        (worker, int(next_run), job_id),
    )
    if job is None:
        raise NotFound(f"Job {job_id} is no longer running.", hint="`laneway jobs show` tells what became of it.")
    await events.append(tx, "job.recovered", {"run": job.run}, thread_id=job.thread_id, job_id=job_id)
    return job


async def record_classification(tx: Connection, job: Job, judged: Classification) -> None:
    """The judgement is stored once per job, with its event."""
    cursor = await tx.execute(
        "INSERT INTO classifications (id, message_id, job_id, intent, lane, summary, plan, needs_confirmation, "
        "confidence, decided_by, runner_up, milliseconds, choices) "
        "VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s) ON CONFLICT (job_id) DO NOTHING",
        (
            new_id(), job.message_id, job.id, judged.intent, judged.lane, judged.summary, judged.plan,
            judged.needs_confirmation, judged.confidence, judged.decided_by, judged.runner_up, judged.milliseconds,
            judged.choices,
        ),
    )  # fmt: skip
    if cursor.rowcount:
        await events.append(tx, "job.classified", judged.as_dict(), thread_id=job.thread_id, job_id=job.id)


async def settle_classification(tx: Connection, job: Job, judged: Classification) -> None:
    """What was unsure has been settled: the job has this judgement now, with its event."""
    await tx.execute("DELETE FROM classifications WHERE job_id = %s", (job.id,))
    await record_classification(tx, job, judged)


async def classification_of(tx: Connection, job_id: UUID) -> Classification | None:
    async with tx.cursor(row_factory=row_of(Classification)) as cursor:
        await cursor.execute(f"SELECT {columns(Classification)} FROM classifications WHERE job_id = %s", (job_id,))
        return await cursor.fetchone()
