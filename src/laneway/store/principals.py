"""Who may talk to us: principals, found by their key or by their address on a channel."""

from __future__ import annotations

import hashlib
from uuid import UUID

from laneway.domain.conversation import Principal, Role
from laneway.domain.ids import new_id
from laneway.errors import Forbidden, NotFound
from laneway.store import events
from laneway.store.database import Connection
from laneway.store.rows import Rows, columns, row_of

_COLUMNS = columns(Principal)


def hashed(key: str) -> str:
    """What is stored of a key; the key itself never is. It is random, so one SHA-256 is enough."""
    return hashlib.sha256(key.encode()).hexdigest()


async def by_key(tx: Connection, key: str) -> Principal | None:
    """The principal this key belongs to, unless it is blocked."""
    # The look-up compares hashes of random keys: its timing tells nothing about a key.
    return await Rows(tx, Principal).fetch_one(
        f"SELECT {_COLUMNS} FROM principals WHERE key_hash = %s AND blocked_at IS NULL", (hashed(key),)
    )


async def owner(tx: Connection) -> Principal | None:
    """The first owner who is not blocked, if there is one."""
    return await Rows(tx, Principal).fetch_one(
        f"SELECT {_COLUMNS} FROM principals WHERE role = 'owner' AND blocked_at IS NULL ORDER BY created_at LIMIT 1"
    )


async def operator_named(tx: Connection, name: str) -> Principal | None:
    """The first operator of this name who is not blocked, if there is one."""
    return await Rows(tx, Principal).fetch_one(
        f"SELECT {_COLUMNS} FROM principals WHERE role = 'operator' AND name = %s AND blocked_at IS NULL "
        "ORDER BY created_at LIMIT 1",
        (name,),
    )


async def set_owner_key(tx: Connection, key: str) -> Principal:
    """There is an owner and `key` is its key; an earlier key no longer opens anything."""
    await tx.execute("LOCK TABLE principals IN SHARE ROW EXCLUSIVE MODE")
    found = await owner(tx)
    if found is None:
        found = await make(tx, Role.OWNER, "owner")
    await _set_key(tx, found, key)
    return found


async def add(tx: Connection, role: Role, name: str, key: str) -> Principal:
    """There is one more principal, and `key` is its key."""
    made = await make(tx, role, name)
    await _set_key(tx, made, key)
    return made


async def by_address(tx: Connection, address: str, role: Role, name: str) -> Principal:
    """The principal with this address (`channel:address`), made with `role` if it is new."""
    found = await at_address(tx, address)
    if found is None:
        made = await make(tx, role, name)
        if await link(tx, address, made.id):
            return made
        # Somebody else made it at the same moment; theirs counts.
        await tx.execute("DELETE FROM principals WHERE id = %s", (made.id,))
        found = await at_address(tx, address)
    assert found is not None
    return found


async def at_address(tx: Connection, address: str) -> Principal | None:
    """The principal with this address, if there is one."""
    return await Rows(tx, Principal).fetch_one(
        f"SELECT {columns(Principal, 'p.')} FROM addresses a JOIN principals p ON p.id = a.principal_id "
        "WHERE a.address = %s",
        (address,),
    )


async def link(tx: Connection, address: str, principal_id: UUID) -> bool:
    """The address is the principal's; False if it is somebody's already."""
    cursor = await tx.execute(
        "INSERT INTO addresses (address, principal_id) VALUES (%s, %s) ON CONFLICT (address) DO NOTHING",
        (address, principal_id),
    )
    return cursor.rowcount == 1


async def addresses(tx: Connection, principal_id: UUID) -> list[str]:
    """Where the principal can be found, newest first."""
    cursor = await tx.execute(
        "SELECT address FROM addresses WHERE principal_id = %s ORDER BY seen_at DESC, address", (principal_id,)
    )
    return [row[0] for row in await cursor.fetchall()]


async def by_id(tx: Connection, principal_id: object) -> Principal | None:
    return await Rows(tx, Principal).fetch_one(f"SELECT {_COLUMNS} FROM principals WHERE id = %s", (principal_id,))


async def listed(tx: Connection, limit: int, before: UUID | None = None) -> list[Principal]:
    """Principals, newest first."""
    return await Rows(tx, Principal).fetch_all(
        f"SELECT {_COLUMNS} FROM principals WHERE (%s::uuid IS NULL OR id < %s) ORDER BY id DESC LIMIT %s",
        (before, before, limit),
    )


async def called(tx: Connection, given: str) -> list[Principal]:
    """The principals with this id, address or name."""
    return await Rows(tx, Principal).fetch_all(
        f"SELECT {_COLUMNS} FROM principals WHERE id::text = lower(%s) OR name = %s "
        "OR id IN (SELECT principal_id FROM addresses WHERE address = %s) ORDER BY created_at LIMIT 20",
        (given, given, given),
    )


async def only_one(tx: Connection, given: str) -> Principal:
    """The principal with this id, address or name; NotFound if there is none, or not only one."""
    found = await called(tx, given)
    if len(found) != 1:
        many = "There is no principal" if not found else "Several principals are called"
        raise NotFound(f"{many} `{given[:60]}`.", hint="`laneway people list` lists them.")
    return found[0]


async def set_host_mode(tx: Connection, principal_id: UUID, on: bool, by: Principal) -> Principal:
    """Commands of this principal run on the machine itself, or no longer do; who switched it is on record."""
    found = await by_id(tx, principal_id)
    if found is None:
        raise NotFound(f"There is no principal {principal_id}.", hint="`laneway host-mode show` lists them.")
    if on and found.role is Role.CUSTOMER:
        raise Forbidden("Host mode is never given to customers.", hint="Their commands stay in the sandbox.")
    changed = await Rows(tx, Principal).fetch_one(
        f"UPDATE principals SET host_mode = %s WHERE id = %s RETURNING {_COLUMNS}", (on, principal_id)
    )
    assert changed is not None
    await events.append(tx, "principal.host_mode", {"principal": str(principal_id), "on": on, "by": str(by.id)})
    return changed


async def _set_key(tx: Connection, principal: Principal, key: str) -> None:
    await tx.execute("UPDATE principals SET key_hash = %s WHERE id = %s", (hashed(key), principal.id))
    await events.append(tx, "principal.key", {"principal": str(principal.id)})


async def make(tx: Connection, role: Role, name: str) -> Principal:
    """There is one more principal, without a key or an address yet."""
    async with tx.cursor(row_factory=row_of(Principal)) as cursor:
        await cursor.execute(
            f"INSERT INTO principals (id, role, name) VALUES (%s, %s, %s) RETURNING {_COLUMNS}",
            (new_id(), role, name),
        )
        made = await cursor.fetchone()
        assert made is not None
        return made
