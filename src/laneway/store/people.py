"""Whose an address is: found, linked, moved and forgotten; and people as the owner lists, blocks and promotes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any
from uuid import UUID

from laneway.domain.conversation import Principal, Role, World
from laneway.domain.people import Known, Person
from laneway.errors import Conflict, NotFound
from laneway.store import events, jobs, principals
from laneway.store.database import Connection
from laneway.store.rows import Rows, columns, row_of

_PERSON = """
SELECT p.id, p.role, p.name, p.host_mode, p.created_at, p.blocked_at, a.seen_at, coalesce(a.found, '[]') AS addresses
FROM principals p LEFT JOIN LATERAL (
    SELECT max(seen_at) AS seen_at, json_agg(json_build_object(
        'address', address, 'created_at', created_at, 'seen_at', seen_at) ORDER BY seen_at DESC, address) AS found
    FROM addresses WHERE principal_id = p.id) a ON true
"""


async def known(tx: Connection, addresses: Sequence[str]) -> list[Known]:
    """Whose these addresses are, as far as they are anybody's, in the order given."""
    # Replies go to the address that was used last, so a change of address is noted at once, anything else by minutes.
    cursor = await tx.execute(
        f"""
        SELECT a.address, a.seen_at > now() - interval '1 minute' AND NOT EXISTS (
            SELECT 1 FROM addresses o WHERE o.principal_id = a.principal_id AND o.address <> a.address
            AND o.seen_at >= a.seen_at AND split_part(o.address, ':', 1) = split_part(a.address, ':', 1)
        ), {columns(Principal, "p.")}
        FROM addresses a JOIN principals p ON p.id = a.principal_id WHERE a.address = ANY(%s)
        ORDER BY array_position(%s::text[], a.address)
        """,
        (list(addresses), list(addresses)),
    )
    return [Known(row[0], _principal(row[2:]), row[1]) for row in await cursor.fetchall()]


def _principal(values: Sequence[Any]) -> Principal:
    given = dict(zip((field.name for field in fields(Principal)), values, strict=True))
    return Principal(**{**given, "role": Role(given["role"])})


async def hold(tx: Connection, addresses: Sequence[str]) -> None:
    """Nobody else decides whose these addresses are until this transaction ends."""
    for address in sorted(addresses):
        await tx.execute("SELECT pg_advisory_xact_lock(hashtextextended('address:' || %s, 0))", (address,))


async def note_seen(tx: Connection, principal: Principal, addresses: Sequence[str]) -> None:
    """The first of the addresses was used just now; the others are the principal's too, unless they are somebody's."""
    for address in addresses[1:]:
        # Older than any use that is noted: replies go where the person wrote from.
        await tx.execute(
            "INSERT INTO addresses (address, principal_id, seen_at) VALUES (%s, %s, now() - interval '1 minute') "
            "ON CONFLICT (address) DO NOTHING",
            (address, principal.id),
        )
    await tx.execute(
        "INSERT INTO addresses (address, principal_id, seen_at) VALUES (%s, %s, clock_timestamp()) "
        "ON CONFLICT (address) DO UPDATE SET seen_at = EXCLUDED.seen_at "
        "WHERE addresses.principal_id = EXCLUDED.principal_id",
        (addresses[0], principal.id),
    )


async def give(tx: Connection, principal: Principal, addresses: Sequence[str], how: str) -> None:
    """The addresses are the principal's, whoever had them before; what they talk about begins anew in its world."""
    before = {one.address: one.principal for one in await known(tx, addresses)}
    await tx.execute(
        "INSERT INTO addresses (address, principal_id) SELECT unnest(%s::text[]), %s "
        "ON CONFLICT (address) DO UPDATE SET principal_id = EXCLUDED.principal_id",
        (list(addresses), principal.id),
    )
    await tx.execute("DELETE FROM strangers WHERE address = ANY(%s)", (list(addresses),))
    for address in addresses:
        earlier = before.get(address)
        if earlier is not None and earlier.id != principal.id:
            await _take_over(tx, address, earlier, principal)
        body = {"principal": str(principal.id), "role": principal.role, "address": address, "how": how}
        told = body | ({"before": str(earlier.id)} if earlier is not None and earlier.id != principal.id else {})
        await events.append(tx, "principal.address", told)


