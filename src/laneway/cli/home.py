"""The data directory belongs to one `laneway up` at a time, which leaves its address there for commands."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from laneway.errors import BadInput, Conflict

LOCK = "up.lock"


def home_of(environ: dict[str, str] | os._Environ[str]) -> Path:
    """The data directory the environment names, or the usual one."""
    return Path(environ.get("LANEWAY_HOME") or "~/.laneway").expanduser().absolute()


@contextmanager
def only_up(home: Path, address: str) -> Iterator[None]:
    """No other `up` uses this data directory while the block lasts, and commands find this one's address."""
    make(home)
    with (home / LOCK).open("a+", encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise _taken(home, file) from None
        _write(file, json.dumps({"pid": os.getpid(), "address": address}))
        try:
            yield
        finally:
            # The file itself stays: deleting a lock that another process may be opening lets both have it.
            _write(file, "")


def make(home: Path) -> None:
    """The data directory exists, or BadInput says why it cannot."""
    try:
        home.mkdir(parents=True, exist_ok=True, mode=0o700)
        (home / LOCK).touch(mode=0o600)
    except OSError as error:
        raise BadInput(
            f"The data directory {home} cannot be used: {error.strerror}.", hint="Choose another with --home."
        ) from None


def address_of_up(home: Path) -> str | None:
    """The address of the `up` that runs in this data directory, if one does."""
    try:
        note: dict[str, Any] = json.loads((home / LOCK).read_text(encoding="utf-8"))
        os.kill(int(note["pid"]), 0)
    except PermissionError:
        return str(note["address"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return str(note["address"])


def _taken(home: Path, file: IO[str]) -> Conflict:
    file.seek(0)
    try:
        note = json.loads(file.read())
        which = f"Another `laneway up` (process {note['pid']}, {note['address']})"
    except (ValueError, KeyError, TypeError):
        which = "Another `laneway up`"
    return Conflict(f"{which} uses {home}.", hint="Stop it first, or give this one a data directory with --home.")


def _write(file: IO[str], text: str) -> None:
    file.seek(0)
    file.truncate()
    file.write(text)
    file.flush()
