"""Statements of the owner's own read everything but secrets and change nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest

from laneway.errors import BadInput, Forbidden, LanewayError
from laneway.store.reader import Reader
from tests.serving import serving
from tests.web.conftest import Door, counts

AS_PRINTED = [
    "SELECT * FROM reactive_jobs WHERE status='queued';",
    "SELECT scope, provider, SUM(tokens_total) FROM token_ledger GROUP BY scope, provider;",
    "SELECT * FROM reactive_jobs WHERE status='failed' ORDER BY created_at DESC LIMIT 10;",
]

TRICKS = [
    "DELETE FROM jobs",
    "INSERT INTO events (kind) VALUES ('x')",
    "UPDATE jobs SET status = 'done'",
    "DROP TABLE jobs",
    "CREATE TABLE mine (x int)",
    "TRUNCATE jobs",
    "SELECT 1; DELETE FROM events",
    "SELECT 1; COMMIT; DELETE FROM events",
    "COMMIT",
    "SELECT 1 INTO mine",
    "WITH gone AS (DELETE FROM events RETURNING 1) SELECT * FROM gone",
    "SELECT * FROM jobs FOR UPDATE",
    "COPY jobs TO '/tmp/laneway-jobs'",
    "COPY (SELECT 1) TO PROGRAM 'touch /tmp/laneway-was-here'",
    "SELECT 1) TO PROGRAM 'id' --",
    "SELECT pg_read_file('/etc/passwd')",
    "SELECT pg_ls_dir('.')",
    "SELECT lo_import('/etc/passwd')",
    "SELECT lo_create(0)",
    "SELECT set_config('role', 'postgres', false), query_to_xml('DELETE FROM events', true, true, '')",
    "SELECT set_config('session_authorization', 'postgres', false)",
    "SELECT set_config('transaction_read_only', 'off', false), query_to_xml('DELETE FROM events', true, true, '')",
    "SELECT query_to_xml('DELETE FROM events', true, true, '')",
    "SELECT nextval('events_id_seq')",
    "SELECT dbos.enqueue_workflow('a', 'b')",
    "SET ROLE postgres",
    "DO $$ BEGIN DELETE FROM events; END $$",
    "CALL nothing()",
    "LISTEN laneway_jobs",
    "NOTIFY laneway_cancels, 'x'",
]

SECRETS = [
    "SELECT key_hash FROM principals",
    "SELECT * FROM principals",
    "SELECT p FROM principals p",
    "SELECT to_jsonb(p) FROM principals p",
    "SELECT query_to_xml('SELECT key_hash FROM principals', true, true, '')",
    "SELECT 1 FROM principals WHERE key_hash LIKE 'a%'",
    "SELECT rolpassword FROM pg_authid",
]


@pytest.fixture
def as_plain_role(postgres: str, database_url: str) -> Iterator[str]:
    """The address of the test's database for a role that owns its tables and is nothing special."""
    role = f"plain_{uuid4().hex[:12]}"
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute(f"CREATE ROLE {role} LOGIN".encode())
        for schema in ("public", "dbos"):
            connection.execute(f"GRANT ALL ON SCHEMA {schema} TO {role}".encode())
            connection.execute(f"GRANT ALL ON ALL TABLES IN SCHEMA {schema} TO {role}".encode())
            connection.execute(f"GRANT ALL ON ALL SEQUENCES IN SCHEMA {schema} TO {role}".encode())
    yield re.sub(r"//[^/]*@", f"//{role}@", database_url)
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute(f"DROP OWNED BY {role}".encode())
        connection.execute(f"DROP ROLE {role}".encode())


async def test_no_trick_changes_anything_embedded_or_as_a_role_that_may_write(
    as_plain_role: str, database_url: str
) -> None:
    with psycopg.connect(database_url) as connection:
        connection.execute("INSERT INTO events (kind) VALUES ('kept')")
    before = counts(database_url)
    for reader in (Reader(database_url, embedded=True), Reader(as_plain_role, embedded=False)):
        for statement in AS_PRINTED:
            assert (await reader.query(statement)).columns
        for statement in TRICKS:
            with pytest.raises((BadInput, Forbidden)):
                await reader.query(statement)
    assert counts(database_url) == before


