"""Budgets: those the settings give everybody, and those the owner set for somebody, which take their place."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import date
from decimal import Decimal
from typing import LiteralString
from uuid import UUID

from laneway.domain.budget import SPLIT, Account, Budget, Caps, Period, Standing, Subject
from laneway.domain.conversation import World
from laneway.errors import NotFound
from laneway.store import events, spending
from laneway.store.database import Connection

# A schedule may bring a budget of its own; one that was set takes its place, so it comes later.
_SELECT: LiteralString = (
    "SELECT subject, name, period, world, usd, tokens FROM (SELECT 0 AS place, 'schedule' AS subject, name, "
    "'day' AS period, '' AS world, budget_usd AS usd, NULL::bigint AS tokens FROM schedules "
    "WHERE budget_usd IS NOT NULL UNION ALL SELECT 1, subject, name, period, world, usd, tokens FROM budgets) AS these "
)
MOST_LISTED = 50
"""So many of one kind are listed, where a budget holds for each thread, principal or job."""


async def whose(tx: Connection, account: Account) -> tuple[Account, date]:
    """The account with everything known of its job and thread, and the day it is."""
    cursor = await tx.execute(
        """
        SELECT t.id, coalesce(m.principal_id, t.principal_id), coalesce(j.lane, c.lane), t.world,
               coalesce(s.name, CASE WHEN j.scope = 'proactive' THEN j.payload->>'schedule' END),
               (now() AT TIME ZONE 'UTC')::date
        FROM (SELECT %s::uuid AS job, %s::uuid AS thread) AS a
        LEFT JOIN jobs j ON j.id = a.job LEFT JOIN messages m ON m.id = j.message_id
        LEFT JOIN classifications c ON c.job_id = j.id LEFT JOIN threads t ON t.id = coalesce(a.thread, j.thread_id)
        LEFT JOIN schedules s ON j.scope = 'proactive' AND s.id::text = j.payload->>'schedule'
        """,
        (account.job_id, account.thread_id),
    )
    row = await cursor.fetchone()
    assert row is not None
    thread, principal, lane, world, schedule, today = row
    found = replace(
        account,
        thread_id=account.thread_id or thread,
        principal=account.principal or principal,
        lane=account.lane or lane,
        world=account.world or World(world or World.OWNER),
        schedule=account.schedule or schedule,
    )
    return found, today


async def holding(tx: Connection, account: Account, caps: Caps) -> list[Budget]:
    """Every budget that limits this account, the narrowest subject first."""
    names = {subject: name for subject in Subject if (name := account.name(subject)) is not None}
    cursor = await tx.execute(
        _SELECT + "WHERE (subject, name) IN (SELECT * FROM unnest(%s::text[], %s::text[])) AND world IN ('', %s) "
        "ORDER BY place",
        (list(names), list(names.values()), account.world or World.OWNER),
    )
    stored = [_budget(*row) for row in await cursor.fetchall()]
    usual = [
        replace(budget, name=names[budget.subject])
        for budget in caps.each()
        if budget.subject in names
        and budget.name in ("", names[budget.subject])
        and budget.world in (None, account.world or World.OWNER)
    ]
    return _merged(usual, stored)


async def put(tx: Connection, budget: Budget, by: UUID | None = None) -> None:
    """The budget holds from now on, instead of the one of the settings."""
    await tx.execute(
        "INSERT INTO budgets (subject, name, period, world, usd, tokens, set_by) VALUES (%s, %s, %s, %s, %s, %s, %s) "
        "ON CONFLICT (subject, name, world, period) DO UPDATE SET usd = EXCLUDED.usd, tokens = EXCLUDED.tokens, "
        "set_by = EXCLUDED.set_by, set_at = now()",
        (*_key(budget), budget.usd, budget.tokens, by),
    )
    told = {"usd": None if budget.usd is None else str(budget.usd), "tokens_most": budget.tokens}
    await events.append(tx, "budget.set", _named(budget) | told | {"by": str(by) if by else None})


async def remove(tx: Connection, budget: Budget) -> None:
    """The budget no longer holds; that of the settings does, if there is one."""
    cursor = await tx.execute(
        "DELETE FROM budgets WHERE subject = %s AND name = %s AND period = %s AND world = %s", _key(budget)
    )
    if not cursor.rowcount:
        raise NotFound(
            f"Nobody set a {budget.title}.",
            hint="`laneway budget` lists those in force; those of the settings are changed there.",
        )
    await events.append(tx, "budget.removed", _named(budget))


def _named(budget: Budget) -> dict[str, str | None]:
    return {
        "subject": budget.subject, "subject_name": budget.name, "period": budget.period, "world": budget.world,
    }  # fmt: skip


async def in_force(tx: Connection, caps: Caps) -> list[Standing]:
    """How every budget stands: all that were set, those of the settings, and theirs for whoever spent today."""
    cursor = await tx.execute("SELECT (now() AT TIME ZONE 'UTC')::date")
    row = await cursor.fetchone()
    assert row is not None
    cursor = await tx.execute(_SELECT + "ORDER BY place")
    stored = [_budget(*found) for found in await cursor.fetchall()]
    usual: list[Budget] = []
    for budget in caps.each():
        if budget.subject in (Subject.ALL, Subject.SCOPE):
            usual.append(budget)
        else:
            named = [one.name for one in stored if replace(one, name="").key == budget.key]
            names = dict.fromkeys([*named, *await _spenders(tx, budget, row[0])])
            usual += [replace(budget, name=name) for name in names]
    found = await spending.standings(tx, _merged(usual, stored), row[0])
    order = list(Subject)
    return sorted(found, key=lambda one: (-order.index(one.budget.subject), str(one.budget.world), one.budget.period))


async def labels(tx: Connection, found: Sequence[Standing]) -> dict[str, str]:
    """What people call the principals and threads among the budgets, by their ids."""
    ids = [one.budget.name for one in found if one.budget.subject in (Subject.PRINCIPAL, Subject.THREAD)]
    cursor = await tx.execute(
        "SELECT id::text, name FROM principals WHERE id::text = ANY(%s) UNION ALL "
        "SELECT id::text, channel || '/' || external_id FROM threads WHERE id::text = ANY(%s)",
        (ids, ids),
    )
    return dict(await cursor.fetchall())


async def _spenders(tx: Connection, budget: Budget, today: date) -> list[str]:
    """Those of the subject who spent something today; of jobs, those that have not ended."""
    if budget.subject is Subject.JOB:
        cursor = await tx.execute(
            "SELECT j.id::text FROM jobs j WHERE j.status IN ('queued', 'running', 'waiting') "
            "AND EXISTS (SELECT FROM token_ledger l WHERE l.job = j.id) ORDER BY j.seq DESC LIMIT %s",
            (MOST_LISTED,),
        )
    else:
        columns: dict[Subject, LiteralString] = {
            Subject.PRINCIPAL: "principal",
            Subject.THREAD: "thread",
            Subject.LANE: "lane",
        }
        column = columns[budget.subject]
        cursor = await tx.execute(
            f"SELECT {column} FROM ledger_days WHERE day = %s AND {column} <> '' AND (%s::text IS NULL OR world = %s) "
            "GROUP BY 1 ORDER BY sum(spent + reserved) DESC, 1 LIMIT %s",
            (today, budget.world, budget.world, MOST_LISTED),
        )
    return [str(found[0]) for found in await cursor.fetchall()]


def _merged(usual: Iterable[Budget], stored: Iterable[Budget]) -> list[Budget]:
    """Each budget once: a cap set by hand takes the place of the one from the settings."""
    found = {budget.key: budget for budget in usual}
    for budget in stored:
        default = found.get(budget.key)
        if default is not None:
            if budget.usd is None:
                budget = replace(budget, usd=default.usd, usd_setting=default.usd_setting)
            if budget.tokens is None:
                budget = replace(budget, tokens=default.tokens, tokens_setting=default.tokens_setting)
        found[budget.key] = budget
    order = list(Subject)
    return sorted(found.values(), key=lambda budget: order.index(budget.subject))


def _budget(subject: str, name: str, period: str, world: str, usd: Decimal | None, tokens: int | None) -> Budget:
    return Budget(Subject(subject), name, Period(period), World(world) if world else None, usd, tokens)


def _key(budget: Budget) -> tuple[str, str, str, str]:
    world = str(budget.world or World.OWNER) if budget.subject in SPLIT else ""
    return budget.subject, budget.name, budget.period, world
