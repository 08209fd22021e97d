"""Where a tool call looks beyond its project: reading there is no danger by itself, but worth a word."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from posixpath import basename
from typing import Any

from laneway.sandbox.shell.bounds import LONGEST, TooMuch
from laneway.sandbox.shell.holes import RESERVED, has_hole
from laneway.sandbox.shell.invocation import Invocation
from laneway.sandbox.shell.invoke import invoke, risky
from laneway.sandbox.shell.places import Place, is_secret, locate
from laneway.sandbox.shell.scope import Scope, opened
from laneway.sandbox.shell.streams import Stream
from laneway.sandbox.shell.walk import Walk
from laneway.sandbox.tool_calls import command_of, kind_of, paths_of

_SHOWING = {
    "awk", "bat", "cat", "cp", "csvcut", "cut", "diff", "du", "egrep", "fd", "fgrep", "find", "grep", "head", "hexdump",
    "jq", "less", "ls", "more", "nl", "od", "rg", "rsync", "scp", "sed", "sort", "stat", "strings", "tac", "tail",
    "tar", "tree", "wc", "xxd", "yq", "zcat", "zgrep",
}  # fmt: skip
"""Programs whose operands are files or folders they read."""
_OWN = {
    *(Place.INSIDE, Place.WORKSPACE, Place.GIT, Place.SCRATCH, Place.ALL_SCRATCH, Place.HARMLESS, Place.UNKNOWN),
    Place.GUARD,
}
_MAY_LEAD_OUT = re.compile(r"(^|[\s=\"'(<])[/~]|\.\.|\bcd\b")
_MOST = 20


def scope_of(cwd: str | None, project: str | None) -> Scope:
    """A project as it is seen from one of its folders, or from elsewhere."""
    scope = opened(project or cwd)
    if project and cwd:
        scope.enter(cwd)
    return scope


def reads_outside(tool: str, given: Mapping[str, Any], cwd: str | None, project: str | None) -> list[str]:
    """The paths outside the project that a call reads, as they lie on the disk."""
    kind = kind_of(tool, given)
    scope = scope_of(cwd, project)
    if kind == "exec":
        words = _words(command_of(given) or "", scope)
    else:
        words = [(path, scope) for path in paths_of(given)] if kind == "read" else []
    found = (lying_outside(word, seen_from) for word, seen_from in words)
    return list(dict.fromkeys(path for path in found if path is not None))[:_MOST]


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


def leads_to_secret(path: str) -> bool:
    """Whether a path on the disk is one of a key, a token or a password."""
    return is_secret(path)


def lying_outside(word: str, scope: Scope) -> str | None:
    """Where a path lies, links followed, if that is outside the project."""
    full = scope.path(word)
    if full is None or scope.workspace is None:
        return None
    real = _real(full)
    if real == full:
        return None if locate(full, scope) in _OWN else full
    home = _real(scope.workspace)
    inside = real == home or real.startswith(home + "/")
    return None if inside or locate(real, scope) in _OWN else real


def _real(path: str) -> str:
    return os.path.realpath(path)


def _words(command: str, scope: Scope) -> list[tuple[str, Scope]]:
    """The files and folders that the programs of a command are told to show, each as seen from where it runs."""
    if len(command) > LONGEST or RESERVED.search(command) or not _MAY_LEAD_OUT.search(command):
        return []
    seen: list[tuple[str, Scope]] = []

    def noting(walk: Walk, run: Invocation) -> Stream:
        if basename(run.program) in _SHOWING and run.scope.remote is None:
            seen.extend((word, run.scope) for word in _operands(run))
        return invoke(walk, run)

    try:
        Walk(noting, risky).shell(command, scope)
    except (TooMuch, LookupError, ValueError, TypeError, AttributeError, RecursionError):
        # The guard itself has judged this text already, and says so where it could not.
        return seen
    return seen


def _operands(run: Invocation) -> Iterator[str]:
    words = [word for word in run.args if not word.startswith("-") and not has_hole(word)]
    if basename(run.program) in ("grep", "egrep", "fgrep", "rg", "sed", "awk", "jq", "yq", "zgrep"):
        words = words[1:]
    if basename(run.program) in ("cp", "rsync", "scp"):
        words = words[:-1]
    yield from (word for word in words if re.match(r"[/~.\w]", word) and len(word) < 1000)
