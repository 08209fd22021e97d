"""JSON from the database is what was put there, however long its numbers are."""

from __future__ import annotations

import json
from typing import Any

from laneway.store.database import Database
from laneway.store.json_columns import in_order

VALUES: list[Any] = [
    {"n": 10**40, "m": -(2**63), "few": [1, 1.0, -0.5, 1e-300]}, {"digits": "1234567890123456789012345"},
    {"text": "ä€😀\u2028\\u0041", "empty": [{}, [], "", None, True]}, 2**63, "12345678901234567890", None,
    {"rows": [{"flight": 1, "price": {"net": 1, "eur": 2}, "city": "Oslo", "n": 10**40}], "a": 1},
]  # fmt: skip


async def _through(db: Database, value: Any, kind: str = "json") -> Any:
    async with db.transaction() as tx:
        cursor = await tx.execute(f"SELECT %s::{kind}".encode(), (in_order(value),))
        row = await cursor.fetchone()
    assert row is not None
    return row[0]


async def test_what_is_written_is_read_and_keys_keep_their_order_however_deep_they_lie(db: Database) -> None:
    for value in VALUES:
        assert json.dumps(await _through(db, value)) == json.dumps(value)
        assert json.dumps(await _through(db, value, "jsonb"), sort_keys=True) == json.dumps(value, sort_keys=True)


async def test_what_no_one_could_look_into_is_marked(db: Database) -> None:
    marked = "a\N{REPLACEMENT CHARACTER}b"
    for odd in ("a\0b", "a\ud800b"):
        assert list((await _through(db, {"z": odd, odd: 10**40})).items()) == [("z", marked), (marked, 10**40)]
    # Written as six letters, it is none.
    assert await _through(db, {"z": "\\u0000"}) == {"z": "\\u0000"}
