"""OpenCode's folders and its database say the same, and each message counts once."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

from laneway.observe.discovery import discover
from laneway.observe.read import read
from laneway.observe.tail import followed
from tests.observe.logs import Json, calls, counts

MESSAGES: tuple[tuple[str, str, Json], ...] = (
    ("s1", "m1", {"role": "user", "time": {"created": 1_767_225_600_000}}),
    ("s1", "m2", {"role": "assistant", "modelID": "big", "cost": 0.25, "time": {"created": 1_767_225_601_000},
                  "tokens": {"input": 10, "output": 5, "reasoning": 2, "cache": {"read": 7, "write": 3}}}),
    ("s2", "m3", {"role": "assistant", "modelID": "small", "time": {},
                  "tokens": {"input": 1, "output": -5, "reasoning": True, "cache": None}}),
)  # fmt: skip
PARTS: tuple[tuple[str, str, str, Json], ...] = (
    ("s1", "m1", "p1", {"type": "text", "text": "please"}),
    ("s1", "m2", "p2", {"type": "tool", "tool": "bash", "callID": "c1", "state": {"status": "error", "error": "no"}}),
    ("s1", "m2", "p3", {"type": "tool", "tool": "read", "callID": "c2", "state": {"status": "running", "input": {}}}),
    ("s1", "m2", "p4", {"type": "tool", "tool": "read", "callID": "c2", "state": {"status": "completed"}}),
    ("s1", "m2", "p5", {"type": "step-finish", "reason": "stop", "tokens": {"input": 10, "output": 5}}),
    ("s2", "m3", "p6", {"type": "tool", "tool": "bash", "state": {"status": "pending"}}),
)
EXPECTED = counts(11, 7, 7, 3, 2, users=1, answers=2, tool_calls=calls(bash=2, read=1), failed=1, open=1)
EXPECTED |= {"provider": "opencode", "models": ["big", "small"], "sessions": ["s1", "s2"]}


def write(path: Path, value: Json) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value))


def storage(folder: Path) -> Path:
    for session in ("s1", "s2"):
        write(folder / "session" / "project" / f"{session}.json", {"id": session, "projectID": "p", "directory": "/w"})
    for session, name, told in MESSAGES:
        write(folder / "message" / session / f"{name}.json", told | {"id": name, "sessionID": session})
    for session, message, name, told in PARTS:
        ids = {"id": name, "messageID": message, "sessionID": session}
        write(folder / "part" / message / f"{name}.json", told | ids)
    return folder


def database(path: Path) -> Path:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(
            "CREATE TABLE session (id, parent_id, directory, title, version, time_created, time_updated)"
        )
        connection.execute("CREATE TABLE message (id, session_id, time_created, data)")
        connection.execute("CREATE TABLE part (id, message_id, session_id, time_created, data)")
        for session, parent in (("s1", None), ("s2", "s1")):
            values = (session, parent, "/w", "t", "1.0", 1, 2)
            connection.execute("INSERT INTO session VALUES (?, ?, ?, ?, ?, ?, ?)", values)
        for session, name, told in MESSAGES:
            connection.execute("INSERT INTO message VALUES (?, ?, ?, ?)", (name, session, 1, json.dumps(told)))
        for session, message, name, told in PARTS:
            row = (name, message, session, 1, json.dumps(told))
            connection.execute("INSERT INTO part VALUES (?, ?, ?, ?, ?)", row)
    return path


def test_a_store_is_counted_as_by_hand(tmp_path: Path) -> None:
    for path in (storage(tmp_path / "storage"), database(tmp_path / "opencode.db")):
        told = read(path).as_json()
        assert {name: told[name] for name in EXPECTED} == EXPECTED
        assert told["tokens_naive"]["input"] > told["tokens"]["input"]


def test_one_message_is_a_document_and_broken_files_of_a_store_are_counted_and_left_out(tmp_path: Path) -> None:
    folder = storage(tmp_path / "storage")
    message = read(folder / "message" / "s1" / "m2.json").as_json()
    assert (message["provider"], message["assistant_messages"], message["document_ok"]) == ("opencode", 1, True)
    assert read(folder / "part" / "m2" / "p2.json").as_json()["tool_errors"] == 1
    (folder / "message" / "s1" / "m9.json").write_bytes(b'{"role": "user"')
    (folder / "part" / "m2" / "p9.json").write_bytes(b"\xff[]")
    told = read(folder).as_json()
    assert told["tokens"] == EXPECTED["tokens"]
    assert told["warnings"] == ["2 files are no JSON objects and were left out"]


def test_a_database_of_others_and_a_broken_one_are_read_without_failing(tmp_path: Path) -> None:
    other = tmp_path / "other.db"
    with closing(sqlite3.connect(other)) as connection, connection:
        connection.execute("CREATE TABLE bills (id)")
    broken = database(tmp_path / "broken.db")
    broken.write_bytes(broken.read_bytes()[:5000])
    empty = tmp_path / "empty.db"
    empty.write_bytes(b"")
    for path in (other, broken, empty):
        told = read(path).as_json()
        assert any("database of OpenCode" in warning for warning in told["warnings"])


def test_rows_that_change_tell_only_what_is_new(tmp_path: Path) -> None:
    path = database(tmp_path / "opencode.db")
    tail = followed(path, session_id="s1")
    first = tail.read()
    assert sum(event.tokens.total for event in first) == 27
    assert {event.session_id for event in first} == {"s1"}
    assert tail.read() == []
    with closing(sqlite3.connect(path)) as connection, connection:
        told = MESSAGES[1][2] | {"tokens": {"input": 10, "output": 9, "reasoning": 2, "cache": {"read": 7, "write": 3}}}
        connection.execute("UPDATE message SET data = ? WHERE id = 'm2'", (json.dumps(told),))
    assert [event.tokens.output for event in tail.read()] == [4]


def test_sessions_of_both_stores_are_found_once(tmp_path: Path) -> None:
    home = tmp_path / "opencode"
    home.mkdir()
    storage(home / "storage")
    database(home / "opencode.db")
    write(home / "storage" / "session" / "project" / "s3.json", {"id": "s3", "projectID": "p", "directory": "/w"})
    found = discover({"HOME": str(tmp_path / "nobody"), "OPENCODE_DATA_DIR": str(home)})
    assert sorted((one.session_id or "", one.side) for one in found) == [("s1", False), ("s2", True), ("s3", False)]
