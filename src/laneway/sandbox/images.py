"""Looks at what is at a path, and puts there what was: always from an open folder, never through a link."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat

from laneway.domain.files import ABSENT, Image, Kind
from laneway.sandbox.copies import Copies, name_of

MOST_KEPT = 20 * 1024 * 1024
"""A larger file is not copied before it is changed, and then cannot be restored."""

TOO_LARGE = f"it was larger than {MOST_KEPT // 1024**2} MB, and of such files no copy is kept"
NO_ROOM = "the room for copies was used up, so none was kept"
UNREADABLE = "it could not be read, so no copy was kept"
NO_ORDINARY = "it was neither a file, a folder nor a link"


def look(at: int, name: str, copies: Copies | None = None, *, surely: bool = False, shallow: bool = False) -> Image:
    """What `name` in the open folder is; with `copies`, its content is kept there. `shallow` reads no file."""
    try:
        about = os.stat(name, dir_fd=at, follow_symlinks=False)
    except (FileNotFoundError, NotADirectoryError):
        return ABSENT
    if shallow and stat.S_ISREG(about.st_mode):
        return stamped(about, UNREADABLE)
    return image_of(at, name, about, copies, surely=surely)


def image_of(at: int, name: str, about: os.stat_result, copies: Copies | None = None, *, surely: bool = False) -> Image:
    """The image of what was just looked at."""
    owner = (about.st_uid, about.st_gid)
    if stat.S_ISDIR(about.st_mode):
        return Image(Kind.FOLDER, "", 0, about.st_mode & 0o777, *owner)
    if stat.S_ISLNK(about.st_mode):
        link = Image(Kind.LINK, "", 0, 0o777, *owner)
        return _kept(link, os.fsencode(os.readlink(name, dir_fd=at)), copies, surely)
    if not stat.S_ISREG(about.st_mode):
        return Image(Kind.OTHER, _stamp(about), 0, about.st_mode & 0o777, *owner, lost=NO_ORDINARY)
    if about.st_size > MOST_KEPT:
        return stamped(about, TOO_LARGE)
    try:
        content = content_of(at, name)
    except OSError:
        return stamped(about, UNREADABLE)
    return stamped(about, TOO_LARGE) if len(content) > MOST_KEPT else _kept(stamped(about, ""), content, copies, surely)


def stamped(about: os.stat_result, lost: str) -> Image:
    """The image of a file nobody has read: by size and time only."""
    return Image(Kind.FILE, _stamp(about), about.st_size, about.st_mode & 0o777, about.st_uid, about.st_gid, lost)


def content_of(at: int, name: str, most: int = MOST_KEPT) -> bytes:
    """The file's bytes, at most one more than `most`; OSError if it is no file or cannot be read."""
    descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK, dir_fd=at)
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(0, "not an ordinary file")
        return file.read(most + 1)


def _kept(image: Image, content: bytes, copies: Copies | None, surely: bool) -> Image:
    name = copies.keep(content, surely=surely) if copies else name_of(content)
    lost = NO_ROOM if name is None else ""
    return Image(image.kind, name or name_of(content), len(content), image.mode, image.uid, image.gid, lost)


def _stamp(about: os.stat_result) -> str:
    return f"stat:{about.st_size}:{about.st_mtime_ns}:{about.st_ino}"


def replace(at: int, name: str, content: bytes, mode: int, owner: tuple[int, int]) -> None:
    """The file has this content, permissions and owner, all at once: nobody ever sees half of it."""
    unfinished = f".laneway-{secrets.token_hex(8)}"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(unfinished, flags, 0o600, dir_fd=at)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            _own(descriptor, owner)
            os.fchmod(descriptor, mode)
            file.flush()
            os.fsync(descriptor)
        os.rename(unfinished, name, src_dir_fd=at, dst_dir_fd=at)
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(unfinished, dir_fd=at)
        raise


def relink(at: int, name: str, target: bytes, owner: tuple[int, int]) -> None:
    """The link leads to `target`."""
    unfinished = f".laneway-{secrets.token_hex(8)}"
    os.symlink(target, os.fsencode(unfinished), dir_fd=at)
    with contextlib.suppress(PermissionError):
        os.chown(unfinished, *owner, dir_fd=at, follow_symlinks=False)
    os.rename(unfinished, name, src_dir_fd=at, dst_dir_fd=at)


def make_folder(at: int, name: str, mode: int, owner: tuple[int, int]) -> int:
    """The folder is there; returns it open."""
    os.mkdir(name, 0o700, dir_fd=at)
    made = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=at)
    _own(made, owner)
    os.fchmod(made, mode)
    return made


def _own(descriptor: int, owner: tuple[int, int]) -> None:
    """It belongs to `owner` where we may give things away; else to us, as everything we make."""
    with contextlib.suppress(PermissionError):
        os.fchown(descriptor, *owner)
