"""What a tree of processes uses, read from /proc and the disk."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_DELETED = re.compile(r"^([0-9a-f]+)-([0-9a-f]+) \S+ \S+ \S+ (\d+) +(/.*) \(deleted\)$", re.MULTILINE)
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_DEEPEST = 128
"""Folders in folders that are looked at; each is kept open on the way down."""


def descendants(pid: int) -> list[int]:
    """Every living process below this one, parents before children; zombies are not alive."""
    found, queue = [], [pid]
    while queue:
        for child in _children(queue.pop()):
            found.append(child)
            queue.append(child)
    return [one for one in found if alive(one)]


def _children(pid: int) -> list[int]:
    kids: list[int] = []
    for thread in _names(f"/proc/{pid}/task"):
        kids += map(int, _read(f"/proc/{pid}/task/{thread}/children").split())
    return kids


def alive(pid: int) -> bool:
    """Whether the process exists and has not ended."""
    # The name may hold anything, even parentheses; the state follows the last one.
    state = _read(f"/proc/{pid}/stat").rpartition(")")[2].split()
    return bool(state) and state[0] not in ("Z", "X")


def memory(pids: list[int]) -> int:
    """Bytes of memory that belong to these processes; what they share with files does not count."""
    return sum(_memory(pid) for pid in pids)


def _memory(pid: int) -> int:
    status = _read(f"/proc/{pid}/status")
    return 1024 * sum(int(found) for found in re.findall(r"^Rss(?:Anon|Shmem):\s+(\d+) kB$", status, re.MULTILINE))


@dataclass(frozen=True, slots=True)
class Held:
    """What folders hold on disk."""

    bytes: int = 0
    files: int = 0
    hidden: bool = False
    """Whether there are folders that could not be looked into: too deep, or closed to us."""
    free: int = 0
    """What is left on the disk of the first folder."""


def held(folders: list[Path], pids: list[int], most_files: int) -> Held:
    """What these folders hold, with files that these processes keep open after deleting them.

    Counting ends as soon as there are too many files: how long it takes is bounded.
    """
    size, count, hidden = 0, 0, False
    for entry in (one for folder in folders for one in _sizes(str(folder))):
        hidden = hidden or entry is None
        size += entry or 0
        count += 1
        if count > most_files:
            break
    return Held(size + _deleted(pids), count, hidden, _free(folders))


def _free(folders: list[Path]) -> int:
    try:
        about = os.statvfs(folders[0])
    except (OSError, IndexError):
        return 0
    return about.f_bavail * about.f_frsize


def _sizes(root: str) -> Iterator[int | None]:
    """The size on disk of everything below; None for a folder that is hidden. No link is followed."""
    way: list[_Folder] = []
    names, at = [root], None
    try:
        while names or way:
            if not names:
                os.close(way.pop().at)
                names, at = (way[-1].pending, way[-1].at) if way else ([], None)
                continue
            try:
                following = os.open(names.pop(), _DIRECTORY, dir_fd=at)
            except PermissionError:
                yield None
                continue
            except OSError:
                # Gone meanwhile, or a link in its place: nothing to count.
                continue
            way.append(_Folder(following))
            yield from way[-1].look()
            if len(way) > _DEEPEST and way[-1].pending:
                way[-1].pending.clear()
                yield None
            names, at = way[-1].pending, following
    finally:
        for folder in way:
            os.close(folder.at)


class _Folder:
    """A folder on the way down, and the folders in it that are still to be looked at."""

    def __init__(self, at: int) -> None:
        self.at = at
        self.pending: list[str] = []

    def look(self) -> Iterator[int]:
        with os.scandir(self.at) as entries:
            for entry in entries:
                with suppress(OSError):
                    if entry.is_dir(follow_symlinks=False):
                        self.pending.append(entry.name)
                    yield entry.stat(follow_symlinks=False).st_blocks * 512


def _deleted(pids: list[int]) -> int:
    """Bytes of files without a name that these processes hold open or mapped."""
    sizes: dict[int, int] = {}
    for pid in pids:
        for inode, size in (*_open_deleted(pid), *_mapped_deleted(pid)):
            sizes[inode] = max(size, sizes.get(inode, 0))
    return sum(sizes.values())


def _open_deleted(pid: int) -> Iterator[tuple[int, int]]:
    for number in _names(f"/proc/{pid}/fd"):
        link = Path(f"/proc/{pid}/fd/{number}")
        try:
            if str(link.readlink()).endswith(" (deleted)"):
                about = link.stat()
                yield about.st_ino, about.st_blocks * 512
        except OSError:
            continue


def _mapped_deleted(pid: int) -> Iterator[tuple[int, int]]:
    for start, end, inode, path in _DELETED.findall(_read(f"/proc/{pid}/maps")):
        if not path.startswith(("/memfd:", "/dev/zero", "/SYSV")):
            yield int(inode), int(end, 16) - int(start, 16)


def _names(folder: str) -> list[str]:
    try:
        return [path.name for path in Path(folder).iterdir()]
    except OSError:
        return []


def _read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
