"""Bytes in any pieces become records, one a line; what is no record is counted and left out."""

from __future__ import annotations

from collections.abc import Iterator

from laneway.observe.strict_json import Blank, Malformed, Record, TooDeep, parse

LONGEST_LINE = 64 << 20
"""Bytes; a longer line counts as malformed, and its bytes are not kept."""


class Lines:
    """Splits a growing file into lines; however its bytes are cut into pieces, the counts come out the same."""

    def __init__(self, longest: int = LONGEST_LINE) -> None:
        self.lines = self.blank = self.malformed = self.records = 0
        self.too_long = self.too_deep = 0
        self.partial_tail = False
        self.offset = 0
        """Bytes up to the end of the last complete line: where to go on reading."""
        self._longest = longest
        self._tail: list[bytes] = []
        self._kept = 0
        self._dropped = 0

    def feed(self, piece: bytes) -> Iterator[Record]:
        """Yields the record of each line this piece completes; `offset` is then the end of that line."""
        lines = piece.split(b"\n")
        if len(lines) == 1:
            self._keep(piece)
            return
        lines[0] = self._with_tail(lines[0])
        rest = lines.pop()
        for line in lines:
            self.offset += len(line) + 1 + self._dropped
            self.lines += 1
            record = self._record(line)
            if record is not None:
                yield record
        self._keep(rest)

    def finish(self) -> Iterator[Record]:
        """Yields the record of a last line without a line break; nothing is fed after this."""
        if not self._kept and not self._dropped:
            return
        line = self._with_tail(b"")
        self.offset += len(line) + self._dropped
        self.lines += 1
        before = self.malformed
        record = self._record(line)
        self.partial_tail = self.malformed > before
        if record is not None:
            yield record

    @property
    def waiting(self) -> int:
        """Bytes of an unfinished last line."""
        return self._kept + self._dropped

    def _keep(self, piece: bytes) -> None:
        if not piece:
            return
        if self._dropped or self._kept + len(piece) > self._longest:
            self._dropped += self._kept + len(piece)
            self._tail, self._kept = [], 0
        else:
            self._tail.append(piece)
            self._kept += len(piece)

    def _with_tail(self, end: bytes) -> bytes:
        self._keep(end)
        line = b"".join(self._tail)
        self._tail, self._kept = [], 0
        return line

    def _record(self, line: bytes) -> Record | None:
        if self._dropped or len(line) > self._longest:
            self._dropped = 0
            self.too_long += 1
            self.malformed += 1
            return None
        try:
            value = parse(line)
        except Blank:
            self.blank += 1
            return None
        except Malformed as error:
            self.malformed += 1
            self.too_deep += isinstance(error, TooDeep)
            return None
        if type(value) is not dict:
            return None
        self.records += 1
        return value
