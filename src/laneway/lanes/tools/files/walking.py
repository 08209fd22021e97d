"""Goes through a folder of a workspace, every part opened from the one before it, within bounds."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterator
from dataclasses import dataclass

from laneway.sandbox.paths import Place, opened_folder

MOST_ENTRIES = 50_000
DEEPEST = 64
SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Found:
    """Something in a folder: the way to it, what it is, how large."""

    parts: tuple[str, ...]
    kind: str
    bytes: int

    @property
    def path(self) -> str:
        return "/".join(self.parts)


class Walk:
    """All that is below a place, folder by folder in the order of names; `cut` says why it ended early, if it did."""

    def __init__(self, start: Place) -> None:
        self._start = start
        self._left = MOST_ENTRIES
        self._until = time.monotonic() + SECONDS
        self.cut: str | None = None

    def __iter__(self) -> Iterator[Found]:
        waiting = [self._start.parts]
        while waiting and self.cut is None:
            folders = []
            for found in self._inside(waiting.pop()):
                if found.kind == "folder":
                    folders.append(found.parts)
                yield found
            waiting += reversed(folders)

    def _inside(self, parts: tuple[str, ...]) -> list[Found]:
        if len(parts) > DEEPEST:
            return []
        try:
            entries = inside(Place(self._start.root, parts))
        except OSError:
            return []
        self._left -= len(entries)
        if self._left < 0:
            self.cut = f"Only the first {MOST_ENTRIES} names were looked at."
        elif time.monotonic() > self._until:
            self.cut = f"Looking took longer than {SECONDS:.0f} seconds and was ended."
        return entries


def inside(folder: Place) -> list[Found]:
    """What is in one folder, in the order of names; OSError if it is none or cannot be opened."""
    with opened_folder(folder.root, folder.parts) as at, os.scandir(at) as listing:
        return sorted((_found(folder.parts, entry) for entry in listing), key=lambda found: found.parts)


def _found(parts: tuple[str, ...], entry: os.DirEntry[str]) -> Found:
    try:
        about = entry.stat(follow_symlinks=False)
    except OSError:
        return Found((*parts, entry.name), "other", 0)
    return Found((*parts, entry.name), _kind(about.st_mode), about.st_size if stat.S_ISREG(about.st_mode) else 0)


def _kind(mode: int) -> str:
    kinds = {stat.S_IFREG: "file", stat.S_IFDIR: "folder", stat.S_IFLNK: "link"}
    return kinds.get(stat.S_IFMT(mode), "other")
