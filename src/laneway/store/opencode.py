"""OpenCode's own SQLite file, read and never written: its rows as the records its older files held."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import orjson

MAGIC = b"SQLite format 3\0"
_LONGEST = 64 << 20


class NoOpenCode(Exception):
    """The file is no database of OpenCode, or cannot be read; the message says why."""


def records(path: Path, session_id: str | None = None) -> Iterator[dict[str, Any]]:
    """Yields sessions, messages and parts, each after what it belongs to; of one session or of all."""
    try:
        with closing(_opened(path)) as connection:
            yield from _sessions(connection, session_id)
            for table, owner in (("message", None), ("part", "message_id")):
                yield from _rows(connection, table, owner, session_id)
    except sqlite3.Error as error:
        raise NoOpenCode(str(error)) from error


def sessions(path: Path) -> list[dict[str, Any]]:
    """Every session of the file: id, directory, title, time."""
    try:
        with closing(_opened(path)) as connection:
            return list(_sessions(connection, None))
    except sqlite3.Error as error:
        raise NoOpenCode(str(error)) from error


def _opened(path: Path) -> sqlite3.Connection:
    """The file, opened so that nothing in it can change and its owner is not kept waiting."""
    connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=3)
    connection.row_factory = sqlite3.Row
    return connection


def _sessions(connection: sqlite3.Connection, session_id: str | None) -> Iterator[dict[str, Any]]:
    for row in connection.execute(
        "SELECT * FROM session WHERE ? IS NULL OR id = ? ORDER BY time_created, id", (session_id, session_id)
    ):
        told = {name: row[name] for name in row.keys() if name in {"id", "directory", "title", "version", "parent_id"}}  # noqa: SIM118
        told["directory"] = told.get("directory") or ""
        yield told | {"time": {"created": row["time_created"], "updated": row["time_updated"]}}


def _rows(
    connection: sqlite3.Connection, table: str, owner: str | None, session_id: str | None
) -> Iterator[dict[str, Any]]:
    named = f", {owner}" if owner else ""
    for row in connection.execute(
        f"SELECT id, session_id{named}, data FROM {table} WHERE (? IS NULL OR session_id = ?) "
        f"AND length(data) <= {_LONGEST} ORDER BY time_created, id",
        (session_id, session_id),
    ):
        try:
            told = orjson.loads(row["data"])
        except (orjson.JSONDecodeError, TypeError):
            continue
        if isinstance(told, dict):
            yield (
                told | {"id": row["id"], "sessionID": row["session_id"]} | ({"messageID": row[owner]} if owner else {})
            )
