"""Who is let in: people we know, people with a pairing code, those on the owner's lists, and customers."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from laneway.channels.arrival import Arrival
from laneway.channels.codes import tried
from laneway.channels.contract import PULLED
from laneway.channels.entry import Admitted, Paired, Refused, Sender, Welcome
from laneway.domain.conversation import Principal, Role
from laneway.domain.pairing import code_in
from laneway.domain.people import RANK, Known, unmarked
from laneway.store import arrivals, events, notices, people, strangers
from laneway.store.database import Connection, Database

__all__ = ["Admitted", "Doorkeeper", "Paired", "Refused", "Welcome"]

PRIVATE = (
    "This assistant is private. If it is yours, run `laneway people pair` on the machine it runs on "
    "and send me the code it shows."
)
NOT_YOURS = "This is not for you to press."


class Doorkeeper:
    """Decides who is let in by which channel."""

    def __init__(self, db: Database, welcome: Mapping[str, Welcome], pulled: Collection[str] = PULLED) -> None:
        self._db, self._welcome, self._pulled = db, welcome, pulled

    async def recognised(self, tx: Connection, arrival: Arrival) -> Principal | None:
        """Who it is, if that is settled without writing anything: known, in order, and with no code to try."""
        if arrival.press is None and code_in(arrival.text) is not None:
            return None
        sender, welcome = Sender.of(arrival), self._welcome.get(arrival.channel, Welcome())
        found = await people.known(tx, sender.addresses)
        if len(found) != len(sender.addresses) or not found[0].noted:
            return None
        principal = found[0].principal
        if any(one.principal.blocked_at is not None or one.principal.id != principal.id for one in found):
            return None
        listed = welcome.listed(arrival.channel, sender.addresses)
        promoted = listed is not None and RANK[listed] > RANK[principal.role]
        shut_out = principal.role is Role.CUSTOMER and sender.in_group
        return None if promoted or shut_out else principal

    async def admit(self, arrival: Arrival) -> Admitted | Paired | Refused:
        """The sender is a principal of ours, or refused."""
        code = None if arrival.press is not None else code_in(arrival.text)
        sender, welcome = Sender.of(arrival), self._welcome.get(arrival.channel, Welcome())
        async with self._db.transaction() as tx:
            if code is not None:
                is_open = welcome.customers and not sender.in_group
                answer = await tried(tx, arrival, code, is_open=is_open, pulled=self._pulled)
                if answer is not None:
                    return answer
            found = await people.known(tx, sender.addresses)
            if not found:
                # Two first messages that come at once must not make two people.
                await people.hold(tx, sender.addresses)
                found = await people.known(tx, sender.addresses)
            return await (self._known if found else self._unknown)(tx, arrival, sender, welcome, found)

    async def _known(
        self, tx: Connection, arrival: Arrival, sender: Sender, welcome: Welcome, found: Sequence[Known]
    ) -> Admitted | Refused:
        if any(one.principal.blocked_at is not None for one in found):
            return Refused()
        principal = found[0].principal
        listed = welcome.listed(arrival.channel, sender.addresses)
        if listed is not None and RANK[listed] > RANK[principal.role]:
            mine = [one.address for one in found if one.principal.id == principal.id]
            principal = await people.target(tx, listed, principal.name)
            await people.give(tx, principal, mine, "on the owner's list")
        if len({one.principal.id for one in found}) > 1:
            await self._tell_of_two(tx, arrival, found)
        if len(found) < len(sender.addresses) or not found[0].noted:
            await people.note_seen(tx, principal, sender.addresses)
        if principal.role is Role.CUSTOMER and sender.in_group:
            # In a group customers would share a thread with each other, or with the owner.
            return Refused(NOT_YOURS if arrival.press is not None else "")
        return Admitted(principal)

    async def _unknown(
        self, tx: Connection, arrival: Arrival, sender: Sender, welcome: Welcome, _: Sequence[Known]
    ) -> Admitted | Refused:
        role = welcome.listed(arrival.channel, sender.addresses)
        if role is None and welcome.customers and not sender.in_group:
            role = Role.CUSTOMER
        if role is None:
            return await _stranger(tx, arrival, sender)
        principal = await people.target(tx, role, sender.name)
        how = "open to customers" if role is Role.CUSTOMER else "on the owner's list"
        await people.give(tx, principal, sender.addresses, how)
        await people.note_seen(tx, principal, sender.addresses)
        return Admitted(principal)

    async def _tell_of_two(self, tx: Connection, arrival: Arrival, found: Sequence[Known]) -> None:
        """Of addresses of one person that are two people's here, the owner has been told, once."""
        key = f"two:{':'.join(sorted(str(one.principal.id) for one in found))}"
        if not await arrivals.note(tx, arrival.channel, key, "two", {}):
            return
        body = {"addresses": [one.address for one in found], "principals": [str(one.principal.id) for one in found]}
        await events.append(tx, "principal.two", body)
        named = " and ".join(f"{one.address} ({unmarked(one.principal.name)})" for one in found)
        text = (
            f"{named} are one person, {arrival.channel} says. I keep them apart and take what comes for "
            f"{unmarked(found[0].principal.name)}. `laneway people forget ADDRESS` gives one up; "
            "the next message links it anew."
        )
        await notices.tell_owner(tx, text, key=key, kind="principal.two", pulled=self._pulled)


async def _stranger(tx: Connection, arrival: Arrival, sender: Sender) -> Refused:
    """The knock is counted and nothing else is kept; how to get in is said once an hour, and to nobody but them."""
    alone = not sender.in_group and not arrival.silent and arrival.press is None
    tell = await strangers.knock(tx, sender.address, sender.name, may_tell=alone)
    if arrival.press is not None:
        return Refused(NOT_YOURS)
    return Refused(PRIVATE if tell else "")
