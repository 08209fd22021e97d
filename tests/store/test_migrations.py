"""A database of before gets the new tables with everything in it kept, and can go back."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg
import pytest
import sqlalchemy
from alembic import command
from alembic.config import Config

import laneway.store
from laneway.store.migrate import HEAD, current_version, sqlalchemy_url
from tests.conftest import address_of

MIGRATIONS = Path(laneway.store.__file__).parent / "migrations"


def _fill_days() -> str:
    """The statement that adds up the whole ledger, as the migration has it."""
    spec = importlib.util.spec_from_file_location("budgets", MIGRATIONS / "versions" / "0007_budgets.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return str(module.FILL_DAYS)


FILL_DAYS = _fill_days()

MESSAGE = """
INSERT INTO principals (id, role, name) VALUES ('00000000-0000-0000-0000-000000000001', 'customer', 'ann');
INSERT INTO threads (id, channel, external_id, principal_id, world) VALUES
    ('00000000-0000-0000-0000-000000000002', 'http', 'ann', '00000000-0000-0000-0000-000000000001', 'customer');
INSERT INTO messages (id, thread_id, author, channel, external_id, principal_id, text) VALUES
    ('00000000-0000-0000-0000-000000000003', '00000000-0000-0000-0000-000000000002', 'user', 'http', '1',
     '00000000-0000-0000-0000-000000000001', 'hello');
"""
JOB = """
INSERT INTO jobs (id, thread_id, message_id, mode, lane, owner) VALUES
    ('00000000-0000-0000-0000-000000000004', '00000000-0000-0000-0000-000000000002',
     '00000000-0000-0000-0000-000000000003', 'AUTO', 'tools', false);
"""
CALLS = """
INSERT INTO token_ledger (scope, provider, state, tokens_total, cost, reserved_tokens, reserved_cost, job) VALUES
    ('reactive', 'claude', 'settled', 100, 0.01, 500, 0.05, '00000000-0000-0000-0000-000000000004'),
    ('reactive', 'claude', 'cut', 0, 0, 500, 0.05, '00000000-0000-0000-0000-000000000004'),
    ('reactive', 'claude', 'reserved', 0, 0, 200, 0.02, '00000000-0000-0000-0000-000000000004'),
    ('reactive', 'claude', 'released', 0, 0, 900, 0.09, NULL);
"""


def test_this_version_knows_its_newest_migration() -> None:
    newest = max(path.name for path in (MIGRATIONS / "versions").glob("[0-9]*.py"))
    assert newest.startswith(f"{HEAD}_")


class Old:
    """An empty database that can be brought to any version."""

    def __init__(self, url: str) -> None:
        self._url = url

    def bring_to(self, version: str) -> None:
        config = Config()
        config.set_main_option("script_location", str(MIGRATIONS))
        engine = sqlalchemy.create_engine(sqlalchemy_url(self._url), poolclass=sqlalchemy.pool.NullPool)
        with engine.begin() as connection:
            config.attributes["connection"] = connection
            (command.downgrade if version < (current_version(self._url) or "") else command.upgrade)(config, version)

    def run(self, statements: str) -> None:
        with psycopg.connect(self._url) as connection:
            connection.execute(statements.encode())

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        with psycopg.connect(self._url) as connection:
            return connection.execute(query.encode()).fetchall()


@pytest.fixture
def old(postgres: str) -> Iterator[Old]:
    name = f"test_{uuid4().hex}"
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}".encode())
        yield Old(address_of(postgres, name))
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())


def test_calls_of_before_belong_to_somebody_and_count_what_they_did(old: Old) -> None:
    old.bring_to("0006")
    old.run(MESSAGE + JOB + CALLS)
    old.bring_to("0007")
    assert old.rows(
        "SELECT state, tokens_total, cost::float8, world, principal IS NOT NULL, lane FROM token_ledger ORDER BY id"
    ) == [
        ("settled", 100, 0.01, "customer", True, "tools"),
        ("cut", 500, 0.05, "customer", True, "tools"),
        ("reserved", 200, 0.02, "customer", True, "tools"),
        ("released", 0, 0.0, "owner", False, None),
    ]
    assert old.rows(
        "SELECT world, lane, spent::float8, reserved::float8, spent_tokens, reserved_tokens FROM ledger_days "
        "WHERE principal <> ''"
    ) == [("customer", "tools", 0.06, 0.02, 600, 200)]
    old.bring_to("0006")
    assert old.rows("SELECT tokens_total FROM token_ledger ORDER BY id") == [(100,), (0,), (0,), (0,)]


def test_what_is_reserved_stands_apart_and_can_be_put_back(old: Old) -> None:
    days = "SELECT spent::float8, reserved::float8, spent_tokens, reserved_tokens FROM ledger_days WHERE spent > 0"
    calls = "SELECT state, tokens_total, cost::float8 FROM token_ledger WHERE job IS NOT NULL ORDER BY id"
    old.bring_to("0006")
    old.run(MESSAGE + JOB + CALLS)
    for version, reserved in (("0025", (0, 0.0)), ("0024", (200, 0.02)), ("0025", (0, 0.0))):
        old.bring_to(version)
        assert old.rows(calls) == [("settled", 100, 0.01), ("cut", 500, 0.05), ("reserved", *reserved)]
        assert old.rows(days) == [(0.06, 0.02, 600, 200)]
    old.run("UPDATE token_ledger SET state = 'settled', cost = 0.001, tokens_total = 7 WHERE state = 'reserved'")
    assert old.rows(days) == [(0.061, 0.0, 607, 0)]


def test_jobs_of_before_stay_and_those_of_now_keep_the_order_of_their_keys(old: Old) -> None:
    def jobs() -> list[str]:
        return [" ".join(row[0]) for row in old.rows("SELECT payload_json FROM reactive_jobs ORDER BY created_at")]

    payload = """UPDATE jobs SET payload = '{"flight": 1, "price": 2, "city": 3}'"""
    old.bring_to("0021")
    old.run(MESSAGE + JOB + payload)
    old.bring_to("0022")
    assert jobs() == ["city price flight"]
    old.run(payload)
    old.run(
        "INSERT INTO jobs (id, thread_id, message_id, mode, owner) "
        "SELECT gen_random_uuid(), thread_id, message_id, mode, owner FROM jobs"
    )
    assert jobs() == ["flight price city", ""]
    old.bring_to("0021")
    assert jobs() == ["city price flight", ""]
