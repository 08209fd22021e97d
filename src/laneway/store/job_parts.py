"""A job together with the jobs to which it handed work: what they took, what they ask, and when it goes on."""

from __future__ import annotations

from typing import LiteralString
from uuid import UUID

from psycopg.rows import dict_row

from laneway.domain.judgement import Approval
from laneway.store.database import Connection
from laneway.store.rows import columns, row_of

_PARTS: LiteralString = """
WITH RECURSIVE part AS (
    SELECT %(job)s::uuid AS id
    UNION SELECT (e.outcome->'result'->>'job_id')::uuid FROM part JOIN effects e ON e.job_id = part.id
    WHERE e.tool = 'delegate' AND e.state = 'done' AND e.outcome->>'status' = 'success')
"""
_EXPENSE: LiteralString = f"""
{_PARTS}, asked AS (
    SELECT range_agg(tstzrange(a.created_at, greatest(a.created_at, coalesce(a.answered_at, now())))) AS spans
    FROM approvals a JOIN part ON part.id = a.job_id
), worked AS (
    SELECT unnest(tstzmultirange(tstzrange(started_at, greatest(started_at, coalesce(finished_at, now()))))
                  - coalesce(spans, '{{}}')) AS span
    FROM jobs, asked WHERE id = %(job)s AND started_at IS NOT NULL
)
SELECT (SELECT coalesce(sum(l.tokens_total), 0)::bigint FROM token_ledger l JOIN part ON part.id = l.job)
           AS tokens_used,
       (SELECT round(coalesce(extract(epoch FROM sum(upper(span) - lower(span))), 0) * 1000)::bigint FROM worked)
           AS execution_time_ms
"""


async def expense(tx: Connection, job_id: UUID) -> dict[str, int]:
    """What the job took up to its end, or up to now, by the names of a result's metadata.

    `tokens_used` are those of all calls of models: for its files, its classification, its lane, and the jobs to which
    it handed work. `execution_time_ms` is from its first claim on, less the time in which any of them asked a person.
    """
    async with tx.cursor(row_factory=dict_row) as cursor:
        await cursor.execute(_EXPENSE, {"job": job_id})
        return dict(await cursor.fetchone() or {})


async def open_questions(tx: Connection, job_id: UUID) -> list[Approval]:
    """What a person must answer before the job can go on, oldest first."""
    async with tx.cursor(row_factory=row_of(Approval)) as cursor:
        await cursor.execute(
            f"{_PARTS} SELECT {columns(Approval, 'a.')} FROM approvals a JOIN part ON part.id = a.job_id "
            "WHERE a.state = 'pending' ORDER BY a.id",
            {"job": job_id},
        )
        return await cursor.fetchall()
