"""What a reader gives: text, trimmed, and what it found out on the way."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any


class Unreadable(Exception):
    """There is nothing to be had from this file; the message says why, in a few words."""


@dataclass(frozen=True, slots=True)
class Document:
    """The text of a document as far as it was read."""

    text: str
    cut: bool = False
    """Whether there is more than was read."""
    meta: dict[str, Any] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def trimmed(pieces: Iterable[str], characters: int) -> tuple[str, bool]:
    """The pieces one after the other, no more than so many characters, and whether that was all."""
    kept: list[str] = []
    room = characters
    for piece in pieces:
        kept.append(piece[:room])
        room -= len(piece)
        if room < 0:
            return "".join(kept), True
    return "".join(kept), False


def tidied(text: str) -> str:
    """The text without NULs, trailing blanks, and more than one empty line in a row."""
    lines = [line.rstrip() for line in text.replace("\0", "").splitlines()]
    kept = [line for place, line in enumerate(lines) if line or (place and lines[place - 1])]
    return "\n".join(kept).strip()
