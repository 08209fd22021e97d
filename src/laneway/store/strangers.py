"""Who knocked and was not let in: how often, when, and how many pairing codes they have tried."""

from __future__ import annotations

from laneway.domain.people import Stranger
from laneway.store.database import Connection
from laneway.store.rows import Rows

KEPT_DAYS = 30
_SELECT = (
    "SELECT address, name, knocks, tries, told_at, first_at, last_at, "
    "(extract(epoch FROM last_at) * 1000000)::bigint AS number FROM strangers s"
)


async def knock(tx: Connection, address: str, name: str, *, may_tell: bool) -> bool:
    """The knock is counted; True if the stranger is to be told now how to get in, which is once an hour."""
    cursor = await tx.execute(
        """
        INSERT INTO strangers AS s (address, name, told_at)
        VALUES (%(address)s, %(name)s, CASE WHEN %(may)s THEN now() END)
        ON CONFLICT (address) DO UPDATE SET knocks = s.knocks + 1, last_at = now(), name = EXCLUDED.name,
            told_at = CASE WHEN %(may)s AND coalesce(s.told_at < now() - interval '1 hour', true) THEN now()
                           ELSE s.told_at END
        RETURNING told_at IS NOT DISTINCT FROM now()
        """,
        {"address": address, "name": name, "may": may_tell},
    )
    row = await cursor.fetchone()
    return bool(row and row[0])


async def count_try(tx: Connection, address: str, name: str) -> int:
    """One more code was tried from there; how many it were within the hour that began with the first."""
    cursor = await tx.execute(
        """
        INSERT INTO strangers AS s (address, name, tries, tried_at) VALUES (%s, %s, 1, now())
        ON CONFLICT (address) DO UPDATE SET knocks = s.knocks + 1, last_at = now(), name = EXCLUDED.name,
            tries = CASE WHEN coalesce(s.tried_at < now() - interval '1 hour', true) THEN 1 ELSE s.tries + 1 END,
            tried_at = CASE WHEN coalesce(s.tried_at < now() - interval '1 hour', true) THEN now() ELSE s.tried_at END
        RETURNING tries
        """,
        (address, name),
    )
    row = await cursor.fetchone()
    assert row is not None
    return int(row[0])


async def page(tx: Connection, *, limit: int, before: int | None = None) -> list[Stranger]:
    """Those who are not known, whoever knocked last first."""
    return await Rows(tx, Stranger).fetch_all(
        f"{_SELECT} WHERE NOT EXISTS (SELECT 1 FROM addresses a WHERE a.address = s.address) "
        "AND (%s::bigint IS NULL OR last_at < to_timestamp(0) + %s * interval '1 microsecond') "
        "ORDER BY last_at DESC LIMIT %s",
        (before, before, limit),
    )


async def forget(tx: Connection, address: str) -> bool:
    """Nothing is left of the stranger's knocks; False if there were none."""
    cursor = await tx.execute("DELETE FROM strangers WHERE address = %s", (address,))
    return cursor.rowcount == 1


async def prune(tx: Connection) -> int:
    """Strangers who have not knocked for a month are forgotten, at most some thousand at once; returns how many."""
    cursor = await tx.execute(
        "DELETE FROM strangers WHERE address IN (SELECT address FROM strangers "
        "WHERE last_at < now() - make_interval(days => %s) LIMIT 2000)",
        (KEPT_DAYS,),
    )
    return cursor.rowcount