async def test_secrets_stay_secret(database_url: str) -> None:
    reader = Reader(database_url, embedded=True)
    for statement in SECRETS:
        with pytest.raises(Forbidden):
            await reader.query(statement)
    assert (await reader.query("SELECT id, role, name, host_mode FROM principals")).rows == []


async def test_a_notification_asked_for_is_not_sent(database_url: str) -> None:
    async with await psycopg.AsyncConnection.connect(database_url, autocommit=True) as listener:
        await listener.execute("LISTEN laneway_cancels")
        await Reader(database_url, embedded=True).query("SELECT pg_notify('laneway_cancels', 'forged')")
        assert [heard async for heard in listener.notifies(timeout=0.15)] == []


async def test_a_long_answer_is_cut_and_a_long_question_stopped(database_url: str) -> None:
    reader = Reader(database_url, embedded=True)
    cut = await reader.query("SELECT n FROM generate_series(1, 100000) n", row_limit=7)
    assert ([row[0] for row in cut.rows], cut.truncated) == ([1, 2, 3, 4, 5, 6, 7], True)
    wide = await reader.query("SELECT repeat('x', 1000000) FROM generate_series(1, 100000)")
    assert (wide.truncated, len(wide.rows) < 100) == (True, True)
    with pytest.raises(BadInput, match="took longer than"):
        await reader.query("SELECT pg_sleep(60)", seconds=0.2)
    with pytest.raises(BadInput, match="took longer than"):
        await reader.query(
            "SELECT set_config('statement_timeout', '0', false), CASE WHEN n > 60 THEN pg_sleep(60) END "
            "FROM generate_series(1, 70) n",
            seconds=0.2,
        )


async def test_a_wrong_statement_is_explained(database_url: str) -> None:
    cases = {"": "no statement", " ; ": "no statement", "SELEC 1": "syntax error", "SELECT a FROM jobs": '"a"',
             "SELECT 1/0": "division by zero", "SELECT '\x00'": "no statement"}  # fmt: skip
    for statement, said in cases.items():
        with pytest.raises(LanewayError, match=said):
            await Reader(database_url, embedded=True).query(statement)


async def test_a_superuser_of_ones_own_is_refused(own_door: Door) -> None:
    problem = await own_door.post("/sql", 403, json={"statement": "SELECT 1"})
    assert "superuser" in problem["detail"]
    assert "psql" in problem["hint"]


async def test_values_arrive_as_json(as_plain_role: str, tmp_path: Path) -> None:
    statement = (
        "SELECT 1::bigint, 2.50::numeric(9,2), 3::numeric, 'NaN'::float8, true, NULL, '\\x00ff'::bytea, "
        "'{\"a\": [1]}'::jsonb, '2026-01-02 03:04:05+02'::timestamptz, '2026-01-02'::date, interval '1 day', "
        "'00000000-0000-0000-0000-000000000001'::uuid, ARRAY[1, 2]"
    )
    async with serving(as_plain_role, tmp_path) as (url, key):
        door = Door(url, key)
        async with door.http:
            await door.ask("how full is the disk?")
            found = await door.post("/sql", json={"statement": statement})
            usage = await door.post("/sql", json={"statement": AS_PRINTED[1]})
            await door.post("/sql", 400, json={"statement": "DELETE FROM jobs"})
            jobs = await door.post("/sql", json={"statement": "SELECT status FROM reactive_jobs"})
    assert found["rows"] == [
        [1, 2.5, 3, "nan", True, None, "\\x00ff", {"a": [1]}, "2026-01-02T01:04:05Z", "2026-01-02", "1 day, 0:00:00",
         "00000000-0000-0000-0000-000000000001", [1, 2]]
    ]  # fmt: skip
    ((scope, provider, tokens),) = usage["rows"]
    assert (scope, provider, type(tokens)) == ("reactive", "scripted", int)
    assert jobs == {"columns": ["status"], "rows": [["done"]], "truncated": False}
