"""Who is let in: people we know, people with a pairing code, those on the owner's lists, and customers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from laneway.channels.arrival import Arrival
from laneway.domain.conversation import Principal, Role
from laneway.store import principals
from laneway.store.database import Connection, Database


@dataclass(frozen=True, slots=True)
class Welcome:
    """Whom a channel lets in besides those we know: addresses of the owner and of operators, and whether customers."""

    owners: frozenset[str] = frozenset()
    operators: frozenset[str] = frozenset()
    customers: bool = False


@dataclass(frozen=True, slots=True)
class Admitted:
    """Who is talking is known, and may."""

    principal: Principal


@dataclass(frozen=True, slots=True)
class Paired:
    """Somebody brought a pairing code and is known from now on."""

    principal: Principal
    say: str


@dataclass(frozen=True, slots=True)
class Refused:
    """Nothing is done for this sender; `say` is what they may be told, if anything."""

    say: str = ""


class Doorkeeper:
    """Decides who is let in by which channel."""

    def __init__(self, db: Database, welcome: Mapping[str, Welcome]) -> None:
        self._db, self._welcome = db, welcome

    async def admit(self, arrival: Arrival) -> Admitted | Paired | Refused:
        """The sender is a principal of ours, or refused."""
        async with self._db.transaction() as tx:
            for address in (arrival.address, *arrival.also):
                found = await principals.at_address(tx, f"{arrival.channel}:{address}")
                if found is not None:
                    return Refused() if found.blocked_at is not None else Admitted(found)
            return await self._stranger(tx, arrival)

    async def _stranger(self, tx: Connection, arrival: Arrival) -> Admitted | Refused:
        welcome = self._welcome.get(arrival.channel, Welcome())
        known_as, name = {arrival.address, *arrival.also}, arrival.name or arrival.address
        address = f"{arrival.channel}:{arrival.address}"
        if known_as & welcome.owners:
            owner = await principals.owner(tx)
            assert owner is not None
            await principals.link(tx, address, owner.id)
            return Admitted(owner)
        if known_as & welcome.operators:
            return Admitted(await principals.by_address(tx, address, Role.OPERATOR, name))
        if welcome.customers:
            return Admitted(await principals.by_address(tx, address, Role.CUSTOMER, name))
        return Refused("This assistant is private.")
