"""Copies of files as they were, each kept once under the hash of its content, below the data directory."""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
import time
from pathlib import Path

from laneway.sandbox.paths import make_private

MOST_BYTES = 2 * 1024**3
"""All copies together; a thousandfold rewriting of large files must not fill the disk."""

GRACE_SECONDS = 3600.0
"""So long a copy nobody names yet is left alone: its record may be about to be written."""


def name_of(content: bytes) -> str:
    """What a content is called."""
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


class Copies:
    """The copies in one folder."""

    def __init__(self, folder: Path, most_bytes: int = MOST_BYTES) -> None:
        self._folder, self._most = folder, most_bytes
        self._bytes: int | None = None

    def keep(self, content: bytes, *, surely: bool = False) -> str | None:
        """The content is kept and its name returned; None if there is no room. `surely` waits for the disk."""
        name = name_of(content)
        path = self._path(name)
        if path.exists():
            # A sweep goes by age: what is used again is young again.
            os.utime(path)
            return name
        if self._used() + len(content) > self._most:
            return None
        try:
            self._write(path, content, surely)
        except OSError:
            return None
        self._bytes = self._used() + len(content)
        return name

    @property
    def exist(self) -> bool:
        """Whether any copy was ever kept, and not all were thrown away."""
        return self._folder.exists()

    def has(self, name: str) -> bool:
        return self._path(name).exists()

    def read(self, name: str) -> bytes | None:
        """The content of this name; None if it is gone or damaged."""
        try:
            content = self._path(name).read_bytes()
        except OSError:
            return None
        return content if name_of(content) == name else None

    def sweep(self, wanted: set[str]) -> int:
        """Copies that nobody names any more are gone; returns how many."""
        old, gone = time.time() - GRACE_SECONDS, 0
        for path in self._folder.glob("??/*"):
            with contextlib.suppress(FileNotFoundError):
                if f"sha256:{path.name}" not in wanted and path.stat().st_mtime < old:
                    path.unlink()
                    gone += 1
        self._bytes = None
        return gone

    def _used(self) -> int:
        if self._bytes is None:
            self._bytes = sum(path.stat().st_size for path in self._folder.glob("??/*"))
        return self._bytes

    def _path(self, name: str) -> Path:
        digest = name.removeprefix("sha256:")
        return self._folder / digest[:2] / digest

    def _write(self, path: Path, content: bytes, surely: bool) -> None:
        make_private(path.parent)
        unfinished = path.with_name(f".{secrets.token_hex(8)}")
        descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)
                if surely:
                    file.flush()
                    os.fsync(file.fileno())
            unfinished.rename(path)
        except OSError:
            unfinished.unlink(missing_ok=True)
            raise
