"""Reads one file, or one store, to its end, and says what is in it; nothing about the file can make that fail."""

from __future__ import annotations

from pathlib import Path

from laneway.observe.codex import Codex
from laneway.observe.codex_family import lineage_of
from laneway.observe.foreign import Foreign
from laneway.observe.opencode import OpenCode
from laneway.observe.reader import Reader
from laneway.observe.reading import Reading, name_of
from laneway.observe.report import Report, own_part
from laneway.observe.sources import Unreadable, document, pieces
from laneway.observe.stores import DATABASE_SUFFIXES, is_storage, reader_of, storage_records
from laneway.observe.strict_json import Malformed, as_record, parse
from laneway.store.opencode import MAGIC, NoOpenCode, records


def read(path: Path) -> Report:
    """The report on a file, whatever is in it."""
    if is_storage(path):
        return _storage(path)
    if path.suffix in DATABASE_SUFFIXES or _begins_with(path, MAGIC):
        return _database(path)
    return _document(path) if path.suffix == ".json" else _log(path)


def _begins_with(path: Path, magic: bytes) -> bool:
    if path.name.endswith((".jsonl", ".json", ".zst")):
        return False
    try:
        return next(pieces(path), b"").startswith(magic)
    except Unreadable:
        return False


def _log(path: Path) -> Report:
    report, reading = Report(str(path)), Reading(path)
    report.lines = reading.lines
    try:
        for piece in pieces(path):
            reading.feed(piece)
    except Unreadable as unreadable:
        _could_not(report, unreadable, anything=bool(reading.lines.offset))
    reader = reading.finish()
    report.told_by(reader)
    if isinstance(reader, Codex) and reader.lineage.parents:
        _own_part(report, reader, path)
    return report


def _could_not(report: Report, why: Unreadable, *, anything: bool) -> None:
    """The report says what is missing: the end, or everything."""
    if anything:
        report.warnings.append(f"it was read in part only: {why}")
    else:
        report.error = f"it cannot be read: {why}"
        report.warnings.append(report.error)


def _own_part(report: Report, reader: Codex, path: Path) -> None:
    """The report tells what a fork did itself from what it copied."""
    parents = reader.lineage.parents
    own = reader.own(next((found for name in parents if (found := lineage_of(name, path)) is not None), None))
    if own is not None:
        report.own = own_part(own.tokens, own.user_turns)
    else:
        report.totals.uncertain.append(
            f"forked from {parents[0]}, whose log is not here: what was copied from it is counted, too"
        )


def _document(path: Path) -> Report:
    report = Report(str(path), document_ok=False)
    reader: Reader = Foreign()
    try:
        value = parse(document(path))
        report.document_ok, reader = True, reader_of(value)()
        if not isinstance(reader, Foreign):
            reader.read(as_record(value), 0)
    except Malformed as malformed:
        report.warnings.append(f"the document is no JSON: {str(malformed)[:120] or 'it is empty'}")
    except Unreadable as unreadable:
        _could_not(report, unreadable, anything=False)
    reader.name = name_of(path)
    report.told_by(reader)
    return report


def _storage(folder: Path) -> Report:
    report, reader, broken = Report(str(folder)), OpenCode(), 0
    for record in storage_records(folder):
        if record is None:
            broken += 1
        else:
            reader.read(record, 0)
    return _of_opencode(report, reader, folder, broken)


def _database(path: Path) -> Report:
    report, reader = Report(str(path)), OpenCode()
    try:
        for record in records(path):
            reader.read(record, 0)
    except NoOpenCode as error:
        report.warnings.append(f"it is no database of OpenCode: {error}")
        if not reader.sessions:
            return report
    return _of_opencode(report, reader, path, 0)


def _of_opencode(report: Report, reader: OpenCode, path: Path, broken: int) -> Report:
    reader.name = name_of(path)
    report.told_by(reader)
    report.sessions = list(reader.sessions)
    if len(report.sessions) > 1:
        report.session_id = ""
    if broken:
        report.warnings.append(f"{broken} files are no JSON objects and were left out")
    return report
