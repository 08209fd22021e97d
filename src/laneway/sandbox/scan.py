"""What a whole workspace holds, found quickly: only files that look changed since the last time are read again."""

from __future__ import annotations

import errno
import json
import os
import stat
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from laneway.domain.files import ABSENT, Change, Image, Kind
from laneway.sandbox.copies import Copies
from laneway.sandbox.images import image_of, look, stamped
from laneway.sandbox.paths import opened_folder

MOST_FILES = 20_000
MOST_BYTES = 256 * 1024 * 1024
DEEPEST = 64
UNSETTLED_NANOSECONDS = 50_000_000
"""A file changed so shortly before it was read may change again without its times showing it."""

REGENERABLE = frozenset(
    {"node_modules", ".venv", "venv", "__pycache__", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".tox", "target"}
)
"""Folders that programs make again by themselves: looked at last, so that limits hit them first."""

MOST_TOLD = 10
NOT_SEEN = "it was beyond what a snapshot covers"
Fingerprint = tuple[int, int, int, int]


@dataclass
class Manifest:
    """What a workspace held at one moment.

    `unseen` says in words what was not looked at, `blind` below which folders that was; an empty name is the whole
    workspace, since what is new somewhere may have come from where nobody looked.
    """

    entries: dict[str, tuple[Fingerprint, Image]] = field(default_factory=dict)
    unseen: list[str] = field(default_factory=list)
    blind: list[str] = field(default_factory=list)

    def image(self, path: str) -> Image:
        """What was at the path, as far as anybody looked."""
        found = self.entries.get(path)
        if found is not None:
            return found[1]
        seen = not any(folder == "" or path.startswith(f"{folder}/") for folder in self.blind)
        return ABSENT if seen else Image(Kind.UNKNOWN, lost=NOT_SEEN)

    def contents(self) -> Iterator[str]:
        """The names of all copies it needs."""
        return (image.content for _, image in self.entries.values() if image.content.startswith("sha256:"))

    def to_json(self) -> str:
        entries = {
            path: [*print_, image.kind, image.content, image.size, image.mode, image.uid, image.gid, image.lost]
            for path, (print_, image) in self.entries.items()
        }
        stored = {"unseen": self.unseen, "blind": self.blind, "entries": entries}
        return json.dumps(stored, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> Manifest:
        stored: dict[str, Any] = json.loads(text)
        entries = {
            path: ((row[0], row[1], row[2], row[3]), Image(Kind(row[4]), *row[5:]))
            for path, row in stored["entries"].items()
        }
        return cls(entries, stored["unseen"], stored["blind"])


@dataclass(frozen=True, slots=True)
class Caps:
    files: int = MOST_FILES
    bytes: int = MOST_BYTES
    depth: int = DEEPEST


class Scan:
    """One look at a workspace."""

    def __init__(self, root: Path, known: Manifest, copies: Copies, caps: Caps | None = None) -> None:
        self._root, self._known, self._copies, self._caps = root, known, copies, caps or Caps()
        self._found = Manifest()
        self._bytes = 0
        self._later: list[tuple[str, ...]] = []
        self._now = 0
        self._full = False

    def run(self) -> Manifest:
        """What is there now."""
        self._now = time.time_ns()
        if self._enter(()):
            self._miss(f"files beyond the first {self._caps.files}")
            return self._found
        for index, parts in enumerate(self._later):
            if self._enter(parts, deferred=True):
                # What can be made again may be left out without casting doubt on anything else.
                names = ["/".join(left) for left in self._later[index:]]
                self._miss(f"all of {', '.join(names[:3])}", *names)
                break
        return self._found

    def _enter(self, parts: tuple[str, ...], *, deferred: bool = False) -> bool:
        """Everything below the folder is found; True if there is more than may be."""
        try:
            with opened_folder(self._root, parts) as at:
                self._folder(at, parts, deferred)
        except OSError:
            self._miss(f"the folder {'/'.join(parts) or '.'}")
        return self._full

    def _folder(self, at: int, parts: tuple[str, ...], deferred: bool) -> None:
        with os.scandir(at) as listing:
            entries = sorted(listing, key=lambda entry: entry.name)
        for entry in entries:
            if len(self._found.entries) >= self._caps.files:
                self._full = True
                return
            about = _about(entry)
            if about is None:
                continue
            self._entry(at, parts, entry.name, about)
            if stat.S_ISDIR(about.st_mode):
                self._below(at, (*parts, entry.name), deferred)

    def _below(self, at: int, parts: tuple[str, ...], deferred: bool) -> None:
        if not deferred and parts[-1] in REGENERABLE:
            self._later.append(parts)
        elif len(parts) >= self._caps.depth:
            self._miss(f"what is more than {self._caps.depth} folders deep")
        else:
            try:
                inside = os.open(parts[-1], os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=at)
            except OSError:
                return self._miss(f"the folder {'/'.join(parts)}")
            try:
                self._folder(inside, parts, deferred)
            finally:
                os.close(inside)
        return None

    def _entry(self, at: int, parts: tuple[str, ...], name: str, about: os.stat_result) -> None:
        path = "/".join((*parts, name))
        print_ = (about.st_size, about.st_mtime_ns, about.st_ino, about.st_ctime_ns)
        known = self._known.entries.get(path)
        if known is not None and known[0] == print_ and not stat.S_ISDIR(about.st_mode):
            image = known[1]
        elif stat.S_ISREG(about.st_mode) and self._bytes + about.st_size > self._caps.bytes:
            image = stamped(
                about, f"the workspace held more than {self._caps.bytes // 1024**2} MB, so no copy was kept"
            )
        else:
            image = image_of(at, name, about, self._copies)
        if not image.lost:
            self._bytes += image.size
        if self._now - about.st_ctime_ns < UNSETTLED_NANOSECONDS:
            print_ = (0, 0, 0, 0)
        self._found.entries[path] = (print_, image)

    def _miss(self, what: str, *folders: str) -> None:
        if what not in self._found.unseen and len(self._found.unseen) < MOST_TOLD:
            self._found.unseen.append(what)
        self._found.blind += [folder for folder in folders or ("",) if folder not in self._found.blind]


def _about(entry: os.DirEntry[str]) -> os.stat_result | None:
    try:
        return entry.stat(follow_symlinks=False)
    except FileNotFoundError:
        return None


def differences(root: Path, before: Manifest, after: Manifest) -> list[Change]:
    """Every path that is not what it was."""
    changes = []
    for path in sorted({*before.entries, *after.entries}):
        was, now = before.image(path), after.image(path)
        if now.kind is Kind.UNKNOWN:
            now = look_at(root, path)
        if not was.same(now):
            changes.append(Change(path, was, now))
    return changes


def look_at(root: Path, path: str, *, shallow: bool = False) -> Image:
    """What is at a path below `root` now; nothing, if there is no way to it without a link. `shallow` reads no file."""
    *parents, name = path.split("/")
    try:
        with opened_folder(root, parents) as at:
            return look(at, name, shallow=shallow)
    except (FileNotFoundError, NotADirectoryError):
        return ABSENT
    except OSError as reason:
        # ELOOP: a link has taken the place of a folder on the way, so the path itself is not there.
        return ABSENT if reason.errno == errno.ELOOP else Image(Kind.UNKNOWN, lost="it could not be looked at")
