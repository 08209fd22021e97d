"""Accounts of real people with real jobs, and calls charged to them, for tests of budgets."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Iterable
from decimal import Decimal
from itertools import count
from typing import Any

from psycopg.types.json import Jsonb

from laneway.channels.intake import Intake, Limits
from laneway.domain.budget import Account, Caps
from laneway.domain.conversation import Incoming, Principal, Role
from laneway.domain.job import Scope
from laneway.store import ledger, principals
from laneway.store.database import Database

CENT = Decimal("0.01")
CONNECTIONS = 10
_numbers = count()


async def owner(db: Database) -> Principal:
    async with db.transaction() as tx:
        return await principals.set_owner_key(tx, "lw_owner")


async def customer(db: Database, name: str = "ann") -> Principal:
    async with db.transaction() as tx:
        return await principals.by_address(tx, f"http:{name}", Role.CUSTOMER, name)


async def job_of(db: Database, who: Principal, thread: str = "main", **more: Any) -> Account:
    """A message of this person has a job; returns the account as the journey names it, with nothing looked up."""
    intake = Intake(db, ["tools", "answer"], Limits(1000, 1000))
    receipt = await intake.receive(Incoming("http", thread, f"m{next(_numbers)}", "what is new?", who, **more))
    return Account(thread_id=receipt.thread_id, job_id=receipt.job_id)


async def scheduled(db: Database, account: Account, schedule: str) -> Account:
    """The job was started by this schedule."""
    async with db.transaction() as tx:
        await tx.execute(
            "UPDATE jobs SET scope = 'proactive', payload = %s WHERE id = %s",
            (Jsonb({"schedule": schedule}), account.job_id),
        )
    return Account(Scope.PROACTIVE, account.thread_id, account.job_id)


async def reserve(
    db: Database, account: Account | None = None, caps: Caps | None = None, cost: Decimal = CENT, **more: Any
) -> int:
    """A call of 150 tokens at most is reserved."""
    call: dict[str, Any] = {"provider": "claude", "model": "claude-sonnet-5-5", "tokens_input": 100}
    call |= {"tokens_output_max": 50, "meta": {}} | more
    async with db.transaction() as tx:
        return await ledger.reserve(tx, account=account or Account(), caps=caps or Caps(), cost_max=cost, **call)


async def together(calls: Iterable[Awaitable[int]]) -> list[int | BaseException]:
    """What became of each call, as many at once as there are connections: nobody is refused for waiting for one."""
    room = asyncio.Semaphore(CONNECTIONS)

    async def one(call: Awaitable[int]) -> int:
        async with room:
            return await call

    return await asyncio.gather(*map(one, calls), return_exceptions=True)


async def settle(db: Database, entry: int, cost: Decimal = CENT, tokens: tuple[int, int] = (80, 20)) -> None:
    async with db.transaction() as tx:
        await ledger.settle(tx, entry, ledger.Usage(*tokens, cost=cost), {})


async def spend(db: Database, account: Account | None = None, cost: Decimal = CENT, **more: Any) -> None:
    """A call was made and settled at this cost, and 100 tokens."""
    await settle(db, await reserve(db, account, cost=cost, **more), cost)
