"""Approvals: stored questions, answered once by someone who may, or expired."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, LiteralString
from uuid import UUID

from psycopg.types.json import Jsonb

from laneway.domain.conversation import Principal, Role
from laneway.domain.ids import new_id
from laneway.domain.job import DELEGATED, Job, Scope
from laneway.domain.judgement import Approval, ApprovalState
from laneway.domain.redaction import redacted
from laneway.errors import BadInput, Conflict, Forbidden, NotFound
from laneway.store import events, jobs
from laneway.store.database import DUE, Connection
from laneway.store.rows import Rows, columns, row_of

_COLUMNS = columns(Approval)


def action_hash(action: dict[str, Any]) -> str:
    """The fingerprint of exactly this action."""
    return hashlib.sha256(json.dumps(action, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


async def ask(
    tx: Connection,
    job: Job,
    action: dict[str, Any],
    why: str,
    seconds: int,
    choices: Sequence[dict[str, str]] = (),
    estimated_cost: Decimal | None = None,
    shown: dict[str, Any] | None = None,
    may_answer: Sequence[str] = (),
) -> Approval:
    """The question is stored, once per job and action; earlier pending ones of the thread are superseded.

    What was meant, a question with choices, may be said by whoever is in the thread; what may run, by the owner;
    either by the roles of `may_answer`, where it names any.
    """
    found = await of_action(tx, job.id, action_hash(action))
    if found is not None:
        return found
    if job.scope is Scope.REACTIVE and DELEGATED not in job.payload:
        # A schedule's question must not take the place of one that the owner is about to answer.
        await supersede_before(tx, job, action)
    asked = await Rows(tx, Approval).fetch_one(
        "INSERT INTO approvals (id, job_id, thread_id, action, action_hash, why, deadline, choices, may_answer, "
        "estimated_cost) VALUES (%s, %s, %s, %s, %s, %s, now() + make_interval(secs => %s), %s, %s, %s) "
        f"RETURNING {_COLUMNS}",
        (
            new_id(), job.id, job.thread_id, Jsonb(action), action_hash(action), why, seconds,
            Jsonb(list(choices)), list(may_answer) or (list(Role) if choices else [Role.OWNER]), estimated_cost,
        ),
    )  # fmt: skip
    assert asked is not None
    told: dict[str, Any] = {"approval_id": str(asked.id), "why": why, "choices": asked.choices}
    told["action"] = redacted(action) if shown is None else {**redacted(action), "arguments": shown}
    await events.append(tx, "approval.asked", told, thread_id=job.thread_id, job_id=job.id)
    return asked


async def open_questions(tx: Connection, channel: str, thread: str, *, lock: bool = False) -> list[Approval]:
    """The questions that wait for an answer in this thread, newest first.

    With `lock` nobody else answers them before `tx` has ended, nor does their time run out.
    """
    return await Rows(tx, Approval).fetch_all(
        f"SELECT {columns(Approval, 'a.')} FROM approvals a JOIN threads t ON t.id = a.thread_id "
        "WHERE t.channel = %s AND t.external_id = %s AND a.state = 'pending' "
        f"AND a.deadline > now() ORDER BY a.id DESC LIMIT 10 {'FOR UPDATE OF a' if lock else ''}",
        (channel, thread),
    )


async def is_fresh(tx: Connection, asked: Approval) -> bool:
    """Whether it was asked so short a time ago that nobody can have read it."""
    cursor = await tx.execute("SELECT %s > clock_timestamp() - interval '1 second'", (asked.created_at,))
    row = await cursor.fetchone()
    return bool(row and row[0])


async def get(tx: Connection, approval_id: UUID) -> Approval:
    """The approval, or NotFound."""
    found = await Rows(tx, Approval).fetch_one(f"SELECT {_COLUMNS} FROM approvals WHERE id = %s", (approval_id,))
    if found is None:
        raise NotFound(f"There is no approval {approval_id}.", hint="GET /approvals lists them.")
    return found


async def supersede(tx: Connection, approval: Approval) -> None:
    """The question is no longer open: something newer was said."""
    await _close(tx, ApprovalState.SUPERSEDED, "id = %s", (approval.id,))


async def supersede_before(tx: Connection, job: Job, action: Mapping[str, Any] | None = None) -> None:
    """The thread's open questions of other jobs are no longer open: this job's command, or its question, is newer.

    A program works on several things in one session: there a change of a workflow waits on, until it is asked about the
    same one.
    """
    program, arguments = "door" in (job.payload.get("runner") or {}), (action or {}).get("arguments", {})
    await _close(
        tx, ApprovalState.SUPERSEDED, "thread_id = %s AND (job_id <> %s OR %s) AND NOT (%s "
        "AND action->>'tool' = 'patch_workflow' AND action->'arguments'->>'workflow' IS DISTINCT FROM %s)",
        (job.thread_id, job.id, action is not None, program, arguments.get("workflow")),
    )  # fmt: skip


async def of_action(tx: Connection, job_id: UUID, fingerprint: str) -> Approval | None:
    """The approval of this job for this exact action."""
    return await Rows(tx, Approval).fetch_one(
        f"SELECT {_COLUMNS} FROM approvals WHERE job_id = %s AND action_hash = %s", (job_id, fingerprint)
    )


async def page(
    tx: Connection, *, state: ApprovalState | None = None, limit: int = 50, before: UUID | None = None
) -> list[Approval]:
    """Approvals, newest first; `before` is the last one of the page before."""
    return await Rows(tx, Approval).fetch_all(
        f"SELECT {_COLUMNS} FROM approvals WHERE (%s::text IS NULL OR state = %s) "
        "AND (%s::uuid IS NULL OR id < %s) ORDER BY id DESC LIMIT %s",
        (state, state, before, before, limit),
    )


async def answer(
    tx: Connection, approval_id: UUID, answer: ApprovalState, principal: Principal, choice: str | None = None
) -> Approval:
    """The first permitted answer counts: the approval has it, and its job is queued for the next run."""
    async with tx.cursor(row_factory=row_of(Approval)) as cursor:
        await cursor.execute(f"SELECT {_COLUMNS} FROM approvals WHERE id = %s FOR UPDATE", (approval_id,))
        found = await cursor.fetchone()
        if found is None:
            raise NotFound(f"There is no approval {approval_id}.", hint="GET /approvals lists them.")
        if principal.role not in found.may_answer:
            raise Forbidden(f"You may not answer approval {approval_id}.", hint="Ask its owner.")
        if found.state is not ApprovalState.PENDING:
            raise Conflict(f"Approval {approval_id} is already {found.state}.", hint=_too_late(found))
        _check_choice(found, answer, choice)
        await cursor.execute(
            "UPDATE approvals SET state = CASE WHEN deadline < now() THEN 'expired' ELSE %s END, answered_by = %s, "
            f"answered_at = now(), choice = %s WHERE id = %s RETURNING {_COLUMNS}",
            (answer, principal.id, choice, approval_id),
        )
        answered = await cursor.fetchone()
    assert answered is not None
    await _go_on(tx, answered)
    return answered


def _too_late(asked: Approval) -> str:
    if asked.state is ApprovalState.APPROVED:
        return "The first answer counts."
    return f"To be asked the same again: `laneway approve {asked.id} --again`, or POST /approvals/{asked.id}/again."


def _check_choice(asked: Approval, answer: ApprovalState, choice: str | None) -> None:
    """Returns only if the answer is one that was offered."""
    offered = [one["label"] for one in asked.choices]
    if answer is ApprovalState.APPROVED and offered and choice not in offered:
        raise BadInput(f"Approval {asked.id} asks for a choice.", hint=f"Choose one of {', '.join(offered)}.")
    if choice is not None and not offered:
        raise BadInput(f"Approval {asked.id} offers no choice.", hint="Say only yes or no.")


async def expire(tx: Connection) -> int:
    """Approvals past their deadline are expired and their jobs go on to say so."""
    return await _close(tx, ApprovalState.EXPIRED, "deadline < now()", ())


async def _close(tx: Connection, state: ApprovalState, which: LiteralString, values: tuple[object, ...]) -> int:
    closed = await Rows(tx, Approval).fetch_all(
        "UPDATE approvals SET state = %s, answered_at = now() "
        f"WHERE state = 'pending' AND {which} RETURNING {_COLUMNS}",
        (state, *values),
    )
    for approval in closed:
        await _go_on(tx, approval)
    return len(closed)


async def _go_on(tx: Connection, approval: Approval) -> None:
    await events.append(
        tx,
        f"approval.{approval.state}",
        {"approval_id": str(approval.id)},
        thread_id=approval.thread_id,
        job_id=approval.job_id,
    )
    if not await jobs.go_on(tx, approval.job_id):
        # A run of a workflow may work beside its question and be about to rest: whoever rouses sleepers looks anew.
        await tx.execute("SELECT pg_notify(%s, '')", (DUE,))
