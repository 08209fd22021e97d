"""Where a tool call looks beyond its project: reading there is no danger by itself, but worth a word."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from posixpath import basename
from typing import Any

from laneway.sandbox.shell.holes import has_hole
from laneway.sandbox.shell.invocation import Invocation
from laneway.sandbox.shell.places import Place, is_secret, locate
from laneway.sandbox.shell.scope import Scope, opened
from laneway.sandbox.tool_calls import kind_of, paths_of

_SHOWING = {
    "awk", "bat", "cat", "cp", "csvcut", "cut", "diff", "du", "egrep", "fd", "fgrep", "find", "grep", "head", "hexdump",
    "jq", "less", "ls", "more", "nl", "od", "rg", "rsync", "scp", "sed", "sort", "stat", "strings", "tac", "tail",
    "tar", "tree", "wc", "xxd", "yq", "zcat", "zgrep",
}  # fmt: skip
"""Programs whose operands are files or folders they read."""
_NAMING = {"du", "fd", "find", "ls", "stat", "tree"}
"""Those of them that tell names and sizes, but not what is in a file."""
_OWN = {
    *(Place.INSIDE, Place.WORKSPACE, Place.GIT, Place.SCRATCH, Place.ALL_SCRATCH, Place.HARMLESS, Place.UNKNOWN),
    Place.GUARD,
}
_MOST, _MOST_WORDS = 20, 200


def scope_of(cwd: str | None, project: str | None) -> Scope:
    """A project as it is seen from one of its folders, or from elsewhere."""
    scope = opened(project or cwd)
    if project and cwd:
        scope.enter(cwd)
    return scope


@dataclass(frozen=True, slots=True)
class Look:
    """A word of a command or an argument that is read, and whether what is in there comes out."""

    word: str
    scope: Scope
    reveals: bool = True


class Looks:
    """Where the programs of a command look; filled while the guard walks through it."""

    def __init__(self) -> None:
        self.all: list[Look] = []

    def see(self, run: Invocation) -> None:
        """What this program is told to show is known, as seen from where it runs."""
        program = basename(run.program)
        if program in _SHOWING and run.scope.remote is None and len(self.all) < _MOST_WORDS:
            self.all.extend(Look(word, run.scope, program not in _NAMING) for word in _operands(run))


def reads_outside(
    tool: str, given: Mapping[str, Any], cwd: str | None, project: str | None, looks: Looks
) -> tuple[list[str], str | None]:
    """The paths outside the project that a call reads, as they lie on the disk, and a secret that a link leads to."""
    found = list(looks.all)
    if kind_of(tool, given) == "read":
        scope = scope_of(cwd, project)
        found += [Look(path, scope) for path in paths_of(given)]
    outside: dict[str, None] = {}
    secret = None
    for look in found:
        path, linked = lying_outside(look.word, look.scope)
        if path is not None:
            outside[path] = None
            secret = path if linked and look.reveals and is_secret(path) else secret
    return list(outside)[:_MOST], secret


def climbs_into_the_system(given: Mapping[str, Any], cwd: str | None, project: str | None) -> str | None:
    """A path that goes up and out of the project and comes down in a folder of the system; nobody means that."""
    scope = scope_of(cwd, project)
    for path in paths_of(given):
        full = scope.path(path)
        if ".." in path.split("/") and full is not None and locate(_real(full), scope) in (Place.SYSTEM, Place.ROOT):
            return path
    # Where nobody told the folder, as many steps up as it takes are assumed.
    for path in paths_of(given) if not (cwd or project) else ():
        rest = re.sub(r"^(\./|\.\./)+", "/", path)
        if rest != path and locate(rest, scope) is Place.SYSTEM:
            return path
    return None


def lying_outside(word: str, scope: Scope) -> tuple[str | None, bool]:
    """Where a path lies, links followed, if that is outside the project; and whether a link led there."""
    full = scope.path(word)
    if full is None or scope.workspace is None or locate(full, scope) is Place.HARMLESS:
        return None, False
    real = _real(full)
    if real == full:
        return (None if locate(full, scope) in _OWN else full), False
    home = _real(scope.workspace)
    inside = real == home or real.startswith(home + "/")
    return (None if inside or locate(real, scope) in _OWN else real), True


def _real(path: str) -> str:
    return os.path.realpath(path)


def _operands(run: Invocation) -> Iterator[str]:
    words = [word for word in run.args if not word.startswith("-") and not has_hole(word)]
    if basename(run.program) in ("grep", "egrep", "fgrep", "rg", "sed", "awk", "jq", "yq", "zgrep"):
        words = words[1:]
    if basename(run.program) in ("cp", "rsync", "scp"):
        words = words[:-1]
    yield from (word for word in words if re.match(r"[/~.\w]", word) and len(word) < 1000)
