"""The bytes of a log, in pieces: plain, or compressed with Zstandard."""

from __future__ import annotations

import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PIECE = 1 << 20
"""Bytes that are in memory at once."""
LARGEST_DOCUMENT = 64 << 20


class Unreadable(Exception):
    """The file cannot be read, or not to its end; the message says why."""


def pieces(path: Path) -> Iterator[bytes]:
    """Yields the file's bytes; of `.zst` what they stand for. Unreadable where they end against expectation."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise Unreadable("it is no file")
        with path.open("rb") as file:
            raw = iter(lambda: file.read(PIECE), b"")
            yield from _unpacked(raw) if path.suffix == ".zst" else raw
    except (OSError, ValueError) as error:
        raise Unreadable(getattr(error, "strerror", None) or str(error)) from error


def document(path: Path) -> bytes:
    """The whole file; Unreadable if it is too large for that."""
    content = bytearray()
    for piece in pieces(path):
        content += piece
        if len(content) > LARGEST_DOCUMENT:
            raise Unreadable(f"it is larger than {LARGEST_DOCUMENT >> 20} MB")
    return bytes(content)


def _unpacked(raw: Iterator[bytes]) -> Iterator[bytes]:
    """The content of all frames, one after the other; never more of it at once than a piece."""
    zstd = zstandard()
    unpack, within = zstd.ZstdDecompressor(), False
    for packed in raw:
        while packed or not unpack.needs_input:
            within = True
            try:
                piece = unpack.decompress(packed, max_length=PIECE)
            except zstd.ZstdError as error:
                raise Unreadable(f"the compressed data is damaged: {error}") from error
            packed = b""
            if piece:
                yield piece
            if unpack.eof:
                packed, unpack, within = unpack.unused_data, zstd.ZstdDecompressor(), False
    if within:
        raise Unreadable("the compressed data ends too early")


def zstandard() -> Any:
    """Python's own module, from 3.14 on; before, the same one from a package."""
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
    return zstd
