"""`read_file`: the text of one file under the one folder the owner opened for reading."""

from __future__ import annotations

import asyncio
import os
import stat
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

MOST_BYTES = 1024 * 1024
SETTING = "LANEWAY_FILES"

# Names that usually hold secrets, matched against every part of the path in lower case.
SENSITIVE = (
    *(".env", ".env.*", "*.env", ".envrc", ".ssh", "id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*"),
    *("*.pem", "*.key", "*.p12", "*.pfx", "*.jks", "*.keystore", "*.kdbx", "*.ppk", "*.asc", "*.gpg", "*.ovpn"),
    *(".aws", ".azure", ".gcloud", ".gnupg", ".kube", ".docker", ".git", ".config", ".password-store"),
    *(".netrc", "_netrc", ".pgpass", ".my.cnf", ".npmrc", ".pypirc", ".git-credentials", ".htpasswd"),
    *("credentials*", "*credentials.*", "secret", "secrets", "secret.*", "secrets.*", "*.secret", "*.secrets"),
    *("password*", "passwd*", "shadow", "shadow-", "*.token", "service-account*", "kubeconfig*", ".*_history"),
)


class _RefusedError(Exception):
    """The file is not given out; the message says why, without telling what lies outside the folder."""


async def read_file(folder: Path | None, path: str, max_bytes: int = 65536) -> dict[str, Any]:
    """The file's text, or an error that says why not; nothing outside `folder` is ever opened."""
    return await asyncio.to_thread(_read, folder, path, max(1, min(max_bytes, MOST_BYTES)))


def _read(folder: Path | None, path: str, max_bytes: int) -> dict[str, Any]:
    try:
        inside = _place(folder, path)
        content, size = _bytes_of(*inside, path, max_bytes)
        text = _text_of(content[:max_bytes], path, cut=len(content) > max_bytes)
    except _RefusedError as reason:
        return {"status": "error", "result": None, "error": str(reason)}
    truncated = len(content) > max_bytes
    note = f"Only the first {max_bytes} of {size} bytes are shown." if truncated else None
    result = {"path": str(inside[1]), "text": text, "bytes": size, "truncated": truncated, "note": note}
    return {"status": "success", "result": result, "error": None}


def _place(folder: Path | None, path: str) -> tuple[Path, Path]:
    """The real folder and the file's real path below it."""
    if folder is None:
        raise _RefusedError(f"No folder is open for reading. Set {SETTING} to the folder whose files may be read.")
    try:
        root = folder.resolve(strict=True)
        real = (root / path).resolve()
    except (OSError, RuntimeError, ValueError):
        raise _RefusedError(_cannot_resolve(folder, path)) from None
    if not real.is_relative_to(root):
        raise _RefusedError(f"{path!r} is outside the folder open for reading ({SETTING}).")
    below = real.relative_to(root)
    # The name asked for counts too: a harmless name may link to a secret, and a secret name to anything.
    if _is_sensitive(below) or _is_sensitive(Path(path)):
        raise _RefusedError(f"{path!r} has a name that usually holds secrets, so it is not read.")
    return root, below


def _cannot_resolve(folder: Path, path: str) -> str:
    if not folder.is_dir():
        return f"The folder named by {SETTING} does not exist or cannot be read."
    return f"{path!r} is not a usable file name."


def _is_sensitive(path: Path) -> bool:
    return any(fnmatchcase(part.lower(), pattern) for part in path.parts for pattern in SENSITIVE)


def _bytes_of(root: Path, below: Path, asked: str, max_bytes: int) -> tuple[bytes, int]:
    """The first bytes (one more than wanted, if there are more) and the file's size."""
    try:
        descriptor = _open_below(root, below)
    except FileNotFoundError:
        raise _RefusedError(f"There is no file {asked!r} in the folder open for reading.") from None
    except OSError as reason:
        raise _RefusedError(f"{asked!r} cannot be read: {os.strerror(reason.errno or 0)}.") from None
    try:
        about = os.fstat(descriptor)
        if not stat.S_ISREG(about.st_mode):
            kind = "a folder, not a file" if stat.S_ISDIR(about.st_mode) else "not an ordinary file"
            raise _RefusedError(f"{asked!r} is {kind}.")
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            return file.read(max_bytes + 1), about.st_size
    finally:
        os.close(descriptor)


def _open_below(root: Path, below: Path) -> int:
    """An open descriptor of the file, reached one part at a time without following any link.

    The path was resolved a moment ago; a link put in its place since then fails here instead of leading out.
    """
    at = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
    for index, part in enumerate(below.parts):
        last = index == len(below.parts) - 1
        # Without O_NONBLOCK, opening a named pipe would wait for a writer.
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | (os.O_NONBLOCK if last else os.O_DIRECTORY)
        try:
            following = os.open(part, flags, dir_fd=at)
        finally:
            os.close(at)
        at = following
    return at


def _text_of(content: bytes, asked: str, *, cut: bool) -> str:
    if b"\0" in content:
        raise _RefusedError(f"{asked!r} is not a text file, so there is nothing to show.")
    for spare in range(4 if cut else 1):
        try:
            # Cutting may split the last character, which is at most four bytes long.
            return content[: len(content) - spare].decode("utf-8")
        except UnicodeDecodeError:
            continue
    text = content.decode("latin-1")
    if sum(not (char.isprintable() or char in "\t\r\n\f") for char in text) > len(text) // 50:
        raise _RefusedError(f"{asked!r} is not a text file, so there is nothing to show.")
    return text
