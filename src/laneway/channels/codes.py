"""What becomes of a pairing code that somebody sends: it lets them in, it was wrong, or it is void."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from uuid import UUID

from laneway.channels.arrival import Arrival
from laneway.channels.entry import Paired, Refused, Sender
from laneway.domain.conversation import Principal, Role
from laneway.domain.pairing import TRIES, Pairing, matching
from laneway.domain.people import RANK
from laneway.store import arrivals, notices, pairings, people, principals, strangers
from laneway.store.database import Connection

NO_CODE = "This code opens nothing. A code is good for one hour and for one device."
TOO_MANY = "Too many codes were wrong. Try again in an hour."
KNOWN_ALREADY = "I know you already; this code is for somebody else."
NOT_IN_GROUPS = "Others can read this code here, so it is void now. Make another and send it to me alone."
_PAIRED = {
    Role.OWNER: "Paired. I know you as the owner here, too.",
    Role.OPERATOR: "Paired. I know you as {name}, an operator.",
    Role.CUSTOMER: "Paired. I know you as {name}.",
}


async def tried(
    tx: Connection, arrival: Arrival, code: str, *, is_open: bool, pulled: Collection[str]
) -> Paired | Refused | None:
    """What became of the code, once for each delivery; None if it is to be taken for an ordinary message.

    A wrong code of somebody who is let in anyway may be the number of an order. It is counted all the same, or
    customers could try as often as they like.
    """
    sender = Sender.of(arrival)
    await people.hold(tx, sender.addresses)
    before = await arrivals.body_of(tx, arrival.channel, arrival.external_id)
    if before is not None:
        return await _said_before(tx, before)
    found = await people.known(tx, sender.addresses)
    if any(one.principal.blocked_at is not None for one in found):
        return Refused()
    now = found[0].principal if found else None
    if now is not None and now.role is Role.OWNER:
        return await _from_owner(tx, sender, code)
    answer: Paired | Refused | None = await _compared(tx, sender, code, now, pulled)
    if answer == Refused(NO_CODE):
        ordinary = now is not None or (is_open and not await pairings.open_ones(tx))
        answer = None if ordinary else Refused("" if sender.in_group else NO_CODE)
    body = {"principal": str(answer.principal.id), "say": answer.say} if isinstance(answer, Paired) else {}
    await arrivals.note(tx, arrival.channel, arrival.external_id, "code", body or {"ordinary": answer is None})
    return answer


async def _from_owner(tx: Connection, sender: Sender, code: str) -> Refused | None:
    """A code that the owner sends is no try, but no order either."""
    match = await asyncio.to_thread(matching, code, await pairings.of_the_hour(tx))
    if match is None:
        return None
    return await _shown(tx, match) if sender.in_group and match.used_at is None else Refused(KNOWN_ALREADY)


async def _compared(
    tx: Connection, sender: Sender, code: str, now: Principal | None, pulled: Collection[str]
) -> Paired | Refused:
    tries = await strangers.count_try(tx, sender.address, sender.name)
    if tries > TRIES:
        # Said once; and whoever is let in anyway has written an ordinary message.
        return Refused(NO_CODE) if now is not None else Refused(TOO_MANY if tries == TRIES + 1 else "")
    open_ones = await pairings.open_ones(tx)
    match = await asyncio.to_thread(matching, code, open_ones)
    if match is None:
        if await pairings.miss(tx, open_ones):
            await _tell_owner(tx, open_ones[0], sender, pulled)
        return Refused(NO_CODE)
    if sender.in_group:
        return await _shown(tx, match)
    if now is not None and RANK[match.role] <= RANK[now.role]:
        return Refused(KNOWN_ALREADY)
    return await _pair(tx, sender, match, now)


async def _pair(tx: Connection, sender: Sender, match: Pairing, now: Principal | None) -> Paired:
    principal = await people.target(tx, match.role, match.name or sender.name, join=bool(match.name))
    # Addresses that are somebody else's here stay theirs: two people are never made one in passing.
    others = {one.address for one in await people.known(tx, sender.addresses) if now and one.principal.id != now.id}
    mine = [one for one in sender.addresses if one not in others]
    await people.give(tx, principal, mine, "pairing code")
    await people.note_seen(tx, principal, mine)
    await pairings.use(tx, match, mine[0], principal.id)
    return Paired(principal, _PAIRED[principal.role].format(name=principal.name))


async def _shown(tx: Connection, match: Pairing) -> Refused:
    await pairings.void(tx, match, "shown in a group")
    return Refused(NOT_IN_GROUPS)


async def _said_before(tx: Connection, body: dict[str, object]) -> Paired | Refused | None:
    """A code that is delivered again pairs nobody again, and is no message either if it was none."""
    principal = await principals.by_id(tx, UUID(str(body["principal"]))) if "principal" in body else None
    if principal is not None:
        return Paired(principal, str(body["say"]))
    return None if body.get("ordinary") else Refused()


async def _tell_owner(tx: Connection, one: Pairing, sender: Sender, pulled: Collection[str]) -> None:
    text = (
        f"A pairing code is void: {TRIES} tries were wrong, the last one from {sender.address}. "
        "`laneway people pair` makes another."
    )
    await notices.tell_owner(tx, text, key=f"pairing:{one.id}", kind="pairing.ended", pulled=pulled)
