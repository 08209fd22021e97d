"""What a tree of processes uses, read from /proc and the disk."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_DELETED = re.compile(r"^([0-9a-f]+)-([0-9a-f]+) \S+ \S+ \S+ (\d+) +(/.*) \(deleted\)$", re.MULTILINE)
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_LONGEST_PATH = 1000
"""Characters the kernel surely takes at once; deeper folders are opened piece by piece, so that none can hide."""


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

    bytes: int
    files: int


def held(folders: list[Path], pids: list[int], most_files: int) -> Held:
    """What these folders hold, with files that these processes keep open after deleting them.

    Counting ends as soon as there are too many files: how long it takes is bounded.
    """
    size = count = 0
    for folder in folders:
        for entry in _sizes(str(folder)):
            count += 1
            size += entry
            if count > most_files:
                return Held(size, count)
    return Held(size + _deleted(pids), count)


def _sizes(root: str) -> Iterator[int]:
    """The size on disk of everything below; no link is followed."""
    folders = [""]
    while folders:
        below = folders.pop()
        try:
            at = _open(root, below)
        except OSError:
            continue
        try:
            with os.scandir(at) as entries:
                for entry in entries:
                    try:
                        if entry.is_dir(follow_symlinks=False):
                            folders.append(f"{below}/{entry.name}" if below else entry.name)
                        yield entry.stat(follow_symlinks=False).st_blocks * 512
                    except OSError:
                        continue
        finally:
            os.close(at)


def _open(root: str, below: str) -> int:
    at = os.open(root, _DIRECTORY)
    while below:
        cut = len(below) if len(below) <= _LONGEST_PATH else below.rindex("/", 0, _LONGEST_PATH)
        try:
            following = os.open(below[:cut], _DIRECTORY, dir_fd=at)
        finally:
            os.close(at)
        at, below = following, below[cut + 1 :]
    return at


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
