"""What the shell knows at one point of a command: where it is, its variables, functions and fresh files."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from posixpath import normpath
from typing import Any

from laneway.sandbox.shell.holes import has_hole, hole
from laneway.sandbox.shell.streams import Stream

NO_WORKSPACE = re.compile(r"/|/(home|Users|etc|usr|var|bin|sbin|lib|opt|boot|root|tmp|srv|mnt|media)")
"""Folders that are never somebody's workspace, even if a command runs there."""
UNNAMED = "/workspace"
"""Where a command runs whose folder nobody told."""
FIXED = {
    "IFS": " ", "$": "4242", "!": "4243", "?": "0", "#": "0", "RANDOM": "4242", "SECONDS": "1", "UID": "1000",
    "EUID": "1000", "PPID": "4241", "BASHPID": "4242", "HOSTNAME": "host", "USER": "user", "LOGNAME": "user",
    **dict.fromkeys(("TMPDIR", "TMP", "TEMP"), "/tmp"),  # noqa: S108
    "SHELL": "/bin/bash", "PYTHON": "python3", "EDITOR": "editor",
    "VISUAL": "editor", "PAGER": "less", "CC": "cc", "CXX": "c++", "MAKE": "make", "NPM": "npm", "NODE": "node",
    "LINENO": "1", "EPOCHSECONDS": "1700000000", "OSTYPE": "linux-gnu", "HOSTTYPE": "x86_64", "-": "hB",
    "XDG_RUNTIME_DIR": "/run/user/1000", "CI": "true", "GOPATH": "~/go", "CARGO_HOME": "~/.cargo", "NVM_DIR": "~/.nvm",
    "XDG_CACHE_HOME": "~/.cache", "XDG_CONFIG_HOME": "~/.config", "XDG_DATA_HOME": "~/.local/share", "PATH": "/usr/bin",
}  # fmt: skip
"""Variables everybody has, with a value of the usual shape."""


def home_of(workspace: str) -> str:
    """The home folder of whoever works there."""
    found = re.match(r"(/(?:home|Users)/[^/]+|/root)(?:/|$)", workspace)
    return found[1] if found else "/home/user"


@dataclass(slots=True)
class Scope:
    """The state of one (sub)shell; a subshell works on a copy."""

    cwd: str | None
    workspace: str | None
    home: str
    variables: dict[str, list[str]] = field(default_factory=dict)
    functions: dict[str, tuple[Any, bytes]] = field(default_factory=dict)
    aliases: dict[str, str] = field(default_factory=dict)
    written: dict[str, Stream] = field(default_factory=dict)
    links: dict[str, str] = field(default_factory=dict)
    moved: dict[str, str] = field(default_factory=dict)
    """Where something was before this command moved it, by where it is now."""
    positional: list[str] | None = None
    root: bool = False
    remote: str | None = None
    """`host` on another machine, `container` inside one, None here."""
    calling: tuple[str, ...] = ()
    """The functions being called, innermost last."""
    exporting: bool = False

    def copy(self, **changes: Any) -> Scope:
        return replace(
            self,
            **{
                "variables": dict(self.variables),
                "functions": dict(self.functions),
                "aliases": dict(self.aliases),
                "written": dict(self.written),
                "links": dict(self.links),
                "moved": dict(self.moved),
                **changes,
            },
        )

    def elsewhere(self, kind: str) -> Scope:
        """A shell on another machine or in a container: nothing of ours is there."""
        return Scope(cwd=None, workspace=None, home="/root" if kind == "container" else "/home/user", remote=kind)

    def value(self, name: str) -> list[str] | None:
        """The value of a variable as far as the text tells; None if it does not."""
        if name in self.variables:
            return self.variables[name]
        if name == "HOME":
            return [self.home]
        if name == "PWD":
            return [self.cwd or hole("v_PWD")]
        if name == "OLDPWD":
            return None
        known = FIXED.get(name)
        return None if known is None else [known.replace("~", self.home, 1)]

    def enter(self, folder: str) -> None:
        """The shell has changed its folder; to one that nobody knows, if so."""
        self.cwd = self.path(folder)

    def path(self, word: str) -> str | None:
        """The absolute, tidy path of a word; None where the text does not tell where it lies."""
        if not word or word[0] == "\ue000":
            return None
        if word.startswith("~"):
            word = self.home + word[1:]
        if not word.startswith("/"):
            if self.cwd is None:
                return None
            word = f"{self.cwd}/{word}"
        return self._followed("/" + normpath(word).lstrip("/"))

    def _followed(self, path: str) -> str:
        for link, target in self.links.items():
            if path.startswith(link + "/"):
                return target + path[len(link) :]
        return path


def opened(cwd: str | None, home: str | None = None) -> Scope:
    """The scope of a command that begins in a folder; that folder is the workspace. Without a home, it is guessed."""
    usable = cwd if cwd and cwd.startswith("/") and not has_hole(cwd) else None
    folder = "/" + normpath(usable).lstrip("/") if usable else UNNAMED
    workspace = None if NO_WORKSPACE.fullmatch(folder) else folder
    return Scope(cwd=folder, workspace=workspace, home=home or home_of(folder))
