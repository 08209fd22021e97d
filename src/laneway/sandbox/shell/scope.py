"""What the shell knows at one point of a command: where it is, its variables, functions, fresh files and links."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path
from posixpath import normpath
from typing import Any

from laneway.sandbox.shell.holes import has_hole, hole
from laneway.sandbox.shell.place_names import SCRATCH, SECRET
from laneway.sandbox.shell.streams import Stream
from laneway.sandbox.shell.tables import table

NO_WORKSPACE = re.compile(r"/|/(home|Users|etc|usr|var|bin|sbin|lib|opt|boot|root|tmp|srv|mnt|media)")
"""Folders that are never somebody's workspace, even if a command runs there."""
UNNAMED = "/workspace"
"""Where a command runs whose folder nobody told."""
_OWN_PROCESS = re.compile(r"/proc/(?:[\w-]+|\ue000[^/]*)/(?:task/[^/]+/)?(root|cwd)(?=/|$)")
_SHARED = ("/tmp", "/var/tmp", "/private/tmp", "/dev/shm")  # noqa: S108
"""Where links on the disk are followed, besides the project and the home, unless a name there says enough."""
_FILES: dict[str, str] = table("programs/secrets")["files"]
_LINKED = [name for name in (_FILES["examples"] + _FILES["guarding"]).split() if not name.startswith("//")]
"""Files of a home that a hard link may be another name of."""
_MOST_LINKS = 20
_MOST_ABOVE = 30
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


def project_of(folder: str | None) -> str | None:
    """The repository that a folder lies in: the nearest folder upwards with `.git`; where there is none, the folder.

    Folders that many projects share, a home among them, are nobody's project, and nothing above them is looked at.
    """
    if not folder or not folder.startswith("/"):
        return folder
    folder = "/" + normpath(folder).lstrip("/")
    for above in [folder, *map(str, Path(folder).parents)][:_MOST_ABOVE]:
        scratch, homes = SCRATCH.match(above), (home_of(above), os.path.expanduser("~"))  # noqa: PTH111  it never fails
        if above in homes or NO_WORKSPACE.fullmatch(above) or (scratch and not scratch[2]):
            return folder
        if os.path.exists(f"{above}/.git"):  # noqa: PTH110  a path nobody can look up has none
            return above
    return folder


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
    """Where the links lead that this command makes, hard ones included."""
    moved: dict[str, str] = field(default_factory=dict)
    """Where something was before this command moved it, by where it is now."""
    on_disk: dict[str, str] = field(default_factory=dict)
    """Where paths lead by the links that are there already, as far as it was looked up."""
    positional: list[str] | None = None
    root: bool = False
    remote: str | None = None
    """`host` on another machine, `container` inside one, None here."""
    calling: tuple[str, ...] = ()
    """The functions being called, innermost last."""
    exporting: bool = False
    start: str | None = None
    """The project's folder, or else where the command begins."""
    climbed: bool = False
    """Whether the folder it is in was reached out of the project by a relative way."""

    def copy(self, **changes: Any) -> Scope:
        """The same for a shell of its own; what it does to files, links included, is there for all."""
        return replace(
            self,
            **{
                "variables": dict(self.variables),
                "functions": dict(self.functions),
                "aliases": dict(self.aliases),
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
        self.climbed = self.climbs(folder)
        self.cwd = self.path(folder)

    def climbs(self, word: str) -> bool:
        """Whether a word leads out of the project by `..`, or from a folder that was reached so."""
        above, _, last = word.rpartition("/")
        # A folder's pattern may match `..`, too.
        parts = [".." if part[:1] == "." and fnmatchcase("..", part[:20]) else part for part in above.split("/")]
        word = "/".join([*parts, last]) if above else word
        path = self.spelled(word)
        if path is None or self.start is None:
            return False
        relative = not word.startswith(("/", "~"))
        outside = path != self.start and not path.startswith(self.start.rstrip("/") + "/")
        return outside and (".." in word.split("/") or (relative and self.climbed))

    def path(self, word: str, *, itself: bool = False) -> str | None:
        """Where a word leads, absolute and tidy; None where the text does not tell. With `itself`, the last part is
        the thing that has this name, link or not, as for what is removed or renamed."""
        path = self.spelled(word)
        if path is None or path == "/":
            return path
        if itself and not word.endswith("/"):
            folder, _, name = path.rpartition("/")
            return f"{self._followed(folder or '/').rstrip('/')}/{name}"
        return self._followed(path)

    def spelled(self, word: str) -> str | None:
        """The absolute path of a word as it is written, whatever links are on its way."""
        if not word or word[0] == "\ue000":
            return None
        if word.startswith("~"):
            word = self.home + word[1:]
        if not word.startswith("/"):
            if self.cwd is None:
                return None
            word = f"{self.cwd}/{word}"
        return "/" + normpath(_OWN_PROCESS.sub(self._process_folder, word)).lstrip("/")

    def _process_folder(self, found: re.Match[str]) -> str:
        return "" if found[1] == "root" else self.cwd or hole("v_PWD")

    def _followed(self, path: str) -> str:
        spelled = path
        for _ in range(_MOST_LINKS if self.links else 0):
            link = path
            while link and link not in self.links:
                link = link.rpartition("/")[0]
            if not link:
                break
            path = self.links[link] + path[len(link) :]
        else:
            # Links that lead in a circle lead nowhere.
            path = spelled
        if path not in self.on_disk:
            self.on_disk[path] = path if self.remote else self._led_by_the_disk(path)
        return self.on_disk[path]

    def _led_by_the_disk(self, path: str) -> str:
        """Where a path leads by links that are there already; a workspace or home reached by a link keeps its name."""
        own = [folder for folder in (self.start, self.home) if folder and folder != "/"]
        elsewhere = self.start is None or not path.startswith(self.start + "/")
        if not any(path.startswith(folder + "/") for folder in (*own, *_SHARED)) or (elsewhere and SECRET.search(path)):
            return path
        try:
            real = os.path.realpath(path)
            file = Path(real)
            if file.is_file() and file.stat().st_nlink > 1:
                names = (Path(self.home + name) for name in _LINKED)
                real = next((str(name) for name in names if name.exists() and name.samefile(file)), real)
        except (OSError, ValueError):
            return path
        for folder, base in ((one, os.path.realpath(one)) for one in own if real != path):
            if real == base or real.startswith(base + "/"):
                return folder + real[len(base) :]
        return real


def opened(cwd: str | None, home: str | None = None, project: str | None = None) -> Scope:
    """The scope of a command in a folder; the project, or else that folder, is its workspace. A home may be guessed."""
    named = project or cwd
    usable = named if named and named.startswith("/") and not has_hole(named) else None
    folder = "/" + normpath(usable).lstrip("/") if usable else UNNAMED
    workspace = None if NO_WORKSPACE.fullmatch(folder) else folder
    scope = Scope(cwd=folder, workspace=workspace, home=home or home_of(folder), start=folder)
    if project and cwd:
        scope.enter(cwd)
    return scope
