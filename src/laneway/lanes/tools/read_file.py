"""`read_file`: the text of one file, below a folder that is open for reading and nowhere else."""

from __future__ import annotations

import asyncio
import os
import stat
from pathlib import Path

from laneway.lanes.tools.entry import Outcome, failure, success
from laneway.sandbox.paths import WORKSPACE, PathRefused, Place, open_file, place

MOST_BYTES = 1024 * 1024
USUAL_BYTES = 65536
SETTING = "LANEWAY_FILES"
OPENED = f"the folder open for reading ({SETTING})"


async def read_file(folder: Path | None, path: str, max_bytes: int = USUAL_BYTES, offset: int = 0) -> Outcome:
    """The file's text, or an error that says why not; nothing outside `folder` is ever opened."""
    if folder is None:
        return failure(f"No folder is open for reading. Set {SETTING} to the folder whose files may be read.")
    return await asyncio.to_thread(_outcome, folder, OPENED, path, max_bytes, offset)


async def read_workspace_or(
    folder: Path | None, workspace: Path, path: str, max_bytes: int = USUAL_BYTES, offset: int = 0
) -> Outcome:
    """The file's text from the workspace or, for what is not there, from `folder`."""
    return await asyncio.to_thread(_either, folder, workspace, path, max_bytes, offset)


def _either(folder: Path | None, workspace: Path, path: str, max_bytes: int, offset: int) -> Outcome:
    try:
        return success(_read(workspace, WORKSPACE, path, max_bytes, offset))
    except PathRefused as reason:
        if folder is None or reason.rule not in ("path.missing", "path.outside"):
            return failure(str(reason))
    return _outcome(folder, f"{WORKSPACE} or {OPENED}", path, max_bytes, offset)


def _outcome(folder: Path, called: str, path: str, max_bytes: int, offset: int) -> Outcome:
    try:
        return success(_read(folder, called, path, max_bytes, offset))
    except PathRefused as reason:
        return failure(str(reason))


def _read(folder: Path, called: str, path: str, max_bytes: int, offset: int) -> dict[str, object]:
    most, first = max(1, min(max_bytes, MOST_BYTES)), max(0, offset)
    where = place(folder, path, called)
    content, size = _bytes_of(where, called, path, most, first)
    cut = len(content) > most
    text, used = _text_of(content[:most], path, cut=cut, middle=first > 0)
    told: dict[str, object] = {"path": where.shown, "text": text, "bytes": size, "truncated": cut, "note": None}
    if first or cut:
        part = f"the first {most} of {size} bytes" if not first else f"bytes {first} to {first + used} of {size}"
        told |= {"note": f"Only {part} are shown."}
    return told | ({"next_offset": first + used} if cut else {})


def _bytes_of(where: Place, called: str, asked: str, most: int, first: int) -> tuple[bytes, int]:
    """The bytes from `first` on (one more than wanted, if there are more) and the file's size."""
    try:
        descriptor = open_file(where)
    except FileNotFoundError:
        raise PathRefused("path.missing", f"There is no file {asked!r} in {called}.") from None
    except OSError as reason:
        # A path that goes on below a file names nothing, wherever it is looked for.
        rule = "path.missing" if isinstance(reason, NotADirectoryError) else "path.unreadable"
        raise PathRefused(rule, f"{asked!r} cannot be read: {os.strerror(reason.errno or 0)}.") from None
    try:
        about = os.fstat(descriptor)
        if not stat.S_ISREG(about.st_mode):
            kind = "a folder, not a file" if stat.S_ISDIR(about.st_mode) else "not an ordinary file"
            raise PathRefused("path.folder", f"{asked!r} is {kind}.")
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            file.seek(first)
            return file.read(most + 1), about.st_size
    finally:
        os.close(descriptor)


def _text_of(content: bytes, asked: str, *, cut: bool, middle: bool) -> tuple[str, int]:
    """The text, and how many bytes it is; a character that was cut in two at either end is left out."""
    if b"\0" in content:
        raise PathRefused("path.binary", f"{asked!r} is not a text file, so there is nothing to show.")
    begin = 0
    while middle and begin < min(3, len(content)) and content[begin] & 0xC0 == 0x80:
        begin += 1
    for spare in range(4 if cut else 1):
        try:
            # A character is at most four bytes long.
            return content[begin : len(content) - spare].decode("utf-8"), len(content) - spare
        except UnicodeDecodeError:
            continue
    text = content.decode("latin-1")
    if sum(not (char.isprintable() or char in "\t\r\n\f") for char in text) > len(text) // 50:
        raise PathRefused("path.binary", f"{asked!r} is not a text file, so there is nothing to show.")
    return text, len(content)
