"""Follows a log that grows: only new bytes are read, and a file that was replaced or cut is read from its beginning."""

from __future__ import annotations

import hashlib
import os
import stat
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from laneway.domain.session import SessionEvent
from laneway.observe.codex_copies import CodexCopies
from laneway.observe.opencode import OpenCode
from laneway.observe.reader import EPOCH, Reader
from laneway.observe.reading import Reading, name_of
from laneway.observe.sources import PIECE, Unreadable, document, pieces
from laneway.observe.stores import DATABASE_SUFFIXES, reader_of, storage_records, storage_stamp
from laneway.observe.strict_json import Malformed, as_record, parse
from laneway.reactors.costs import priced
from laneway.store.opencode import NoOpenCode, records

_HEAD = 1024
"""Bytes of the beginning that are compared: a file that was written anew seldom begins alike."""
Stamp = tuple[int, ...] | None


class Tail:
    """A log of lines, followed. `life` counts how often it began anew, so that places in it stay unequal."""

    def __init__(self, path: Path, *, born: datetime = EPOCH, life: int = 0) -> None:
        self.path, self.life, self.gone = path, life, False
        self.reading = Reading(path, wanted=True, born=born)
        self._born = born
        self._read = 0
        self._inode: tuple[int, int] | None = None
        self._head = b""

    @property
    def reader(self) -> Reader | None:
        """Who reads it, once that is known."""
        return self.reading.reader

    def read(self, most: int = 16 * PIECE) -> list[SessionEvent]:
        """The events of all lines completed since the last time; of at most so many bytes, so that none waits long."""
        try:
            with self.path.open("rb") as file:
                self.gone = False
                state = os.fstat(file.fileno())
                self._begin_anew_if_replaced(state, file.read(_HEAD))
                file.seek(self._read)
                while most > 0 and (piece := file.read(min(PIECE, most))):
                    most -= len(piece)
                    self._read += len(piece)
                    self.reading.feed(piece)
        except OSError:
            self.gone = True
        return self.reading.take()

    @property
    def identity(self) -> str:
        """A name for the file itself, whatever it is called: another file in its place has another."""
        first = hashlib.blake2b(self._head.partition(b"\n")[0], digest_size=8).hexdigest()
        return f"{self._inode[1] if self._inode else 0}-{first}-{self.life}"

    def _begin_anew_if_replaced(self, state: os.stat_result, head: bytes) -> None:
        inode = (state.st_dev, state.st_ino)
        known = self._inode is not None
        replaced = inode != self._inode or state.st_size < self._read or not head.startswith(self._head)
        if known and replaced:
            self.life += 1
            self._read = 0
            self.reading = Reading(self.path, wanted=True, born=self._born)
        self._inode, self._head = inode, head


class DocumentTail:
    """A document, a database or a compressed log: read again as a whole when it changed; only what is new is told."""

    def __init__(self, path: Path, *, session_id: str | None = None, born: datetime = EPOCH) -> None:
        self.path, self.life, self.gone = path, 0, False
        self.reader: Reader | None = None
        self._session_id, self._born = session_id, born
        self._stamp: tuple[Stamp, ...] = ()

    def read(self) -> list[SessionEvent]:
        """The events that are new since the last time."""
        # What is written to a database lies beside it first.
        stamp = tuple(self._stamp_of(path) for path in (self.path, self.path.with_name(self.path.name + "-wal")))
        self.gone = stamp[0] is None
        if self.gone or stamp == self._stamp:
            return []
        try:
            self._read_all()
        except (Malformed, Unreadable):
            # Caught in the middle of being written; there will be another stamp.
            self._stamp = stamp
            return []
        except NoOpenCode:
            # Its owner may hold it locked just now.
            return []
        self._stamp = stamp
        return self.reader.take() if self.reader is not None else []

    @property
    def identity(self) -> str:
        """Always the same: what a document says is told apart by the ids in it."""
        return "document"

    def _read_all(self) -> None:
        if self.path.suffix == ".zst":
            # Compressed when nothing had happened for long; if it is another one now, it is told as a whole.
            self.reader = _to_the_end(self.path, self._born)
            return
        kind: type[Reader] = OpenCode
        if self.path.is_dir():
            told = [record for record in storage_records(self.path, self._session_id) if record is not None]
        elif self.path.suffix in DATABASE_SUFFIXES:
            told = list(records(self.path, self._session_id))
        else:
            told = [as_record(parse(document(self.path)))]
            kind = reader_of(told[0])
        if self.reader is None and told:
            self.reader = kind(wanted=True, born=self._born)
            self.reader.name, self.reader.keyed = self._session_id or name_of(self.path), "document"
        for record in told:
            if self.reader is not None:
                self.reader.read(record, 0)

    def _stamp_of(self, path: Path) -> Stamp:
        try:
            state = path.stat()
            if stat.S_ISDIR(state.st_mode):
                return storage_stamp(path, self._session_id or "")
        except OSError:
            return None
        return state.st_dev, state.st_ino, state.st_size, state.st_mtime_ns


def followed(path: Path, *, session_id: str | None = None, born: datetime = EPOCH) -> Tail | DocumentTail:
    """The right way to follow a file, by its kind."""
    if path.suffix in (".json", ".zst") or path.is_dir() or path.suffix in DATABASE_SUFFIXES:
        return DocumentTail(path, session_id=session_id, born=born)
    return Tail(path, born=born)


def whole(path: Path, *, session_id: str | None = None, born: datetime = EPOCH) -> list[SessionEvent]:
    """All events of a session, whatever kind its file is, with their prices and without what a fork copied."""
    tail = followed(path, session_id=session_id, born=born)
    if isinstance(tail, DocumentTail):
        events, reader = tail.read(), tail.reader
    else:
        reader = _to_the_end(path, born)
        events = reader.take()
    model, found = "", list[SessionEvent]()
    for event in CodexCopies().left_out(reader, path, events):
        model = model if event.side else event.model or model
        found.append(priced(event, model))
    return found


def _to_the_end(path: Path, born: datetime) -> Reader:
    """The log has been read, its unfinished last line included."""
    reading = Reading(path, wanted=True, born=born)
    # What came before the damage is still told.
    with suppress(Unreadable):
        for piece in pieces(path):
            reading.feed(piece)
    return reading.finish()