async def _take_over(tx: Connection, address: str, earlier: Principal, now: Principal) -> None:
    """The threads that are named after an address follow it; nothing of another world is carried along."""
    channel, _, name = address.partition(":")
    if earlier.world is not now.world:
        await _begin_anew(tx, channel, earlier)
    await tx.execute(
        "UPDATE threads SET principal_id = %s, world = %s WHERE principal_id = %s AND channel = %s "
        "AND (external_id = %s OR starts_with(external_id, %s))",
        (now.id, now.world, earlier.id, channel, name, f"{name}/"),
    )


async def _begin_anew(tx: Connection, channel: str, principal: Principal) -> None:
    """What is being done in the principal's threads on the channel is stopped, and models see nothing from before."""
    cursor = await tx.execute(
        "UPDATE threads t SET context_from = (SELECT coalesce(max(seq), 0) FROM messages WHERE thread_id = t.id) "
        "WHERE principal_id = %s AND channel = %s RETURNING id",
        (principal.id, channel),
    )
    for (thread_id,) in await cursor.fetchall():
        await jobs.stop_thread(tx, thread_id)


async def target(tx: Connection, role: Role, name: str, *, join: bool = False) -> Principal:
    """Whom an address is given to: the one owner, with `join` the operator of this name, else somebody new.

    Only a name that the owner chose joins anybody: what a provider calls a person is that person's own choice. And a
    customer is always somebody new, as two of the same name must not share a thread.
    """
    if role is Role.OWNER:
        owner = await principals.owner(tx)
        if owner is None:
            raise NotFound("There is no owner yet.", hint="`laneway up` makes one.")
        return owner
    named = await principals.operator_named(tx, name) if join and role is Role.OPERATOR else None
    return named or await principals.make(tx, role, name)


async def allow(tx: Connection, address: str, role: Role, name: str | None) -> Person:
    """The address is let in with this role, whether it is known already or not."""
    await hold(tx, [address])
    found = await known(tx, [address])
    now = found[0].principal if found else None
    if now is not None and now.blocked_at is not None:
        raise Conflict(f"{address} is blocked.", hint=f"`laneway people unblock {address}` first.")
    if now is None or now.role is not role or (name is not None and now.name != name and role is Role.OPERATOR):
        if now is not None:
            _check_worlds(now, role)
        now = await target(tx, role, name or (now.name if now else address), join=name is not None)
        await give(tx, now, [address], "allowed by the owner")
    return await get(tx, now.id)


def _check_worlds(principal: Principal, role: Role) -> None:
    if principal.world is World.OWNER and role is Role.CUSTOMER:
        raise Conflict(
            f"{principal.name} is of the owner's world and cannot become a customer.",
            hint="Their conversations hold what customers must not see. `laneway people block` keeps them out.",
        )


async def set_role(tx: Connection, principal_id: UUID, role: Role, by: Principal) -> Person:
    """The person has this role; a customer who is promoted begins anew, as somebody of the owner's world."""
    found = await _mine_to_change(tx, principal_id, by, "demoted" if role is not Role.OWNER else "")
    if found.role is role:
        return await get(tx, principal_id)
    _check_worlds(found, role)
    body = {"principal": str(principal_id), "role": role, "by": str(by.id)}
    if found.role is not Role.CUSTOMER:
        await tx.execute("UPDATE principals SET role = %s WHERE id = %s", (role, principal_id))
        await events.append(tx, "principal.role", body)
        return await get(tx, principal_id)
    promoted = await principals.make(tx, role, found.name)
    addresses = await principals.addresses(tx, principal_id)
    if addresses:
        await give(tx, promoted, addresses, "promoted by the owner")
    await events.append(tx, "principal.role", {**body, "now": str(promoted.id)})
    return await get(tx, promoted.id)


