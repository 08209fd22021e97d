"""Who a command runs as when the server is root: a user of its own for each workspace, who owns nothing else."""

from __future__ import annotations

import os
import stat
import zlib
from dataclasses import dataclass
from pathlib import Path

from laneway.sandbox.contract import BoundaryBroken

FIRST_UID, UIDS = 1_900_000_000, 65_536
"""A range nobody gives out: below what old programs take for negative, above what containers are given."""

NOBODY = 65_534
_DEEPEST = 200
"""Folders within folders whose owner is set right; the server makes none deeper."""


@dataclass(frozen=True, slots=True)
class Identity:
    """A user and group id."""

    uid: int
    gid: int


def identity_of(workspace: Path) -> Identity | None:
    """The user that runs commands in this workspace; None if the server is not root and runs them as itself.

    Separate ids keep the process limit of one workspace from being used up by another, and its files from its reach.
    """
    if os.geteuid() != 0:
        return None
    number = FIRST_UID + zlib.crc32(str(workspace.resolve()).encode()) % UIDS
    uid = number if _mapped(number) else NOBODY
    return Identity(uid, uid)


def _mapped(uid: int) -> bool:
    """Whether this id exists here: in some containers only the first 65,536 do."""
    try:
        ranges = [tuple(map(int, line.split())) for line in Path("/proc/self/uid_map").read_text().splitlines()]
    except OSError:
        return False
    return any(first <= uid < first + count for first, _, count in ranges)


def hand_over(workspace: Path, to: Identity | None) -> None:
    """All of the workspace belongs to the user who will work in it; links are not followed."""
    if to is None:
        return
    try:
        at = os.open(workspace, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as error:
        raise BoundaryBroken(f"The workspace {workspace} cannot be opened: {error.strerror}.") from None
    try:
        _give(at, to)
        _hand_over_below(at, to, _DEEPEST)
    except OSError as error:
        raise BoundaryBroken(f"The workspace {workspace} cannot be handed over: {error.strerror}.") from None
    finally:
        os.close(at)


def _give(at: int, to: Identity) -> None:
    if os.fstat(at).st_uid != to.uid:
        os.fchown(at, to.uid, to.gid)


def _hand_over_below(at: int, to: Identity, deepest: int) -> None:
    with os.scandir(at) as entries:
        for entry in entries:
            try:
                _hand_over_entry(at, entry, to, deepest)
            except FileNotFoundError:
                # A run in the same workspace may remove it meanwhile.
                continue


def _hand_over_entry(at: int, entry: os.DirEntry[str], to: Identity, deepest: int) -> None:
    about = entry.stat(follow_symlinks=False)
    if stat.S_ISDIR(about.st_mode):
        if deepest:
            try:
                inner = os.open(entry.name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=at)
            except NotADirectoryError:
                return
            try:
                _give(inner, to)
                _hand_over_below(inner, to, deepest - 1)
            finally:
                os.close(inner)
    elif about.st_uid != to.uid and about.st_nlink == 1:
        # A file with a second name may be somebody's outside; it stays as it is.
        os.chown(entry.name, to.uid, to.gid, dir_fd=at, follow_symlinks=False)
