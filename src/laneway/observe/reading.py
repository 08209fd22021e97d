"""A session's log as it is read: lines to records, records to the right reader, whatever pieces the bytes come in."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from laneway.domain.session import SessionEvent
from laneway.observe.foreign import Foreign
from laneway.observe.lines import Lines
from laneway.observe.reader import EPOCH, Reader
from laneway.observe.recognition import provider_by_place, provider_of
from laneway.observe.strict_json import Record

_LONGEST_DOUBT = 200
"""Records; by then a log that nobody recognised is foreign."""


class Reading:
    """One log of lines. Its reader is chosen by the first record that only one agent could have written."""

    def __init__(self, path: Path, *, wanted: bool = False, born: datetime = EPOCH) -> None:
        self.path = path
        self.lines = Lines()
        self.reader: Reader | None = None
        self._wanted, self._born = wanted, born
        self._doubtful: list[tuple[Record, int]] = []

    def feed(self, piece: bytes) -> None:
        """All lines that this piece completes are counted."""
        lines = self.lines
        for record in lines.feed(piece):
            if self.reader is None:
                self._doubt(record)
            else:
                self.reader.read(record, lines.offset)

    def finish(self) -> Reader:
        """The log has ended here: a last line without a line break is counted, too."""
        for record in self.lines.finish():
            if self.reader is None:
                self._doubt(record)
            else:
                self.reader.read(record, self.lines.offset)
        return self.reader or self._decide(provider_by_place(self.path) or Foreign)

    def take(self) -> list[SessionEvent]:
        """The events since the last time."""
        return self.reader.take() if self.reader is not None else []

    def _doubt(self, record: Record) -> None:
        """The record waits until it is known whose it is."""
        self._doubtful.append((record, self.lines.offset))
        kind = provider_of(record)
        if kind is not None:
            self._decide(kind)
        elif len(self._doubtful) >= _LONGEST_DOUBT:
            self._decide(provider_by_place(self.path) or Foreign)

    def _decide(self, kind: type[Reader]) -> Reader:
        self.reader = kind(wanted=self._wanted, born=self._born)
        self.reader.name = name_of(self.path)
        for record, offset in self._doubtful:
            self.reader.read(record, offset)
        self._doubtful = []
        return self.reader


def name_of(path: Path) -> str:
    """What a session is called by its file: the folder's name where every file is called the same."""
    name = path.name.removesuffix(".zst").removesuffix(".jsonl").removesuffix(".json")
    return path.parent.name if name == "events" and path.parent.name else name
