"""Sessions that are no log of lines: Gemini's documents, OpenCode's folders and its database."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from laneway.observe.foreign import Foreign
from laneway.observe.gemini import Gemini
from laneway.observe.opencode import OpenCode
from laneway.observe.reader import Reader
from laneway.observe.recognition import provider_of
from laneway.observe.sources import Unreadable, document
from laneway.observe.strict_json import Malformed, Record, as_record, parse

DATABASE_SUFFIXES = (".db", ".sqlite", ".sqlite3")
_ROOMS = ("session", "message", "part")


def is_storage(path: Path) -> bool:
    """Whether the folder is a storage of OpenCode's older versions."""
    return path.is_dir() and (path / "message").is_dir()


def storage_records(folder: Path, session_id: str | None = None) -> Iterator[Record | None]:
    """Yields each file's record, sessions before messages before parts; None for one that is none."""
    for room in _ROOMS:
        for file in _json_files(folder / room):
            if session_id is not None and room == "session" and file.stem != session_id:
                continue
            if session_id is not None and room == "message" and file.parent.name != session_id:
                continue
            record = _record_of(file)
            if session_id is None or record is None or session_id in (record.get("sessionID"), record.get("id")):
                yield record


def storage_stamp(folder: Path, session_id: str) -> tuple[int, int]:
    """How many files the session has and when the last of them changed: what is deleted shows in the one number."""
    messages = list((folder / "message" / session_id).glob("*.json"))
    parts = [part for message in messages for part in (folder / "part" / message.stem).glob("*.json")]
    return len(messages) + len(parts), max((file.stat().st_mtime_ns for file in (*messages, *parts)), default=0)


def _json_files(folder: Path) -> Iterator[Path]:
    for where, folders, files in os.walk(folder):
        folders.sort()
        yield from (Path(where) / name for name in sorted(files) if name.endswith(".json"))


def _record_of(file: Path) -> Record | None:
    try:
        value = parse(document(file))
    except (Malformed, Unreadable):
        return None
    return as_record(value) or None


def reader_of(value: object) -> type[Reader]:
    """The reader for a whole document, by what it holds."""
    told = as_record(value)
    if type(told.get("messages")) is list and ("sessionId" in told or provider_of(told) is Gemini):
        return Gemini
    if type(told.get("sessionID")) is str and ("role" in told or "messageID" in told):
        return OpenCode
    if "projectID" in told and "directory" in told:
        return OpenCode
    return Foreign
