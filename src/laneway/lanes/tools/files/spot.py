"""A place about to be changed: its folder held open, and what is there looked at and kept."""

from __future__ import annotations

import os
from types import TracebackType
from typing import Self

from laneway.domain.files import ABSENT, Change, Image, Kind
from laneway.sandbox.copies import Copies
from laneway.sandbox.images import look, make_folder
from laneway.sandbox.paths import PathRefused, Place, open_folder

NEW_FILE, NEW_FOLDER = 0o644, 0o755


class Spot:
    """One name in one open folder; folders on the way to it may still be missing."""

    def __init__(self, where: Place, asked: str) -> None:
        self.where, self.asked, self.name = where, asked, where.parts[-1]
        self.missing: list[str] = []
        self._at = self._open()
        self.owner = _owner(self._at)
        self.before: Image = ABSENT
        self._seen = self._stamp()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._at)

    @property
    def at(self) -> int:
        """The open folder, once none is missing."""
        return self._at

    @property
    def path(self) -> str:
        return "/".join(self.where.parts)

    def keep(self, copies: Copies) -> Image:
        """What is here is known and, as far as it can be, kept; a folder or something stranger is refused."""
        if not self.missing:
            self.before = look(self._at, self.name, copies, surely=True)
        if self.before.kind is Kind.FOLDER:
            raise PathRefused("path.folder", f"{self.asked!r} is a folder, not a file.")
        if self.before.kind is Kind.OTHER:
            raise PathRefused("path.other", f"{self.asked!r} is not an ordinary file.")
        if self.before.kind is not Kind.ABSENT:
            self.owner = (self.before.uid, self.before.gid)
        return self.before

    def need(self, copies: Copies) -> Image:
        """As `keep`; that there is nothing is refused, too."""
        if self.keep(copies).kind is Kind.ABSENT:
            raise PathRefused("path.missing", f"There is no file {self.asked!r} in this thread's workspace.")
        return self.before

    def changes(self, after: Image) -> list[Change]:
        """What will be different: the folders that have to be made, and the thing itself."""
        first = len(self.where.parts) - 1 - len(self.missing)
        made = Image(Kind.FOLDER, "", 0, NEW_FOLDER, *self.owner)
        folders = ["/".join(self.where.parts[: first + count]) for count in range(1, len(self.missing) + 1)]
        return [*(Change(folder, ABSENT, made) for folder in folders), Change(self.path, self.before, after)]

    def ready(self) -> int:
        """The folder to work in, with all folders made; PathRefused if somebody changed the file meanwhile."""
        for name in self.missing:
            following = make_folder(self._at, name, NEW_FOLDER, self.owner)
            os.close(self._at)
            self._at = following
        self.missing = []
        if self._stamp() != self._seen:
            raise PathRefused("path.busy", f"{self.asked!r} was changed by something else just now. Look at it again.")
        return self._at

    def _open(self) -> int:
        parents = self.where.parts[:-1]
        for known in range(len(parents), -1, -1):
            try:
                at = open_folder(self.where.root, parents[:known])
            except FileNotFoundError:
                continue
            except OSError:
                raise PathRefused(
                    "path.through", f"{self.asked!r} leads through something that is not a folder."
                ) from None
            self.missing = list(parents[known:])
            return at
        raise PathRefused("path.root", "This thread's workspace is gone.")

    def _stamp(self) -> tuple[int, ...] | None:
        if self.missing:
            return None
        try:
            about = os.stat(self.name, dir_fd=self._at, follow_symlinks=False)
        except FileNotFoundError:
            return None
        except OSError as reason:
            raise PathRefused(
                "path.unusable", f"{self.asked!r} is not a usable file name: {os.strerror(reason.errno or 0)}."
            ) from None
        return about.st_ino, about.st_size, about.st_mtime_ns, about.st_ctime_ns


def _owner(at: int) -> tuple[int, int]:
    """Whoever owns the folder owns what is made in it, so that commands running as somebody else can use it."""
    about = os.fstat(at)
    return about.st_uid, about.st_gid
