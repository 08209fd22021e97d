"""What the doorkeeper may answer, and what an arrival says about its sender."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from laneway.channels.arrival import Arrival
from laneway.domain.conversation import Principal, Role
from laneway.domain.people import canonical, cleaned


@dataclass(frozen=True, slots=True)
class Welcome:
    """Whom a channel lets in besides those we know: addresses of the owner and of operators, and whether customers."""

    owners: frozenset[str] = frozenset()
    operators: frozenset[str] = frozenset()
    customers: bool = False

    def listed(self, channel: str, addresses: Collection[str]) -> Role | None:
        """The role that the owner's lists give to somebody with these addresses."""
        for role, listed in ((Role.OWNER, self.owners), (Role.OPERATOR, self.operators)):
            if {f"{channel}:{canonical(channel, one)}" for one in listed} & set(addresses):
                return role
        return None


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


@dataclass(frozen=True, slots=True)
class Sender:
    """Who an arrival says it is from."""

    addresses: list[str]
    """As they are stored, the one that was used first."""
    name: str
    in_group: bool
    """Whether others read along: a private chat is the person's own thread, or is named after the person."""

    @classmethod
    def of(cls, arrival: Arrival) -> Sender:
        given = (arrival.address, *arrival.also)
        stored = dict.fromkeys(f"{arrival.channel}:{canonical(arrival.channel, one)}" for one in given)
        chat = (arrival.thread or arrival.address).partition("/")[0]
        # Telegram's groups have ids below zero; one may speak itself, for an administrator who hides behind it.
        in_group = chat not in given or chat.startswith("-")
        return cls(list(stored), cleaned(arrival.name, arrival.address), in_group)

    @property
    def address(self) -> str:
        return self.addresses[0]
