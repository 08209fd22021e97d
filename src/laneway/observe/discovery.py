"""Finds the sessions of the agents on this machine, in the folders they are known to use."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from laneway.errors import BadInput
from laneway.observe.reading import name_of
from laneway.store.opencode import NoOpenCode, sessions

_LOGS = (".jsonl", ".jsonl.zst")
_ID = re.compile(r"[0-9a-f]{8}((-[0-9a-f]{4}){3}-[0-9a-f]{12})?$")
"""A session's id at the end of a file's name, where the time may stand before it."""


@dataclass(frozen=True, slots=True)
class Found:
    """A session's place, and when it last changed."""

    provider: str
    path: Path
    changed_at: datetime
    size: int
    session_id: str | None = None
    """Which one of a store that holds several; None where a file is one session."""
    side: bool = False
    """A sub-agent's."""

    @property
    def name(self) -> str:
        """What it is called in lists."""
        return self.session_id or name_of(self.path)


def is_named(name: str, part: str) -> bool:
    """Whether the name, or the id in it, begins or ends so."""
    found = _ID.search(name)
    return name.startswith(part) or name.endswith(part) or bool(found and found[0].startswith(part))


def roots(environ: Mapping[str, str]) -> dict[str, list[Path]]:
    """The folders of each provider, as its own settings name them; whether they exist or not."""
    home = Path(environ.get("HOME") or Path.home())
    share = Path(environ.get("XDG_DATA_HOME") or home / ".local" / "share")
    config = Path(environ.get("XDG_CONFIG_HOME") or home / ".config")
    claude = _listed(environ.get("CLAUDE_CONFIG_DIR")) or [home / ".claude", config / "claude"]
    codex = _one(environ.get("CODEX_HOME"), home / ".codex")
    gemini = _one(environ.get("GEMINI_DATA_DIR"), home / ".gemini")
    copilot = _one(environ.get("COPILOT_HOME"), home / ".copilot")
    pi = _one(environ.get("PI_CODING_AGENT_DIR"), home / ".pi" / "agent")
    opencode = _one(environ.get("OPENCODE_DATA_DIR"), share / "opencode")
    return {
        "claude-code": [folder if folder.name == "projects" else folder / "projects" for folder in claude],
        "codex": [codex / "sessions", codex / "archived_sessions"],
        "gemini-cli": [gemini if gemini.name == "tmp" else gemini / "tmp"],
        "copilot-cli": [copilot / "session-state"],
        "opencode": [opencode],
        "pi": [pi / "sessions"],
    }


def known_provider(name: str | None) -> str | None:
    """The name, if it is a provider's or none."""
    if name is not None and name not in roots({}):
        raise BadInput(f"`{name[:40]}` is no provider.", hint=f"Name one of {', '.join(roots({}))}.")
    return name


def _listed(value: str | None) -> list[Path]:
    return [Path(part.strip()).expanduser() for part in (value or "").split(",") if part.strip()]


def _one(value: str | None, usual: Path) -> Path:
    return Path(value).expanduser() if value else usual


def discover(environ: Mapping[str, str], provider: str | None = None) -> list[Found]:
    """All sessions, the one that changed last first; a folder that cannot be read holds none."""
    found: dict[Path, list[Found]] = {}
    for name, folders in roots(environ).items():
        if provider in (None, name):
            for folder in folders:
                for session in _in_folder(name, folder):
                    found.setdefault(session.path, []).append(session)
    # While a log is being compressed both are there; the plain one is the one that is written to.
    packed = {path for path in found if path.suffix == ".zst" and path.with_suffix("") in found}
    kept = [one for path, several in found.items() if path not in packed for one in several]
    return sorted(kept, key=lambda session: (session.changed_at, str(session.path)), reverse=True)


def _in_folder(provider: str, folder: Path) -> Iterator[Found]:
    if provider == "opencode":
        yield from _of_opencode(folder)
        return
    for path in _files(folder):
        if _is_session(provider, path):
            yield from found_at(provider, path, side=_is_side(provider, path))


def _files(folder: Path) -> Iterator[Path]:
    """Every file below, each folder once though links may lead back to it."""
    seen: set[tuple[int, int]] = set()
    for where, folders, files in os.walk(folder, followlinks=True):
        state = Path(where).stat()
        if (state.st_dev, state.st_ino) in seen:
            folders.clear()
            continue
        seen.add((state.st_dev, state.st_ino))
        folders[:] = sorted(name for name in folders if name != "tool-results")
        yield from (Path(where) / name for name in sorted(files))


def _is_session(provider: str, path: Path) -> bool:
    if provider == "codex":
        return path.name.startswith("rollout-") and path.name.endswith(_LOGS)
    if provider == "gemini-cli":
        return "chats" in path.parts and path.suffix in (".json", ".jsonl")
    return path.name.endswith(_LOGS)


def _is_side(provider: str, path: Path) -> bool:
    if provider == "claude-code":
        return path.name.startswith("agent-")
    return provider == "gemini-cli" and path.parent.name != "chats"


def found_at(provider: str, path: Path, *, side: bool = False) -> Iterator[Found]:
    """The session in this file, if it is there."""
    try:
        state = path.stat()
    except OSError:
        return
    yield Found(provider, path, datetime.fromtimestamp(state.st_mtime, UTC), state.st_size, side=side)


def _of_opencode(folder: Path) -> Iterator[Found]:
    """Each session of the database, then those of the older files that never moved there."""
    known: set[str] = set()
    for path in sorted(folder.glob("opencode*.db")):
        try:
            rows = sessions(path)
        except NoOpenCode:
            continue
        for row in rows:
            known.add(row["id"])
            changed = datetime.fromtimestamp((row["time"]["updated"] or 0) / 1000, UTC)
            yield Found("opencode", path, changed, 0, row["id"], bool(row.get("parent_id")))
    for path in sorted((folder / "storage" / "session").glob("*/*.json")):
        if path.stem not in known:
            for session in found_at("opencode", path):
                yield Found("opencode", folder / "storage", session.changed_at, session.size, path.stem)
