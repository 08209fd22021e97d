"""Follows what an agent draws: whether it has the whole screen, and whether the cursor begins a line."""

from __future__ import annotations

import re

_MODE = re.compile(rb"\x1b\[\?([\d;]+)([hl])")
_ALTERNATE = {b"47", b"1047", b"1049"}
_TO_UNDO = {b"25": b"h", b"1000": b"l", b"1002": b"l", b"1003": b"l", b"1004": b"l", b"1006": b"l", b"2004": b"l"}
"""Modes a killed program leaves behind, and what they are in a terminal nobody draws on."""
_LONGEST = 64
_UNFINISHED = re.compile(rb"\x1b(?:\[[\x20-\x3f]*|[\]PX^_][^\x07\x1b]*\x1b?)?$|[\xc2-\xf4][\x80-\xbf]{0,2}$")


class Screen:
    """The agent's side of the terminal, as far as it matters for putting a line of ours there."""

    def __init__(self) -> None:
        self.alternate = False
        self.at_line_start = True
        self._changed: dict[bytes, bytes] = {}
        self._tail = b""

    def feed(self, piece: bytes) -> None:
        """The piece has been drawn."""
        joined = self._tail + piece
        for found in _MODE.finditer(joined):
            for mode in found[1].split(b";"):
                if mode in _ALTERNATE:
                    self.alternate = found[2] == b"h"
                elif mode in _TO_UNDO:
                    self._changed[mode] = found[2]
        if piece:
            self.at_line_start = piece.endswith((b"\n", b"\r"))
        self._tail = joined[-_LONGEST:]

    @property
    def between(self) -> bool:
        """Whether something may be written now without falling into the middle of a sequence."""
        match = _UNFINISHED.search(self._tail)
        # A whole character at the end looks like the beginning of a longer one to the pattern; decoding tells.
        return match is None or (match[0][:1] != b"\x1b" and _whole(match[0]))

    def leave(self) -> bytes:
        """What makes the terminal an ordinary one again."""
        undone = b"".join(
            b"\x1b[?" + mode + usual for mode, usual in _TO_UNDO.items() if self._changed.get(mode, usual) != usual
        )
        return undone + (b"\x1b[?1049l" if self.alternate else b"") + (b"\x1b[0m" if undone else b"")

    def enter(self) -> bytes:
        """What brings back the modes `leave` undid."""
        redone = b"".join(b"\x1b[?" + mode + now for mode, now in self._changed.items() if now != _TO_UNDO[mode])
        return (b"\x1b[?1049h" if self.alternate else b"") + redone


def _whole(character: bytes) -> bool:
    try:
        character.decode()
    except UnicodeDecodeError:
        return False
    return True
