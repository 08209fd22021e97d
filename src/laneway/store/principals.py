"""Who may talk to us: principals, found by their key or by their address on a channel."""

from __future__ import annotations

import hashlib
from uuid import UUID

from laneway.domain.conversation import Principal, Role
from laneway.domain.ids import new_id
from laneway.errors import Forbidden, NotFound
from laneway.store import events
from laneway.store.database import Connection
from laneway.store.rows import columns, row_of

_COLUMNS = columns(Principal)


def hashed(key: str) -> str:
    """What is stored of a key; the key itself never is. It is random, so one SHA-256 is enough."""
    return hashlib.sha256(key.encode()).hexdigest()


async def by_key(tx: Connection, key: str) -> Principal | None:
    """The principal this key belongs to."""
    async with tx.cursor(row_factory=row_of(Principal)) as cursor:
        # The look-up compares hashes of random keys: its timing tells nothing about a key.
        await cursor.execute(f"SELECT {_COLUMNS} FROM principals WHERE key_hash = %s", (hashed(key),))
        return await cursor.fetchone()


async def owner(tx: Connection) -> Principal | None:
    """The first owner, if there is one."""
    async with tx.cursor(row_factory=row_of(Principal)) as cursor:
        await cursor.execute(f"SELECT {_COLUMNS} FROM principals WHERE role = 'owner' ORDER BY created_at LIMIT 1")
        return await cursor.fetchone()


async def set_owner_key(tx: Connection, key: str) -> Principal:
    """There is an owner and `key` is its key; an earlier key no longer opens anything."""
    await tx.execute("LOCK TABLE principals IN SHARE ROW EXCLUSIVE MODE")
    found = await owner(tx)
    if found is None:
        found = await _insert(tx, Role.OWNER, "owner", None)
    await _set_key(tx, found, key)
    return found


async def add(tx: Connection, role: Role, name: str, key: str) -> Principal:
    """There is one more principal, and `key` is its key."""
    made = await _insert(tx, role, name, None)
    await _set_key(tx, made, key)
    return made


async def by_address(tx: Connection, address: str, role: Role, name: str) -> Principal:
    """The principal with this address on a channel, made with `role` if it is new."""
    async with tx.cursor(row_factory=row_of(Principal)) as cursor:
        await cursor.execute(f"SELECT {_COLUMNS} FROM principals WHERE address = %s", (address,))
        return await cursor.fetchone() or await _insert(tx, role, name, address)


async def by_id(tx: Connection, principal_id: object) -> Principal | None:
    async with tx.cursor(row_factory=row_of(Principal)) as cursor:
        await cursor.execute(f"SELECT {_COLUMNS} FROM principals WHERE id = %s", (principal_id,))
        return await cursor.fetchone()


async def listed(tx: Connection, limit: int, before: UUID | None = None) -> list[Principal]:
    """Principals, newest first."""
    async with tx.cursor(row_factory=row_of(Principal)) as cursor:
        await cursor.execute(
            f"SELECT {_COLUMNS} FROM principals WHERE (%s::uuid IS NULL OR id < %s) ORDER BY id DESC LIMIT %s",
            (before, before, limit),
        )
        return await cursor.fetchall()


async def called(tx: Connection, given: str) -> list[Principal]:
    """The principals with this id, address or name."""
    async with tx.cursor(row_factory=row_of(Principal)) as cursor:
        await cursor.execute(
            f"SELECT {_COLUMNS} FROM principals WHERE id::text = lower(%s) OR address = %s OR name = %s "
            "ORDER BY created_at LIMIT 20",
            (given, given, given),
        )
        return await cursor.fetchall()


async def set_host_mode(tx: Connection, principal_id: UUID, on: bool, by: Principal) -> Principal:
    """Commands of this principal run on the machine itself, or no longer do; who switched it is on record."""
    found = await by_id(tx, principal_id)
    if found is None:
        raise NotFound(f"There is no principal {principal_id}.", hint="`laneway host-mode show` lists them.")
    if on and found.role is Role.CUSTOMER:
        raise Forbidden("Host mode is never given to customers.", hint="Their commands stay in the sandbox.")
    async with tx.cursor(row_factory=row_of(Principal)) as cursor:
        await cursor.execute(
            f"UPDATE principals SET host_mode = %s WHERE id = %s RETURNING {_COLUMNS}", (on, principal_id)
        )
        changed = await cursor.fetchone()
    assert changed is not None
    await events.append(tx, "principal.host_mode", {"principal": str(principal_id), "on": on, "by": str(by.id)})
    return changed


async def _set_key(tx: Connection, principal: Principal, key: str) -> None:
    await tx.execute("UPDATE principals SET key_hash = %s WHERE id = %s", (hashed(key), principal.id))


async def _insert(tx: Connection, role: Role, name: str, address: str | None) -> Principal:
    async with tx.cursor(row_factory=row_of(Principal)) as cursor:
        await cursor.execute(
            "INSERT INTO principals (id, role, name, address) VALUES (%s, %s, %s, %s) "
            f"ON CONFLICT (address) DO UPDATE SET address = EXCLUDED.address RETURNING {_COLUMNS}",
            (new_id(), role, name, address),
        )
        made = await cursor.fetchone()
        assert made is not None
        return made