async def block(tx: Connection, principal_id: UUID, by: Principal) -> Person:
    """Nothing of this person is taken any more, and what was being done for them is stopped."""
    found = await _mine_to_change(tx, principal_id, by, "blocked")
    if found.blocked_at is None:
        await tx.execute("UPDATE principals SET blocked_at = now() WHERE id = %s", (principal_id,))
        await events.append(tx, "principal.blocked", {"principal": str(principal_id), "by": str(by.id)})
        cursor = await tx.execute(
            "SELECT j.id FROM jobs j JOIN messages m ON m.id = j.message_id WHERE m.principal_id = %s "
            "AND j.status IN ('queued', 'running', 'waiting') ORDER BY j.seq",
            (principal_id,),
        )
        for (job_id,) in await cursor.fetchall():
            await jobs.cancel_if_open(tx, job_id)
    return await get(tx, principal_id)


async def unblock(tx: Connection, principal_id: UUID, by: Principal) -> Person:
    """This person is taken as before."""
    found = await get(tx, principal_id)
    if found.blocked_at is not None:
        await tx.execute("UPDATE principals SET blocked_at = NULL WHERE id = %s", (principal_id,))
        await events.append(tx, "principal.unblocked", {"principal": str(principal_id), "by": str(by.id)})
    return await get(tx, principal_id)


async def forget(tx: Connection, address: str, by: Principal) -> None:
    """The address is nobody's; what was said from it stays with the person who said it."""
    await hold(tx, [address])
    found = await known(tx, [address])
    if found and found[0].principal.blocked_at is not None:
        raise Conflict(f"{address} is blocked; forgotten, it could come back.", hint="Leave it, or unblock it first.")
    knocked = await tx.execute("DELETE FROM strangers WHERE address = %s", (address,))
    if not found and not knocked.rowcount:
        raise NotFound(f"Nobody has the address {address}.", hint="`laneway people` lists them.")
    await tx.execute("DELETE FROM addresses WHERE address = %s", (address,))
    if found:
        body = {"principal": str(found[0].principal.id), "address": address, "by": str(by.id)}
        await events.append(tx, "principal.forgotten", body)


async def _mine_to_change(tx: Connection, principal_id: UUID, by: Principal, what: str) -> Principal:
    """The principal, unless an owner would lose the last way in: nobody is `what` who asks for it, nor the last owner.

    Whoever asks has a key, so that after any number of changes there is an owner with one.
    """
    await tx.execute("SELECT 1 FROM principals WHERE role = 'owner' ORDER BY id FOR NO KEY UPDATE")
    found, asking = await principals.by_id(tx, principal_id), await principals.by_id(tx, by.id)
    if found is None:
        raise NotFound(f"There is no principal {principal_id}.", hint="`laneway people` lists them.")
    if asking is None or asking.role is not Role.OWNER or asking.blocked_at is not None:
        raise Conflict("You are not the owner any more.", hint="Ask the other owner.")
    if what and found.id == asking.id:
        raise Conflict(f"The owner whose key this is cannot be {what}.", hint="Another owner can do it.")
    return found


async def get(tx: Connection, principal_id: UUID) -> Person:
    """The person, or NotFound."""
    found = await Rows(tx, Person).fetch_one(f"{_PERSON} WHERE p.id = %s", (principal_id,))
    if found is None:
        raise NotFound(f"There is no principal {principal_id}.", hint="`laneway people` lists them.")
    return found


async def page(
    tx: Connection, *, role: Role | None = None, called: str | None = None, limit: int = 50, before: UUID | None = None
) -> list[Person]:
    """People, newest first; `called` is an id, a name or an address of theirs."""
    async with tx.cursor(row_factory=row_of(Person)) as cursor:
        await cursor.execute(
            f"{_PERSON} WHERE (%(role)s::text IS NULL OR p.role = %(role)s) "
            "AND (%(called)s::text IS NULL OR p.id::text = lower(%(called)s) OR p.name = %(called)s "
            "OR p.id IN (SELECT principal_id FROM addresses WHERE address = %(called)s)) "
            "AND (%(before)s::uuid IS NULL OR p.id < %(before)s) ORDER BY p.id DESC LIMIT %(limit)s",
            {"role": role, "called": called, "before": before, "limit": limit},
        )
        return await cursor.fetchall()
