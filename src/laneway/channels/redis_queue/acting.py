"""As whom a job acts: the channel's own principal, or whoever its workflow_owner is among ours."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from laneway.domain.conversation import Principal, Role
from laneway.domain.people import RANK
from laneway.errors import Forbidden, NotFound
from laneway.store import principals
from laneway.store.database import Connection
from laneway.store.redis_jobs import CHANNEL

OWN_ADDRESS = f"{CHANNEL}:jobs"


class UnknownOwner(Forbidden):
    code = "unknown-owner"


@dataclass(frozen=True, slots=True)
class Acting:
    """Who may act through Redis: nobody with more rights than `role`."""

    role: Role
    owners: Mapping[str, str]
    """workflow_owner → name, address or id of a principal."""

    async def own(self, tx: Connection) -> Principal:
        """The channel's own principal: the owner, or an operator that is made for it."""
        if self.role is not Role.OWNER:
            return await principals.by_address(tx, OWN_ADDRESS, self.role, CHANNEL)
        owner = await principals.owner(tx)
        if owner is None:
            raise NotFound("There is no owner yet.", hint="`laneway up` makes one.")
        return owner

    async def who(self, tx: Connection, workflow_owner: str | None) -> Principal:
        """Whom the job acts as; UnknownOwner says why as nobody."""
        if workflow_owner is None:
            found = await self.own(tx)
        else:
            found = await (self._mapped if self.owners else self._named)(tx, workflow_owner)
        if found.blocked_at is not None:
            raise UnknownOwner(f"{found.name} is blocked.", hint="`laneway people unblock` lets them in again.")
        return found

    async def _named(self, tx: Connection, workflow_owner: str) -> Principal:
        """Where no owner is mapped: the owner if jobs may be, else an operator of this name, made for it."""
        if self.role is Role.OWNER:
            return await self.own(tx)
        name = f"{CHANNEL}:{workflow_owner}"
        return await principals.by_address(tx, f"{CHANNEL}:owner:{workflow_owner}", self.role, name)

    async def _mapped(self, tx: Connection, workflow_owner: str) -> Principal:
        name = self.owners.get(workflow_owner)
        if name is None:
            raise UnknownOwner(
                f"Nobody here is the workflow_owner `{workflow_owner}`.",
                hint=f"Add it to redis.owners (LANEWAY_REDIS_OWNERS), as `{workflow_owner}` → a name of ours.",
            )
        called = await principals.called(tx, name)
        if len(called) != 1:
            how_many = "nobody" if not called else "several people"
            raise UnknownOwner(
                f"The workflow_owner `{workflow_owner}` is to be `{name}`, and {how_many} here has that name.",
                hint="`laneway people` lists them; an id names one of them.",
            )
        if RANK[called[0].role] > RANK[self.role]:
            raise UnknownOwner(
                f"`{workflow_owner}` is {name}, whose role is {called[0].role}; jobs from Redis act as {self.role}.",
                hint=f"LANEWAY_REDIS_ROLE={called[0].role} allows it.",
            )
        return called[0]
