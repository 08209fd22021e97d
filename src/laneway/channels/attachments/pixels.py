"""How large an image is, from its first bytes: nothing is decoded, and no metadata is looked at."""

from __future__ import annotations

import struct

MOST_PIECES = 2_000
"""Of a file that are looked at: one could be made of nothing but beginnings."""
_SIZES_IN_JPEG = frozenset({*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC})


def size_of(content: bytes) -> tuple[int, int] | None:
    """Width and height as the file says; None if it does not say so in a way known here."""
    try:
        return _size(content)
    except (struct.error, IndexError):
        return None


def _size(content: bytes) -> tuple[int, int] | None:
    if content.startswith(b"\x89PNG"):
        return _pair(">II", content, 16)
    if content.startswith(b"GIF8"):
        return _pair("<HH", content, 6)
    if content.startswith(b"\xff\xd8"):
        return _of_jpeg(content)
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        return _of_webp(content)
    if content.startswith(b"BM"):
        width, height = struct.unpack_from("<ii", content, 18)
        return abs(width), abs(height)
    return None


def _pair(form: str, content: bytes, place: int) -> tuple[int, int]:
    width, height = struct.unpack_from(form, content, place)
    return width, height


def _of_jpeg(content: bytes) -> tuple[int, int] | None:
    place = 2
    for _ in range(MOST_PIECES):
        if place + 9 >= len(content):
            return None
        if content[place] != 0xFF:
            return None
        mark = content[place + 1]
        if mark == 0xFF:
            place += 1
            continue
        if mark in _SIZES_IN_JPEG:
            height, width = struct.unpack_from(">HH", content, place + 5)
            return width, height
        alone = mark == 0x01 or 0xD0 <= mark <= 0xD9
        place += 2 if alone else 2 + struct.unpack_from(">H", content, place + 2)[0]
    return None


def _of_webp(content: bytes) -> tuple[int, int] | None:
    kind = content[12:16]
    if kind == b"VP8 ":
        width, height = struct.unpack_from("<HH", content, 26)
        return width & 0x3FFF, height & 0x3FFF
    if kind == b"VP8L":
        (bits,) = struct.unpack_from("<I", content, 21)
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if kind == b"VP8X":
        wide, high = content[24:27], content[27:30]
        return int.from_bytes(wide, "little") + 1, int.from_bytes(high, "little") + 1
    return None
