"""The audit: every link checked, no change possible through the front door or unnoticed through the back door."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import psycopg
import pytest

from laneway.domain.audit import BEGINNING, Entry, Note, checked, sealed
from laneway.store import audit
from laneway.store.database import Database

NOW = datetime(2026, 1, 1, 12, 0, 0, 123456, tzinfo=UTC)


def note(number: int = 1, **body: Any) -> Note:
    return Note(NOW, "owner 7", "tool.started", {"tool": "bash", "number": number, **body})


def chain(length: int = 5) -> list[Entry]:
    made: list[Entry] = []
    for number in range(1, length + 1):
        made.append(sealed(note(number), number, made[-1].hash if made else BEGINNING))
    return made


CHANGES: list[dict[str, Any]] = [
    {"body": "{}"},
    {"actor": "somebody else"},
    {"what": "tool.read"},
    {"at": NOW.replace(year=2025)},
    {"hash": "f" * 64},
]


def test_a_changed_missing_swapped_or_newly_sealed_entry_is_the_first_broken_link() -> None:
    entries = chain()
    broken = {f"Entry 3 was changed {one}": [*entries[:2], replace(entries[2], **one), *entries[3:]] for one in CHANGES}
    broken["Entry 4 does not follow"] = [*entries[:2], sealed(note(99), 3, entries[1].hash), *entries[3:]]
    broken["Entry 3 is missing"] = entries[:2] + entries[3:]
    broken["Entry 1 is missing"] = [entries[1], entries[0], *entries[2:]]
    for said, touched in broken.items():
        found = checked(touched)
        assert (found.intact, found.entries) == (False, int(said[6]) - 1), said
        assert str(found.broken).startswith(said.partition(" {")[0])


def test_secrets_and_names_of_people_do_not_enter_the_chain() -> None:
    entry = sealed(note(arguments={"password": "hunter2x", "command": "curl -H 'Authorization: Bearer abcdef123456'"},
                        name="Ann Miller", address="telegram:4711"), 1, BEGINNING)  # fmt: skip
    for secret in ("hunter2x", "abcdef123456", "Ann", "4711"):
        assert secret not in entry.body
    assert "sha256:" in entry.body


async def test_entries_are_stored_in_order_and_read_back_to_the_character(db: Database) -> None:
    async with db.transaction() as tx:
        first = await audit.append(tx, [note(1, text="é \u2028 1e400 0.1", number_of=1e-7), note(2)])
    async with db.transaction() as tx:
        second = await audit.append(tx, [note(3)])
        stored = await audit.page(tx)
    assert stored == [*first, *second]
    assert checked(stored).intact
    assert [entry.number for entry in stored] == [1, 2, 3]


async def test_the_store_refuses_to_change_it_and_a_change_through_the_back_door_is_found_out(db: Database) -> None:
    async with db.transaction() as tx:
        await audit.append(tx, [note(1), note(2), note(3)])
    for statement in ("UPDATE audit SET actor = 'me'", "DELETE FROM audit WHERE number = 1", "TRUNCATE audit"):
        with pytest.raises(psycopg.errors.InsufficientPrivilege, match="append-only"):
            async with db.transaction() as tx:
                await tx.execute(statement.encode())
    async with db.transaction() as tx:
        assert len(await audit.page(tx)) == 3
        await tx.execute("ALTER TABLE audit DISABLE TRIGGER audit_append_only")
        await tx.execute("""UPDATE audit SET body = replace(body, 'bash', 'date') WHERE number = 2""")
    async with db.transaction() as tx:
        assert "Entry 2 was changed" in str(checked(await audit.page(tx)).broken)


async def test_two_who_append_at_once_make_one_chain(db: Database) -> None:
    async def append(number: int) -> None:
        async with db.transaction() as tx:
            await audit.append(tx, [note(number), note(number)])

    await asyncio.gather(*(append(number) for number in range(8)))
    async with db.transaction() as tx:
        stored = await audit.page(tx, limit=100)
    assert len(stored) == 16
    assert checked(stored).intact
