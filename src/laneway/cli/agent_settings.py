"""The settings file of another agent: read strictly, changed only where the hooks are, written in one step."""

from __future__ import annotations

import json
import os
import re
import stat
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from laneway.errors import BadInput, Conflict

BACKUP = ".laneway-backup-"
_LARGEST = 10_000_000


class SettingsFile:
    """One JSON file of another agent, as it was when it was read; links are followed, so that they stay links."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._target = Path(os.path.realpath(path))
        self.before = self._bytes()
        self.tree = _parsed(self.before, path) if self.before is not None and self.before.strip() else {}

    def text_of(self, tree: Mapping[str, Any]) -> bytes:
        """How the file looks with this content, written as its owner writes: indentation, last line break, letters."""
        before = (self.before or b"").decode("utf-8-sig")
        indent = re.search(r"\n([ \t]+)\"", before)
        compact = before.strip() and "\n" not in before.strip()
        text = json.dumps(tree, ensure_ascii=False, indent=None if compact else indent[1] if indent else 2)
        if before.endswith("\n") or not before:
            text += "\n"
        return (b"\xef\xbb\xbf" if (self.before or b"").startswith(b"\xef\xbb\xbf") else b"") + _encoded(text, tree)

    def write(self, content: bytes, *, backup: bool) -> Path | None:
        """The file says this now, all of it or nothing; returns where the text before was put."""
        if self._bytes() != self.before:
            raise Conflict(f"{self.path} was changed meanwhile.", hint="Try again.")
        kept = self._back_up() if backup and self.before is not None else None
        self._target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor, temporary = tempfile.mkstemp(dir=self._target.parent, prefix=f".{self._target.name}.")
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            Path(temporary).chmod(self._mode())
            Path(temporary).replace(self._target)
        except OSError:
            with suppress(OSError):
                Path(temporary).unlink()
            raise
        return kept

    def remove(self) -> None:
        """There is no such file any more."""
        self._target.unlink(missing_ok=True)

    def backups(self) -> list[Path]:
        """What the file was before earlier changes, newest first."""
        return sorted(self.path.parent.glob(f"{self.path.name}{BACKUP}*"), reverse=True)

    def _back_up(self) -> Path:
        stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S.%fZ")
        kept = self.path.with_name(f"{self.path.name}{BACKUP}{stamp}")
        descriptor = os.open(kept, os.O_WRONLY | os.O_CREAT | os.O_EXCL, self._mode())
        with os.fdopen(descriptor, "wb") as file:
            file.write(self.before or b"")
        return kept

    def _mode(self) -> int:
        try:
            return stat.S_IMODE(self._target.stat().st_mode)
        except OSError:
            return 0o600

    def _bytes(self) -> bytes | None:
        try:
            with self._target.open("rb") as file:
                content = file.read(_LARGEST + 1)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise BadInput(f"{self.path} cannot be read: {error.strerror}.", hint="Mend it or move it away.") from None
        if len(content) > _LARGEST:
            raise BadInput(f"{self.path} is too large for a settings file.", hint="Look at what it is.")
        return content


def _parsed(content: bytes, path: Path) -> dict[str, Any]:
    try:
        tree = json.loads(content.decode("utf-8-sig"), object_pairs_hook=_each_once)
    except UnicodeDecodeError:
        raise BadInput(f"{path} is not UTF-8 text.", hint="Nothing was changed. Mend it first.") from None
    except (ValueError, RecursionError) as error:
        what = f"{error.msg} in line {error.lineno}" if isinstance(error, json.JSONDecodeError) else str(error)
        raise BadInput(
            f"{path} is not valid JSON: {what}.",
            hint="Nothing was changed. Mend it first; comments cannot be kept, and count as a mistake.",
        ) from None
    if not isinstance(tree, dict):
        raise BadInput(f"{path} holds no JSON object.", hint="Nothing was changed. Mend it first.")
    return tree


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Of a name that stands twice one value would be lost when the file is written."""
    names = [name for name, _ in pairs]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ValueError(f"`{twice[:60]}` stands twice in one object")
    return dict(pairs)


def _encoded(text: str, tree: Mapping[str, Any]) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        # Half a letter, which JSON can hold and UTF-8 cannot.
        return json.dumps(tree, indent=2).encode()
