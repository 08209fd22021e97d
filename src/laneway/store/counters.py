"""Counters that outlive the processes that count: each process adds what it counted since it last did."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

from psycopg.types.json import Jsonb

from laneway.store.database import Connection

Labels = tuple[tuple[str, str], ...]
Counted = dict[tuple[str, Labels], Decimal]
"""By name and labels."""


async def add(tx: Connection, counted: Mapping[tuple[str, Labels], Decimal]) -> None:
    """What was counted is part of the sums."""
    rows = [(name, Jsonb(dict(labels)), value) for (name, labels), value in sorted(counted.items())]
    async with tx.cursor() as cursor:
        # In one order everywhere, so that two who add at once never wait for each other in a circle.
        await cursor.executemany(
            "INSERT INTO counters AS c (name, labels, value) VALUES (%s, %s, %s) "
            "ON CONFLICT (name, labels) DO UPDATE SET value = c.value + EXCLUDED.value",
            rows,
        )


async def sums(tx: Connection) -> Counted:
    """Every counter there is."""
    cursor = await tx.execute("SELECT name, labels, value FROM counters ORDER BY name, labels")
    return {(name, tuple(sorted(labels.items()))): value for name, labels, value in await cursor.fetchall()}
