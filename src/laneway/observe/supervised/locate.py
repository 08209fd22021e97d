"""Finds the logs of the agent that was started: by its name, by where it works, and by what appears or grows."""

from __future__ import annotations

import hashlib
import os
import re
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from laneway.observe.discovery import Found, discover
from laneway.observe.reading import name_of
from laneway.observe.supervised.order import Order
from laneway.observe.supervised.tree import Process, processes

PROGRAMS = {
    "claude": "claude-code",
    "claude-code": "claude-code",
    "codex": "codex",
    "gemini": "gemini-cli",
    "gemini-cli": "gemini-cli",
    "copilot": "copilot-cli",
    "opencode": "opencode",
    "opencode-ai": "opencode",
    "pi": "pi",
    "pi-coding-agent": "pi",
}
_WRAPPERS = {
    *("npx", "bunx", "pnpm", "pnpx", "yarn", "npm", "node", "bun", "deno", "env", "sh", "bash", "zsh", "fish"),
    *("sudo", "nice", "ionice", "time", "timeout", "stdbuf", "caffeinate", "nohup", "direnv", "mise", "script"),
}
"""Programs that start what their arguments name."""
_VERSION = re.compile(r"(?<=.)@[\w.^~-]+$")
_HASH = re.compile(r"[0-9a-f]{64}")
_RESUMING = {"-c", "--continue", "-r", "--resume", "resume", "fork", "--fork-session", "-s", "--session"}
_ID = re.compile(r"(?=.*\d)[\w-]{8,}")
_SHORTEST_ID = 6
_SOONEST, _SHARE, _SHARE_LATER = 0.1, 3, 20
"""A search begins at most so often, and takes at most one part in so many of the time; less when a log is found."""
_FOLDERS = ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_DATA_DIR", "COPILOT_HOME", "PI_CODING_AGENT_DIR",
            "OPENCODE_DATA_DIR", "HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME")  # fmt: skip

Key = tuple[Path, str | None]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A log that may be the agent's; `before` is its size when the run began, 0 if it was not there."""

    found: Found
    before: int
    known: bool
    """It was there before the run, whatever its size."""


def provider_of(command: Sequence[str]) -> str | None:
    """Whose agent the command starts, also through `npx`, `env` or a shell; None if nothing in it says so."""
    wrapped = _program(command[0]) in _WRAPPERS if command else False
    words = [word for argument in command for word in argument.split()] if wrapped else command[:1]
    return next((PROGRAMS[name] for name in map(_program, words) if name in PROGRAMS), None)


def _program(word: str) -> str:
    return _VERSION.sub("", word.strip("'\";")).rpartition("/")[2].lower().removesuffix(".js")


class Locator:
    """Looks again and again; what was there before and does not change is never a candidate."""

    def __init__(self, order: Order, living: Callable[[], list[Process]] = list) -> None:
        self.provider = order.provider or provider_of(order.command)
        self._order = order
        self.living = living
        """Who belongs to the run; known once it has begun."""
        self._folders = {os.path.realpath(order.cwd)}
        self._environs: dict[tuple[str, ...], Mapping[str, str]] = {}
        self._remember(order.environ)
        self._before = {_key(found): found for found in self._discovered()}
        self.found = False
        """A log of the agent's is known; others may follow, but there is no hurry."""
        self._next = 0.0

    @property
    def folders(self) -> frozenset[str]:
        """Where the agent is known to work."""
        return frozenset(self._folders)

    def look(self, *, at_once: bool = False) -> list[Candidate]:
        """All logs that appeared or changed since the run began; nothing if it is too soon to look again."""
        began = time.monotonic()
        if began < self._next and not at_once:
            return []
        self._learn()
        changed = [found for found in self._discovered() if self._changed(found)]
        share = _SHARE_LATER if self.found else _SHARE
        self._next = time.monotonic() + max(_SOONEST, share * (time.monotonic() - began))
        return [
            Candidate(found, before.size if before else 0, before is not None)
            for found in changed
            for before in (self._before.get(_key(found)),)
        ]

    def is_ours(self, candidate: Candidate, cwd: str) -> bool:
        """Whether a log whose session works in this folder is the agent's."""
        if self._is_named(candidate.found):
            return True
        if not (self._works_in(cwd) if cwd else self._may_be_here(candidate.found.path)):
            return False
        # Where another one of the same kind works here, an older log that grows is as likely that one's.
        return not candidate.known or not self.others()

    @property
    def resumes(self) -> bool:
        """Whether the command goes on with an older session; its history may be copied into a new log."""
        return bool(_RESUMING.intersection(word.partition("=")[0] for word in self._order.command))

    def older(self, session_id: str) -> list[Path]:
        """The logs of that session that were there before the run."""
        return [path for path, _ in self._before if len(session_id) >= _SHORTEST_ID and session_id in path.name]

    def others(self) -> list[Process]:
        """Agents of the same kind that work in the same folder, but were not started by this run."""
        ours = {process.pid for process in self.living()} | {os.getpid()}
        return [
            process
            for process in processes()
            if process.pid not in ours and self._is_alike(process.pid) and _cwd_of(process.pid) in self._folders
        ]

    def _is_alike(self, pid: int) -> bool:
        with suppress(OSError):
            words = Path(f"/proc/{pid}/cmdline").read_bytes().decode("utf-8", "replace").split("\0")
            return self.provider is not None and provider_of(words[:2]) == self.provider
        return False

    def _discovered(self) -> list[Found]:
        found = {_key(one): one for environ in self._environs.values() for one in discover(environ, self.provider)}
        return list(found.values())

    def _changed(self, found: Found) -> bool:
        before = self._before.get(_key(found))
        return before is None or (found.size, found.changed_at) != (before.size, before.changed_at)

    def _is_named(self, found: Found) -> bool:
        name = found.session_id or name_of(found.path)
        words = (word for argument in self._order.command for word in argument.split())
        return any(_ID.fullmatch(word) and word in name for word in words)

    def _works_in(self, cwd: str) -> bool:
        real = os.path.realpath(cwd)
        return any(real == folder or (folder != "/" and real.startswith(folder + "/")) for folder in self._folders)

    def _may_be_here(self, path: Path) -> bool:
        """Whether a log that names no folder can be of ours; Gemini CLI puts a hash of the folder into the path."""
        hashes = {part for part in path.parts if _HASH.fullmatch(part)}
        return not hashes or bool(hashes & {hashlib.sha256(folder.encode()).hexdigest() for folder in self._folders})

    def _learn(self) -> None:
        """The folders its processes work in, and where they were told to keep their logs, are known."""
        for process in self.living():
            if (folder := _cwd_of(process.pid)) not in ("", "/"):
                self._folders.add(folder)
            self._remember(_environ_of(process.pid))

    def _remember(self, environ: Mapping[str, str]) -> None:
        named = {name: environ[name] for name in _FOLDERS if name in environ}
        if named:
            self._environs.setdefault(tuple(named.get(name, "") for name in _FOLDERS), named)


def _key(found: Found) -> Key:
    return found.path, found.session_id


def _cwd_of(pid: int) -> str:
    try:
        return str(Path(f"/proc/{pid}/cwd").readlink())
    except OSError:
        return ""


def _environ_of(pid: int) -> dict[str, str]:
    try:
        pairs = Path(f"/proc/{pid}/environ").read_bytes().decode("utf-8", "replace").split("\0")
    except OSError:
        return {}
    return {name: value for pair in pairs for name, mark, value in (pair.partition("="),) if mark}
