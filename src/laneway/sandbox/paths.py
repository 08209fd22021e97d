"""Paths a model names: resolved through links and `..`, kept below one folder, opened one part at a time.

Resolving alone is not enough: between the look and the opening, a part may be swapped for a link that leads out. So
every part is opened from the one before it, and none that is a link is followed.
"""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from uuid import UUID

from laneway.sandbox.sensitive_names import is_guard, is_sensitive

LONGEST_PATH, LONGEST_NAME = 4000, 255
"""In bytes: what Linux takes, less what is needed for a temporary name."""

WORKSPACE = "this thread's workspace"
# Joiners are part of names in Persian and of many emoji; all other invisible characters only hide something.
_JOINERS = "\u200c\u200d"
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class PathRefused(Exception):
    """The path is not used; `rule` names what refuses it, the message says why, and nothing of what lies outside."""

    def __init__(self, rule: str, message: str) -> None:
        super().__init__(message)
        self.rule = rule


def workspaces_of(home: Path) -> Path:
    """The folder that holds all workspaces."""
    return home / "workspaces"


def workspace_of(home: Path, thread_id: UUID) -> Path:
    """The thread's own folder is there, closed to other users of this machine, and returned."""
    folder = workspaces_of(home) / str(thread_id)
    make_private(folder)
    return folder


def make_private(folder: Path) -> None:
    """The folder is there; those that had to be made for it are closed to other users of this machine."""
    if not folder.parent.exists():
        make_private(folder.parent)
    folder.mkdir(mode=0o700, exist_ok=True)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a path leads: a folder that is no link on its way, and the way below it."""

    root: Path
    parts: tuple[str, ...]

    @property
    def shown(self) -> str:
        return "/".join(self.parts) or "."


def place(
    root: Path, path: str, called: str = WORKSPACE, *, follow: bool = True, writing: bool = False, folder: bool = False
) -> Place:
    """The place of `path` below `root`, or PathRefused.

    Without `follow` the last part is the thing itself, link or not. A `folder` may be the root and is not refused for
    its name; what is in it still is.
    """
    _check(path, folder)
    try:
        real_root = root.resolve(strict=True)
    except (OSError, RuntimeError):
        raise PathRefused("path.root", f"{called[0].upper()}{called[1:]} does not exist or cannot be read.") from None
    target, named = _resolved(real_root, path), PurePosixPath(path)
    is_itself = not follow and named.name not in ("", "..")
    real = _resolved(real_root, str(named.parent)) / named.name if is_itself else target
    # Where a link leads counts even if only the link itself is meant.
    if not (target.is_relative_to(real_root) and real.is_relative_to(real_root)):
        raise PathRefused("path.outside", f"{path!r} is outside {called}.")
    parts = real.relative_to(real_root).parts
    if not parts and not folder:
        raise PathRefused("path.folder", f"{path!r} is a folder, not a file.")
    # The name asked for counts too: a harmless name may link to a secret, and a secret name to anything.
    asked = named.relative_to(root) if named.is_relative_to(root) else named
    _check_names(path, [*parts, *target.relative_to(real_root).parts, *asked.parts], writing)
    return Place(real_root, parts)


def _check(path: str, folder: bool) -> None:
    """Returns only if this can be a path at all."""
    if not path.strip():
        raise PathRefused("path.empty", f"The path is empty. Name {'a folder' if folder else 'a file, not a folder'}.")
    strange = next((char for char in path if not _is_fit(char)), None)
    if strange is not None:
        called = unicodedata.name(strange, "a control character").capitalize()
        raise PathRefused(
            "path.characters", f"{path[:200]!a} is not a usable file name: U+{ord(strange):04X} ({called}) is in it."
        )
    if len(path.encode()) > LONGEST_PATH or any(len(part.encode()) > LONGEST_NAME for part in path.split("/")):
        raise PathRefused("path.long", f"{path[:60]!r}… is not a usable file name: it is too long.")
    if path == "~" or path.startswith("~/"):
        raise PathRefused("path.home", f"{path!r} is not in the workspace. Write paths relative to it, without `~`.")


def _is_fit(char: str) -> bool:
    """Whether a name may hold it: no NUL, control, direction or other invisible characters, no broken ones."""
    return char in _JOINERS or unicodedata.category(char) not in ("Cc", "Cf", "Cs", "Zl", "Zp")


def _resolved(root: Path, path: str) -> Path:
    try:
        return (root / path).resolve()
    except (OSError, RuntimeError, ValueError):
        raise PathRefused("path.circle", f"{path!r} is not a usable file name: its links lead in a circle.") from None


def _check_names(path: str, parts: Sequence[str], writing: bool) -> None:
    if is_sensitive(parts):
        done = "touched" if writing else "read"
        raise PathRefused("path.secret", f"{path!r} has a name that usually holds secrets, so it is not {done}.")
    if writing and is_guard(parts):
        raise PathRefused("path.guard", f"{path!r} holds hooks or permissions, so it is not changed.")


def open_folder(root: Path, parts: Sequence[str]) -> int:
    """An open descriptor of a folder below `root`, reached without following any link."""
    at = os.open(root, _FOLDER)
    for part in parts:
        try:
            following = os.open(part, _FOLDER, dir_fd=at)
        finally:
            os.close(at)
        at = following
    return at


@contextmanager
def opened_folder(root: Path, parts: Sequence[str]) -> Iterator[int]:
    """That descriptor, closed afterwards."""
    at = open_folder(root, parts)
    try:
        yield at
    finally:
        os.close(at)


def open_file(where: Place) -> int:
    """An open descriptor to read from whatever is at the place; it waits for nobody, and follows no link."""
    with opened_folder(where.root, where.parts[:-1]) as at:
        # Without O_NONBLOCK, opening a named pipe would wait for a writer.
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
        return os.open(where.parts[-1] if where.parts else ".", flags, dir_fd=at)
