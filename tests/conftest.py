"""What every test may use: a PostgreSQL of its own, cloned from a migrated template.

The server is the embedded one a user gets; each test has a database that no other test has touched.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest
import redis

from laneway.store.database import Database
from laneway.store.embedded import EmbeddedPostgres
from laneway.store.migrate import migrate
from tests.servers.redis_server import redis_server

pytest_plugins = ["tests.without", "tests.skips", "tests.unsteady", "tests.workers"]

TEMPLATE = "laneway_template"
MUCH = 2 << 30
"""Bytes; a worker's PostgreSQL takes less than a tenth of it."""


def _only_loopback(event: str, arguments: tuple[object, ...]) -> None:
    """Any call to the real network fails the test that makes it."""
    if event != "socket.connect":
        return
    address = arguments[1]
    if isinstance(address, tuple) and str(address[0]) not in {"127.0.0.1", "::1", "localhost"}:
        raise AssertionError(f"A test tried to reach {address[0]}; only loopback is allowed.")


sys.addaudithook(_only_loopback)

# A shell that runs the tests in the background has them ignore Ctrl-C; the commands under test must not inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
# `nohup` has them ignore that the terminal is gone, in the same way.
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)

# As the command `laneway` does for itself, before anything imports numpy.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# No test may read the settings of the person who runs it, nor reach a model with that person's key.
for name in list(os.environ):
    if name.startswith(("LANEWAY_", "WAHA_")) and name not in ("LANEWAY_TEST_DATA", "LANEWAY_TEST_WITHOUT"):
        del os.environ[name]
for name in ("DATABASE_URL", "REDIS_URL", "ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN", "HAIKU_API_KEY",
             "OPENAI_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_BASE_URL", "DEFAULT_MODEL"):  # fmt: skip
    os.environ.pop(name, None)
for name in list(os.environ):
    if name.startswith(("TELEGRAM_", "WHATSAPP_", "WAHA_")):
        del os.environ[name]


def address_of(server_url: str, database: str) -> str:
    """The address of another database on the same server."""
    head, _, query = server_url.partition("?")
    return f"{head.rpartition('/')[0]}/{database}?{query}"


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The address of a PostgreSQL that lives as long as the test run and holds the template."""
    with _quick_folder() as folder, EmbeddedPostgres(Path(folder)) as url:
        with psycopg.connect(url, autocommit=True) as connection:
            # Nothing here has to survive a power cut, and two cores have better things to do than fsync.
            for setting in (
                "fsync = off", "synchronous_commit = off", "full_page_writes = off",
                "min_wal_size = '32MB'", "max_wal_size = '64MB'",
                # An event is shown when no older transaction is open, and to analyse a table is one, at any moment.
                "autovacuum = off",
            ):  # fmt: skip
                connection.execute(f"ALTER SYSTEM SET {setting}".encode())
            connection.execute("SELECT pg_reload_conf()")
            connection.execute(f"CREATE DATABASE {TEMPLATE}".encode())
        template = address_of(url, TEMPLATE)
        migrate(template)
        _add_engine_tables(template)
        yield url


def _quick_folder() -> tempfile.TemporaryDirectory[str]:
    """A folder in memory, where there is plenty: each test makes three hundred files by cloning the template."""
    memory = Path("/dev/shm")
    plenty = memory.is_dir() and os.access(memory, os.W_OK) and shutil.disk_usage(memory).free > MUCH
    return tempfile.TemporaryDirectory(prefix="laneway-test-", dir=memory if plenty else None)


def _add_engine_tables(url: str) -> None:
    from laneway.engine.launch import migrate_engine

    migrate_engine(url)


@pytest.fixture
def database_url(postgres: str) -> Iterator[str]:
    """The address of a fresh database with all tables."""
    with cloned(postgres) as url:
        yield url


@contextmanager
def cloned(postgres: str) -> Iterator[str]:
    """The address of a database with all tables, which exists while the block lasts."""
    name = f"test_{uuid4().hex}"
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE {TEMPLATE} STRATEGY FILE_COPY".encode())
    yield address_of(postgres, name)
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())


@pytest.fixture
async def db(database_url: str) -> AsyncIterator[Database]:
    """That database, opened."""
    database = Database(database_url)
    await database.open()
    yield database
    await database.close()


@pytest.fixture(scope="session")
def redis_server_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a Redis that lives as long as the test run; never one of yours, since tests empty it."""
    with redis_server(tmp_path_factory.mktemp("redis")) as url:
        yield url


@pytest.fixture
def redis_url(redis_server_url: str) -> Iterator[str]:
    """That Redis, empty."""
    with redis.Redis.from_url(redis_server_url) as client:
        client.flushdb()
        yield redis_server_url
        client.flushdb()
