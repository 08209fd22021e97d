"""Archives that hold documents, opened only if what is in them stays within bounds."""

from __future__ import annotations

import io
import zipfile

from laneway.channels.attachments.documents.contract import Unreadable

MOST_ENTRIES = 5_000
MOST_BYTES = 200 * 1024 * 1024
"""All entries together, unpacked."""
MOST_PER_ENTRY = 64 * 1024 * 1024
MOST_TIMES = 200
"""A large entry may become so many times larger; only rows that are all alike make honest documents come near."""
_SMALL = 10 * 1024 * 1024


def opened(content: bytes) -> zipfile.ZipFile:
    """The archive, which is none of those that unpack to far more than they seem to hold."""
    try:
        archive = zipfile.ZipFile(io.BytesIO(content))
    except (zipfile.BadZipFile, ValueError, RuntimeError, OSError) as error:
        raise Unreadable("it is no whole archive") from error
    entries = archive.infolist()
    if len(entries) > MOST_ENTRIES:
        raise Unreadable(f"it holds {len(entries):,} files, at most {MOST_ENTRIES:,} are looked at")
    if sum(entry.file_size for entry in entries) > MOST_BYTES:
        raise Unreadable("it unpacks to far more than it should")
    for entry in entries:
        large = entry.file_size > _SMALL and entry.file_size > MOST_TIMES * max(1, entry.compress_size)
        if large or entry.file_size > MOST_PER_ENTRY:
            raise Unreadable("it unpacks to far more than it should")
        if entry.flag_bits & 1:
            raise Unreadable("it is protected by a password")
    return archive


def part(archive: zipfile.ZipFile, name: str) -> bytes | None:
    """One file of the archive, None if there is no such; no more of it than its directory says comes out."""
    try:
        with archive.open(name) as file:
            return file.read(MOST_PER_ENTRY)
    except KeyError:
        return None
    except (zipfile.BadZipFile, RuntimeError, EOFError, ValueError, OSError) as error:
        raise Unreadable("its archive is damaged") from error
