"""Puts paths of a workspace back to what they were, each wholly or not at all, unless they changed since."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from laneway.domain.files import Image, Kind
from laneway.sandbox.copies import Copies
from laneway.sandbox.images import make_folder, relink, replace
from laneway.sandbox.paths import opened_folder
from laneway.sandbox.scan import look_at

GONE = "the copy of what it was is no longer kept"
NOT_EMPTY = "the folder holds something that was made since"
WORDS = {
    Kind.ABSENT: "it is gone",
    Kind.FOLDER: "a folder is there now",
    Kind.LINK: "a link is there now",
    Kind.FILE: "a file is there now",
    Kind.OTHER: "something else is there now",
    Kind.UNKNOWN: "nobody can look at it now",
}


@dataclass(frozen=True, slots=True)
class Wish:
    """What shall be at a path again, and what must be there now."""

    target: Image
    expected: Image


@dataclass
class Restored:
    """Which paths are as they were, with what was done, and which are not, with the reason."""

    done: dict[str, str] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)


class Restoration:
    """One undoing in one workspace."""

    def __init__(self, root: Path, copies: Copies) -> None:
        self._root, self._copies = root, copies
        self._outcome = Restored()

    def run(self, wishes: Mapping[str, Wish]) -> Restored:
        """Everything that can be is as it was."""
        open_ = {path: wish.target for path, wish in sorted(wishes.items()) if self._is_open(path, wish)}
        self._move_back(wishes, open_)
        deepest_first = sorted(open_, key=lambda path: (-path.count("/"), path))
        for path in deepest_first:
            self._clear(path, open_[path])
        for kind in (Kind.FOLDER, Kind.FILE, Kind.LINK):
            for path, target in open_.items():
                if target.kind is kind and path not in self._outcome.refused:
                    self._attempt(path, partial(self._put, path, target))
        for path in deepest_first:
            # A folder may be one nobody may write in, so its permissions come last.
            if open_[path].kind is Kind.FOLDER and path not in self._outcome.refused:
                self._attempt(path, partial(self._set_mode, path, open_[path].mode))
        return self._outcome

    def _is_open(self, path: str, wish: Wish) -> bool:
        """Whether there is something to do; if not, the outcome says why."""
        now = look_at(self._root, path)
        if now.same(wish.target):
            self._outcome.done[path] = "as it was"
        elif not now.same(wish.expected):
            self._outcome.refused[path] = _changed_since(now, wish.expected)
        elif wish.target.lost:
            self._outcome.refused[path] = f"it cannot be restored: {wish.target.lost}"
        elif wish.target.content and not self._copies.has(wish.target.content):
            self._outcome.refused[path] = f"it cannot be restored: {GONE}"
        else:
            return True
        return False

    def _move_back(self, wishes: Mapping[str, Wish], open_: dict[str, Image]) -> None:
        """What was only moved is moved back: of a large file there is no copy, and it must not be lost twice."""
        moved = {wishes[path].expected.content: path for path, target in open_.items() if target.kind is Kind.ABSENT}
        for path in list(self._outcome.refused):
            target = wishes[path].target
            source = moved.get(target.content) if target.lost and target.content else None
            if source is not None and look_at(self._root, path).kind is Kind.ABSENT:
                del self._outcome.refused[path], open_[source], moved[target.content]
                self._attempt(path, partial(self._rename, source, path))
                told = self._outcome.refused.get(path)
                if told is not None:
                    self._outcome.refused[source] = told

    def _rename(self, source: str, path: str) -> None:
        *from_, old = source.split("/")
        *to, new = path.split("/")
        with self._parent(to) as into, self._writable(from_) as at:
            os.rename(old, new, src_dir_fd=at, dst_dir_fd=into)
        self._outcome.done |= {path: "put back", source: "moved back"}

    def _clear(self, path: str, target: Image) -> None:
        """What stands where nothing, or something of another kind, shall be is gone."""
        now = look_at(self._root, path)
        replaceable = {Kind.FILE, Kind.LINK}
        if now.kind is Kind.ABSENT or now.kind is target.kind or {now.kind, target.kind} <= replaceable:
            return
        self._attempt(path, partial(self._remove, path, now.kind))

    def _remove(self, path: str, kind: Kind) -> None:
        *parents, name = path.split("/")
        with self._writable(parents) as at:
            if kind is Kind.FOLDER:
                os.rmdir(name, dir_fd=at)
            else:
                os.unlink(name, dir_fd=at)
        self._outcome.done[path] = "removed"

    def _put(self, path: str, target: Image) -> None:
        *parents, name = path.split("/")
        owner = (target.uid, target.gid)
        with self._parent(parents) as at:
            if target.kind is Kind.FOLDER:
                with contextlib.suppress(FileExistsError):
                    os.close(make_folder(at, name, target.mode | 0o700, owner))
            else:
                content = self._copies.read(target.content)
                if content is None:
                    self._outcome.refused[path] = f"it cannot be restored: {GONE}"
                    return
                if target.kind is Kind.FILE:
                    replace(at, name, content, target.mode, owner)
                else:
                    relink(at, name, content, owner)
        self._outcome.done[path] = "put back"

    @contextmanager
    def _parent(self, parents: list[str]) -> Iterator[int]:
        """The open folder a path is in; one that was removed since is made again."""
        for depth in range(len(parents)):
            with self._writable(parents[:depth]) as at:
                about = os.fstat(at)
                with contextlib.suppress(FileExistsError):
                    os.close(make_folder(at, parents[depth], 0o755, (about.st_uid, about.st_gid)))
        with self._writable(parents) as at:
            yield at

    @contextmanager
    def _writable(self, parts: list[str]) -> Iterator[int]:
        """The open folder; if a command closed it to its own user, it can be written in until the block ends."""
        with opened_folder(self._root, parts) as at:
            mode, closed = stat.S_IMODE(os.fstat(at).st_mode), not os.access(".", os.W_OK, dir_fd=at)
            if closed:
                os.fchmod(at, mode | stat.S_IWUSR)
            try:
                yield at
            finally:
                if closed:
                    os.fchmod(at, mode)

    def _set_mode(self, path: str, mode: int) -> None:
        with opened_folder(self._root, path.split("/")) as at:
            os.fchmod(at, mode)

    def _attempt(self, path: str, work: Callable[[], None]) -> None:
        try:
            work()
        except OSError as reason:
            self._outcome.done.pop(path, None)
            full = reason.errno in (errno.ENOTEMPTY, errno.EEXIST)
            self._outcome.refused[path] = NOT_EMPTY if full else f"it could not be: {os.strerror(reason.errno or 0)}"


def _changed_since(now: Image, expected: Image) -> str:
    if now.kind is not expected.kind:
        return f"it changed since: {WORDS[now.kind]}"
    if now.content == expected.content:
        return "its permissions changed since"
    return "its content changed since"
