"""Runs of workflows: started with their job in one transaction, told how they ended, listed and found again."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any, LiteralString
from uuid import UUID

from psycopg.types.json import Json, Jsonb

from laneway.domain.job import Job, JobStatus
from laneway.domain.workflow_run import RecordedRun, RunStatus, WorkflowRun
from laneway.errors import Conflict, IllegalTransition, NotFound
from laneway.store import events, jobs, questions, workflow_nodes, workflow_turns
from laneway.store.database import DUE, Connection
from laneway.store.json_columns import in_order
from laneway.store.questions import Question
from laneway.store.rows import Rows

# A job that was stopped or given up by the engine has ended its run, whatever the run's own row says yet.
_STATUS = (
    "CASE WHEN r.status IN ('running', 'waiting') AND j.status IN ('failed', 'cancelled') THEN j.status "
    "ELSE r.status END"
)
_SELECT = (
    "SELECT r.id, r.seq, r.workflow_id, r.version, r.document, r.input, r.cause, r.principal_id, r.job_id, "
    f"r.parent_id, r.parent_node, r.previous_id, r.depth, r.test, r.pinned, {_STATUS} AS status, r.visits, r.sources, "
    "r.output, coalesce(r.error, j.error) AS error, r.ended_at, r.created_at, "
    "coalesce(r.finished_at, j.finished_at) AS finished_at, w.tag, r.waits_for "
    "FROM workflow_runs r JOIN jobs j ON j.id = r.job_id JOIN workflows w ON w.id = r.workflow_id"
)


async def add(tx: Connection, **values: Any) -> UUID:
    """The run is stored; `values` are its columns. It compares itself with the last one that ended well."""
    cursor = await tx.execute(
        """
        INSERT INTO workflow_runs (id, workflow_id, version, document, input, cause, principal_id, job_id, parent_id,
            parent_node, previous_id, depth, test, pinned, sources)
        VALUES (%(id)s, %(workflow_id)s, %(version)s, %(document)s, %(input)s, %(cause)s, %(principal_id)s, %(job_id)s,
            %(parent_id)s, %(parent_node)s,
            (SELECT id FROM workflow_runs WHERE workflow_id = %(workflow_id)s AND status = 'done' AND NOT test
             ORDER BY seq DESC LIMIT 1), %(depth)s, %(test)s, %(pinned)s, %(sources)s)
        RETURNING id
        """,
        {
            **values, "document": Json(values["document"]), "input": in_order(values["input"]),
            "cause": Jsonb(values["cause"]), "pinned": in_order(values["pinned"]),
        },
    )  # fmt: skip
    row = await cursor.fetchone()
    assert row is not None
    return UUID(str(row[0]))


async def get(tx: Connection, run_id: UUID) -> WorkflowRun:
    """The run, or NotFound."""
    found = await _one(tx, "r.id = %s", (run_id,))
    if found is None:
        raise NotFound(f"There is no run {run_id}.", hint="`laneway workflow runs TAG` lists them.")
    return found


async def of_job(tx: Connection, job_id: UUID) -> WorkflowRun | None:
    """The run that this job is, if it is one."""
    return await _one(tx, "r.job_id = %s", (job_id,))


async def of_occasion(tx: Connection, message: str) -> WorkflowRun | None:
    """The run that a message of this id began, on whichever channel that was."""
    return await _one(
        tx,
        # Channels are few and messages many: each channel is asked for, instead of every message.
        "j.message_id = ANY(ARRAY(WITH RECURSIVE one AS (SELECT min(channel) AS channel FROM threads UNION ALL "
        "SELECT (SELECT min(channel) FROM threads WHERE channel > one.channel) FROM one WHERE one.channel IS NOT NULL) "
        "SELECT m.id FROM one JOIN messages m ON m.channel = one.channel AND m.external_id = %s))",
        (message,),
    )


async def page(
    tx: Connection, workflow_id: UUID, *, status: RunStatus | None = None, limit: int = 50, before: int | None = None
) -> list[WorkflowRun]:
    """Runs of a workflow, newest first; `before` is the `seq` of the last one of the page before."""
    return await _many(
        tx,
        "r.workflow_id = %s AND (%s::bigint IS NULL OR r.seq < %s) "
        f"AND (%s::text IS NULL OR {_STATUS} = %s) ORDER BY r.seq DESC LIMIT %s",
        (workflow_id, before, before, status, status, limit),
    )


async def children(tx: Connection, run_id: UUID) -> list[WorkflowRun]:
    """The runs this one started, oldest first."""
    return await _many(tx, "r.parent_id = %s ORDER BY r.seq", (run_id,))


async def recorded(tx: Connection, workflow_id: UUID, newest: int) -> tuple[list[RecordedRun], dict[UUID, UUID]]:
    """The newest runs that really ran and ended, newest first, and for each of them the run before it."""
    found = await _many(
        tx, "r.workflow_id = %s AND NOT r.test AND r.status IN ('done', 'failed') ORDER BY r.seq DESC LIMIT %s",
        (workflow_id, newest),
    )  # fmt: skip
    runs = [RecordedRun(run.id, run.version, run.input, {}, list(run.ended_at), run.status) for run in found]
    return runs, {run.id: run.previous_id for run in found if run.previous_id is not None}


async def count_open(tx: Connection, workflow_id: UUID) -> int:
    """How many runs of the workflow have not ended."""
    cursor = await tx.execute(
        "SELECT count(*) FROM workflow_runs r JOIN jobs j ON j.id = r.job_id "
        f"WHERE r.workflow_id = %s AND r.status IN ('running', 'waiting') AND {_STATUS} IN ('running', 'waiting')",
        (workflow_id,),
    )
    row = await cursor.fetchone()
    return int(row[0]) if row else 0


async def begun_since(tx: Connection, workflow_id: UUID, cause: str, since: datetime) -> int:
    """How many runs were started by this kind of cause since then."""
    cursor = await tx.execute(
        "SELECT count(*) FROM workflow_runs WHERE workflow_id = %s AND cause->>'type' = %s AND created_at >= %s",
        (workflow_id, cause, since),
    )
    row = await cursor.fetchone()
    return int(row[0]) if row else 0


async def failed_in_a_row(tx: Connection, run: WorkflowRun) -> int:
    """How many runs by schedule of this version of the workflow have failed since one ended well."""
    cursor = await tx.execute(
        "SELECT count(*) FROM workflow_runs r WHERE r.workflow_id = %s AND r.version = %s AND r.status = 'failed' "
        "AND NOT r.test AND r.cause->>'type' = 'cron' AND r.seq > coalesce((SELECT max(d.seq) FROM workflow_runs d "
        "WHERE d.workflow_id = r.workflow_id AND d.status = 'done' AND NOT d.test), 0)",
        (run.workflow_id, run.version),
    )
    row = await cursor.fetchone()
    return int(row[0]) if row else 0


async def set_visits(tx: Connection, run_id: UUID, visits: dict[str, int]) -> None:
    """From now on these visits of these nodes count."""
    await tx.execute("UPDATE workflow_runs SET visits = visits || %s WHERE id = %s", (Jsonb(visits), run_id))


async def set_status(tx: Connection, run_id: UUID, status: RunStatus) -> None:
    """The run, which has not ended, runs or waits."""
    await tx.execute(
        "UPDATE workflow_runs SET status = %s WHERE id = %s AND status IN ('running', 'waiting')", (status, run_id)
    )


async def end(
    tx: Connection, run: WorkflowRun, status: RunStatus, *, output: Any = None, error: dict[str, Any] | None = None,
    ended_at: Sequence[str] = (),
) -> None:  # fmt: skip
    """The run has ended so; whoever waits for it looks anew once this is committed."""
    cursor = await tx.execute(
        "UPDATE workflow_runs SET status = %s, output = %s, error = %s, ended_at = %s, finished_at = now() "
        "WHERE id = %s AND status IN ('running', 'waiting')",
        (status, None if output is None else in_order(output), None if error is None else Jsonb(error), list(ended_at),
         run.id),
    )  # fmt: skip
    if cursor.rowcount:
        body: dict[str, Any] = {"run": str(run.id), "workflow": run.tag, "ended_at": list(ended_at)}
        body |= {"error": error} if error else {}
        job = await jobs.get(tx, run.job_id)
        await events.append(tx, f"workflow.run.{status}", body, thread_id=job.thread_id, job_id=run.job_id)
    if run.parent_id is not None:
        await wake(tx)


async def reopen(tx: Connection, run_id: UUID) -> WorkflowRun:
    """The failed run goes on at its failed nodes with a fresh set of attempts; what had ended well stays."""
    await tx.execute("SELECT 1 FROM workflow_runs WHERE id = %s FOR UPDATE", (run_id,))
    run = await get(tx, run_id)
    if run.status is not RunStatus.FAILED:
        raise Conflict(f"Run {run_id} is {run.status}; only a failed one can be retried.", hint="Start a new one.")
    await workflow_nodes.reopen_failed(tx, run_id)
    await tx.execute(
        "UPDATE workflow_runs SET status = 'running', error = NULL, finished_at = NULL, "
        "cause = cause || '{\"retried\": true}' WHERE id = %s",
        (run_id,),
    )
    await tx.execute("UPDATE jobs SET attempts = 0 WHERE id = %s", (run.job_id,))
    job = await jobs.move(tx, run.job_id, JobStatus.QUEUED)
    await events.append(tx, "workflow.run.retried", {"run": str(run_id)}, thread_id=job.thread_id, job_id=job.id)
    return await get(tx, run_id)


async def cancel(tx: Connection, run_id: UUID) -> WorkflowRun:
    """The run and those it started are cancelled, or have been told to stop."""
    run = await get(tx, run_id)
    # First: from now on it starts nothing more, and what it has started can be seen.
    job = await jobs.request_cancel(tx, run.job_id)
    for child in await children(tx, run_id):
        if child.status in (RunStatus.RUNNING, RunStatus.WAITING):
            # One that has just ended by itself needs no stopping.
            with suppress(IllegalTransition):
                await cancel(tx, child.id)
    for open_job in await workflow_nodes.open_jobs(tx, run_id):
        await jobs.cancel_if_open(tx, open_job)
    if job.status is JobStatus.CANCELLED:
        await end(tx, run, RunStatus.CANCELLED)
    await wake(tx)
    return await get(tx, run_id)


async def rest(tx: Connection, job: Job, seconds: float | None) -> None:
    """The job holds no worker: it goes on after so many seconds, or, without any, when somebody wakes it."""
    # Sleeping is no failed try, and a sleeper holds up nobody else of its thread.
    await tx.execute("UPDATE jobs SET attempts = 0, aside = true WHERE id = %s", (job.id,))
    if seconds is None:
        await jobs.move(tx, job.id, JobStatus.WAITING)
        await wake(tx)
    else:
        await jobs.move(tx, job.id, JobStatus.QUEUED, delay=seconds)


async def ask(tx: Connection, job: Job, question: Question, may_answer: Sequence[str], pulled: Collection[str]) -> None:
    """The question is asked where the run reports, and the job waits for an answer by one of these roles."""
    await tx.execute("UPDATE jobs SET attempts = 0, aside = true WHERE id = %s", (job.id,))
    # Choices of a workflow let something happen, unlike those that only say what was meant.
    await questions.put(tx, job, question, pulled, may_answer)
    await wake(tx)


async def rouse(tx: Connection, now: datetime, limit: int = 100) -> int:
    """Waiting jobs whose moment or answer has come, or whose other run has ended, are queued; returns how many."""
    cursor = await tx.execute(
        """
        SELECT j.id FROM jobs j JOIN workflow_runs r ON r.job_id = j.id
        WHERE j.status = 'waiting' AND (r.waits_for IS NOT NULL AND NOT EXISTS (
            SELECT 1 FROM workflow_runs c JOIN jobs cj ON cj.id = c.job_id WHERE c.id = r.waits_for AND """
        + workflow_turns.OPEN
        + """) OR EXISTS (
            SELECT 1 FROM workflow_nodes n WHERE n.run_id = r.id AND n.status IN ('waiting', 'retrying') AND (
                n.again_at <= %s OR EXISTS (
                    SELECT 1 FROM jobs c WHERE c.id = (n.waits->>'job')::uuid
                    AND c.status IN ('done', 'failed', 'cancelled')) OR EXISTS (
                    SELECT 1 FROM approvals a WHERE a.job_id = j.id AND a.action_hash = n.waits->>'approval'
                    AND a.state <> 'pending') OR EXISTS (
                    SELECT 1 FROM workflow_runs c JOIN jobs cj ON cj.id = c.job_id
                    WHERE c.id = (n.waits->>'run')::uuid AND (
                        c.status IN ('done', 'failed', 'cancelled') OR cj.status IN ('failed', 'cancelled'))))))
        ORDER BY j.seq LIMIT %s FOR UPDATE OF j SKIP LOCKED
        """,
        (now, limit),
    )
    found = [row[0] for row in await cursor.fetchall()]
    for job_id in found:
        await jobs.move(tx, job_id, JobStatus.QUEUED)
    return len(found)


async def seconds_to_rouse(tx: Connection, now: datetime) -> float | None:
    """How long until the moment of a waiting job comes; None if none waits for a moment."""
    cursor = await tx.execute(
        "SELECT extract(epoch FROM min(n.again_at) - %s)::float8 FROM workflow_nodes n "
        "JOIN workflow_runs r ON r.id = n.run_id JOIN jobs j ON j.id = r.job_id "
        "WHERE n.status IN ('waiting', 'retrying') AND n.again_at IS NOT NULL AND j.status = 'waiting'",
        (now,),
    )
    row = await cursor.fetchone()
    return None if row is None or row[0] is None else max(0.0, float(row[0]))


async def wake(tx: Connection) -> None:
    """Whoever rouses sleepers looks anew, once this is committed."""
    await tx.execute("SELECT pg_notify(%s, '')", (DUE,))


async def _one(tx: Connection, which: LiteralString, values: tuple[object, ...]) -> WorkflowRun | None:
    found = await _many(tx, which, values)
    return found[0] if found else None


async def _many(tx: Connection, which: LiteralString, values: tuple[object, ...]) -> list[WorkflowRun]:
    return await Rows(tx, WorkflowRun).fetch_all(f"{_SELECT} WHERE {which}", values)
