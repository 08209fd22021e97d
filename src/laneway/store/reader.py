"""Statements of the owner's own, which can only read.

Three things keep it so, each alone enough against most tricks: the statement is the query of a cursor (nothing but
SELECT, VALUES or TABLE fits there, and only one), its transaction is READ ONLY and always rolled back, and the
session belongs to a role that owns nothing. On the embedded server that role is `laneway_reader`; on a server of
the owner's own it is the role of DATABASE_URL, which therefore must not be one that can reach beyond its tables.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg import AsyncConnection, conninfo, errors, sql
from psycopg.rows import TupleRow

from laneway.errors import BadInput, Forbidden, LanewayError
from laneway.store.database import Connection
from laneway.store.migrate import unreachable

ROLE = "laneway_reader"
SECRET = {"principals": "key_hash", "pairings": "code_hash", "workflow_hooks": "secret"}
"""Columns the reader's role may not see."""

MOST_ROWS = 1000
MOST_BYTES = 8_000_000
SECONDS = 15
_LOCK = 0x1A4F  # Any constant: two processes must not make the role at the same time.
_AT_ONCE = 50


@dataclass(frozen=True, slots=True)
class Table:
    """What a statement found; `truncated` if there was more than is shown."""

    columns: list[str]
    rows: list[TupleRow]
    truncated: bool


class Reader:
    """Answers statements from a session of its own that cannot change anything."""

    def __init__(self, url: str, *, embedded: bool) -> None:
        self._url, self._embedded = url, embedded
        self._ready = False

    async def query(self, statement: str, *, row_limit: int = MOST_ROWS, seconds: float = SECONDS) -> Table:
        """The columns and rows of one statement; a LanewayError says what is wrong with it."""
        if not statement.strip(" \t\r\n;") or "\x00" in statement:
            raise BadInput("There is no statement.", hint='Send {"statement": "SELECT …"}.')
        if not self._ready:
            await (self._make_role() if self._embedded else self._refuse_powerful_role())
            self._ready = True
        async with await _connect(self._own_url()) as connection:
            try:
                # A statement can lift the server's time limit for the pages after its first; not this one.
                async with asyncio.timeout(seconds + 1):
                    return await _read(connection, statement, row_limit, seconds)
            except (psycopg.Error, TimeoutError) as error:
                raise _explained(error, self._url, seconds) from None
            finally:
                # What a function may have asked for (a notification, say) must not happen at a commit.
                if not connection.closed:
                    await connection.rollback()

    def _own_url(self) -> str:
        return conninfo.make_conninfo(self._url, user=ROLE, password="") if self._embedded else self._url

    async def _make_role(self) -> None:
        """The reader's role exists and may read all tables there are now, but not the secret columns."""
        async with await _connect(self._url) as owner, owner.transaction():
            await owner.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
            known = await owner.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", (ROLE,))
            if await known.fetchone() is None:
                await owner.execute(_named("CREATE ROLE {} LOGIN NOINHERIT CONNECTION LIMIT 8"))
            for schema in ("public", "dbos"):
                await owner.execute(_named(f"GRANT USAGE ON SCHEMA {schema} TO {{}}"))
                await owner.execute(_named(f"GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO {{}}"))
            for table, secret in SECRET.items():
                await _hide(owner, table, secret)

    async def _refuse_powerful_role(self) -> None:
        """Returns only if the role of DATABASE_URL can do nothing beyond its own tables."""
        async with await _connect(self._url) as connection:
            cursor = await connection.execute(
                "SELECT rolsuper OR pg_has_role(oid, 'pg_read_server_files', 'MEMBER') "
                "OR pg_has_role(oid, 'pg_write_server_files', 'MEMBER') "
                "OR pg_has_role(oid, 'pg_execute_server_program', 'MEMBER') FROM pg_roles WHERE rolname = current_user"
            )
            row = await cursor.fetchone()
        if row is None or row[0]:
            raise Forbidden(
                "The role of DATABASE_URL is a superuser or may touch the server's files, so no statement is run.",
                hint="Use psql, or give Laneway a role of its own in DATABASE_URL.",
            )


async def _connect(url: str) -> Connection:
    try:
        return await AsyncConnection.connect(url, connect_timeout=5)
    except psycopg.OperationalError as error:
        raise unreachable(url, error) from error


async def _read(connection: Connection, statement: str, row_limit: int, seconds: float) -> Table:
    await connection.set_read_only(True)
    await connection.execute("SELECT set_config('statement_timeout', %s, true)", (f"{round(seconds * 1000)}ms",))
    # Prepared, so that the server itself refuses a second statement.
    await connection.execute(f"DECLARE reading NO SCROLL CURSOR FOR {statement}".encode(), prepare=True)
    names: list[str] = []
    rows: list[TupleRow] = []
    size = 0
    while True:
        fetched = await connection.execute(f"FETCH {_AT_ONCE} FROM reading".encode())
        names = [column.name for column in fetched.description or ()]
        page = await fetched.fetchall()
        rows += page
        size += sum(len(str(cell)) for row in page for cell in row)
        if len(rows) > row_limit or size > MOST_BYTES:
            return Table(names, rows[:row_limit], truncated=True)
        if len(page) < _AT_ONCE:
            return Table(names, rows, truncated=False)


async def _hide(owner: Connection, table: str, secret: str) -> None:
    cursor = await owner.execute(
        "SELECT column_name FROM information_schema.columns "
        "WHERE table_schema = 'public' AND table_name = %s AND column_name <> %s",
        (table, secret),
    )
    shown = sql.SQL(", ").join([sql.Identifier(row[0]) for row in await cursor.fetchall()])
    names: dict[str, Any] = {"shown": shown, "table": sql.Identifier(table), "role": sql.Identifier(ROLE)}
    await owner.execute(sql.SQL("REVOKE SELECT ON {table} FROM {role}").format(**names))
    await owner.execute(sql.SQL("GRANT SELECT ({shown}) ON {table} TO {role}").format(**names))


def _named(statement: str) -> bytes:
    return statement.format(ROLE).encode()


def _explained(error: psycopg.Error | TimeoutError, url: str, seconds: float) -> LanewayError:
    if isinstance(error, errors.QueryCanceled | TimeoutError):
        return BadInput(f"The statement took longer than {seconds:g} s and was stopped.", hint="Ask for less.")
    said = error.diag.message_primary or str(error).partition("\n")[0]
    if isinstance(error, errors.InsufficientPrivilege | errors.ReadOnlySqlTransaction):
        return Forbidden(f"Statements may only read here: {said}.", hint="Use psql for anything else.")
    if isinstance(error, psycopg.OperationalError) and error.sqlstate is None:
        return unreachable(url, error)
    malformed = isinstance(error, errors.SyntaxError | errors.FeatureNotSupported)
    hint = "It must be one statement that reads, such as SELECT." if malformed else error.diag.message_hint or ""
    return BadInput(f"PostgreSQL says: {said}.", hint=hint)
