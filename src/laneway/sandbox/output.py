"""What a command wrote: all of it, or its beginning and its end."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable

CHUNK = 65536


class Stream:
    """One stream of output, of which at most `most` bytes are kept: half from its beginning, half from its end."""

    def __init__(self, most: int) -> None:
        self._half = most // 2
        self._head = bytearray()
        self._tail: deque[bytes] = deque()
        self._tail_bytes = 0
        self.total = 0

    def add(self, chunk: bytes) -> None:
        self.total += len(chunk)
        fits = self._half - len(self._head)
        self._head += chunk[:fits]
        if rest := chunk[fits:]:
            self._tail.append(rest)
            self._tail_bytes += len(rest)
            while self._tail_bytes - len(self._tail[0]) >= self._half:
                self._tail_bytes -= len(self._tail.popleft())

    def text(self, most: int) -> tuple[str, int]:
        """At most `most` bytes of it as text, and how many were left out in the middle."""
        tail = b"".join(self._tail)[-self._half :] if self._half else b""
        kept = bytes(self._head) + tail
        if self.total <= most and len(kept) == self.total:
            return kept.decode("utf-8", "replace"), 0
        half = min(most // 2, self._half)
        left_out = self.total - 2 * half
        note = f"\n[… {left_out:,} bytes left out …]\n"
        return _decoded(bytes(self._head[:half])) + note + _decoded(kept[len(kept) - half :]), left_out


def _decoded(part: bytes) -> str:
    # A cut may split a character; the halves of it are dropped rather than shown as noise.
    return part.decode("utf-8", "ignore") if b"\0" not in part else part.decode("utf-8", "replace")


class Output:
    """Both streams; together they keep at most `most` bytes."""

    def __init__(self, most: int, flood: int, on_flood: Callable[[], None]) -> None:
        self._most, self._flood, self._on_flood = most, flood, on_flood
        self.stdout, self.stderr = Stream(most), Stream(most)

    async def pump(self, source: asyncio.StreamReader, into: Stream) -> None:
        """Everything the source gives until its end has been taken."""
        while chunk := await source.read(CHUNK):
            into.add(chunk)
            if self.stdout.total + self.stderr.total > self._flood:
                # Read on all the same: whoever writes has to notice its end, not a full pipe.
                self._on_flood()

    def texts(self) -> tuple[str, str, int]:
        """stdout, stderr, and how many bytes were left out of the two; the shorter one is kept whole if it can be."""
        if self.stdout.total + self.stderr.total <= self._most:
            shares = self._most, self._most
        else:
            small = min(self.stdout.total, self.stderr.total, self._most // 2)
            large = self._most - small
            shares = (small, large) if self.stdout.total <= self.stderr.total else (large, small)
        stdout, cut = self.stdout.text(shares[0])
        stderr, also_cut = self.stderr.text(shares[1])
        return stdout, stderr, cut + also_cut
