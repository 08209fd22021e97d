"""How long a recording is, and what it is called so that a transcription server knows it."""

from __future__ import annotations

import struct

FEWEST_BYTES_PER_SECOND = 600
"""Of the leanest codec people send (AMR at 4.75 kbit/s): what is not told is taken for this, which errs upwards."""

MOST_PIECES = 1_000
"""Of a file that are looked at: one could be made of nothing but beginnings."""

ENDINGS = {
    "audio/ogg": "ogg", "audio/wav": "wav", "audio/mpeg": "mp3", "audio/mp4": "m4a", "audio/flac": "flac",
    "video/mp4": "mp4", "video/webm": "webm", "audio/webm": "webm",
}  # fmt: skip
"""The formats that transcription servers take, by mime type."""


def seconds_of(content: bytes) -> float | None:
    """How long the recording is, where its format tells; None for others and for broken ones."""
    try:
        if content[:4] == b"RIFF":
            return _of_wav(content)
        if content[:4] == b"OggS":
            return _of_ogg(content)
    except (struct.error, ZeroDivisionError):
        return None
    return None


def longest_seconds(content: bytes) -> float:
    """The most it can last."""
    return len(content) / FEWEST_BYTES_PER_SECOND


def _of_wav(content: bytes) -> float | None:
    place, rate = 12, 0
    for _ in range(MOST_PIECES):
        if place + 8 > len(content):
            return None
        name = content[place : place + 4]
        (size,) = struct.unpack_from("<I", content, place + 4)
        if name == b"fmt ":
            (rate,) = struct.unpack_from("<I", content, place + 16)
        if name == b"data" and rate:
            # A recorder that was cut off, or that streams, leaves a length that is too large.
            return round(float(min(size, len(content) - place - 8)) / int(rate), 2)
        place += 8 + size + size % 2
    return None


def _of_ogg(content: bytes) -> float | None:
    last = content.rfind(b"OggS")
    (granules,) = struct.unpack_from("<q", content, last + 6)
    start = content[28:64]
    if start.startswith(b"OpusHead"):
        (skipped,) = struct.unpack_from("<H", start, 10)
        return round(max(0, int(granules) - int(skipped)) / 48_000, 2)
    if start.startswith(b"\x01vorbis"):
        (rate,) = struct.unpack_from("<I", start, 12)
        return round(int(granules) / int(rate), 2)
    return None
