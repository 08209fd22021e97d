"""Arrivals as a channel hands them in, and a door that takes them, without any provider."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from laneway.channels.arrival import Arrival, Taken
from laneway.channels.door import Door
from laneway.channels.intake import Intake, Limits
from laneway.channels.people import Admitted, Doorkeeper, Paired, Refused, Welcome
from laneway.domain.conversation import Principal, Role
from laneway.domain.people import Person
from laneway.store import pairings, people, principals
from laneway.store.database import Database

_numbers = itertools.count(1)


def written(text: str = "hello", user: str = "7", *, id: str | None = None, **more: Any) -> Arrival:
    """A private message on Telegram, where the chat is named after its person."""
    arrival = Arrival("telegram", user, id or f"u{next(_numbers)}", name=f"User {user}", thread=user, text=text)
    return replace(arrival, **more)


@dataclass
class Gate:
    """A doorkeeper, and a door behind it, with an owner inside."""

    db: Database
    owner: Principal
    keeper: Doorkeeper
    door: Door
    numbers: itertools.count[int] = field(default_factory=itertools.count)

    async def admit(self, text: str = "hello", user: str = "7", **more: Any) -> Admitted | Paired | Refused:
        return await self.keeper.admit(written(text, user, **more))

    async def take(self, text: str = "hello", user: str = "7", **more: Any) -> Taken:
        return await self.door.take(written(text, user, **more))

    async def code(self, role: Role = Role.OWNER, name: str = "") -> str:
        async with self.db.transaction() as tx:
            return (await pairings.make(tx, role, name, self.owner.id))[1]

    async def asked(self, job_id: object, thread_id: object) -> str:
        """The id of a question to the owner that was put to a thread a minute ago."""
        [(approval,)] = await self.rows(
            "INSERT INTO approvals (id, job_id, thread_id, action, action_hash, why, deadline, may_answer, created_at) "
            "VALUES (gen_random_uuid(), %s, %s, '{\"tool\": \"bash\"}', 'x', 'w', now() + interval '1 hour', "
            "'{owner}', now() - interval '1 minute') RETURNING id",
            job_id,
            thread_id,
        )
        return str(approval)

    async def person(self, address: str) -> Person:
        """Whose the address is."""
        async with self.db.transaction() as tx:
            found = await people.page(tx, called=address)
        assert len(found) == 1, address
        return found[0]

    async def rows(self, statement: str, *values: object) -> Sequence[tuple[Any, ...]]:
        async with self.db.transaction() as tx:
            cursor = await tx.execute(statement.encode(), values)
            return await cursor.fetchall() if cursor.description else []


async def gate(db: Database, limits: Limits | None = None, **welcome: Welcome) -> Gate:
    """A gate whose channels welcome these, and nobody else."""
    async with db.transaction() as tx:
        owner = await principals.set_owner_key(tx, "lw_owner")
    keeper = Doorkeeper(db, welcome)
    intake = Intake(db, ["answer", "tools"], limits or Limits(10_000, 10_000))
    return Gate(db, owner, keeper, Door(db, keeper, intake))
