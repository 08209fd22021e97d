"""Where a tool call looks beyond its project: reading there is no danger by itself, but worth a word."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from posixpath import basename
from typing import Any

from laneway.domain.action import Decision, Verdict, allow, ask
from laneway.sandbox.shell.holes import has_hole, shown
from laneway.sandbox.shell.interpreters import INTERPRETERS
from laneway.sandbox.shell.invocation import Invocation
from laneway.sandbox.shell.places import Place, locate, place_of
from laneway.sandbox.shell.programs.secrets import NOT_REVEALING
from laneway.sandbox.shell.rules import UNJUDGED, UNSURE
from laneway.sandbox.shell.scope import Scope, opened
from laneway.sandbox.tool_calls import kind_of, paths_of, patterns_of, readings_of

_SHOWING = {
    "ag", "awk", "base32", "base64", "bat", "batcat", "bzcat", "cat", "cmp", "comm", "cp", "csvcut", "cut", "diff",
    "du", "egrep", "expand", "eza", "fd", "fgrep", "find", "fold", "gawk", "grep", "head", "hexdump", "join", "jq",
    "less", "ls", "mawk", "more", "nl", "od", "paste", "pr", "rev", "rg", "rsync", "scp", "sed", "sort", "split",
    "stat", "strings", "tac", "tail", "tar", "tree", "uniq", "wc", "xxd", "xzcat", "yq", "zcat", "zgrep", "zip",
}  # fmt: skip
"""Programs whose operands are files or folders they read."""
_NAMING = {"du", "fd", "find", "ls", "stat", "tree"}
"""Those of them that look at the folder they are in if they are told no other."""
_SCRIPTS = frozenset(INTERPRETERS) | {"source", "."}
_ENTERING = {"-C", "--prefix", "--git-dir", "--work-tree", "--directory", "--cwd", "--project", "--manifest-path"}
"""Options that name the folder in which a program works."""
_OWN = {
    *(Place.INSIDE, Place.WORKSPACE, Place.GIT, Place.SCRATCH, Place.ALL_SCRATCH, Place.HARMLESS, Place.UNKNOWN),
    Place.GUARD,
}
_MOST_WORDS = 200


@dataclass(frozen=True, slots=True)
class Look:
    """A word of a command or an argument that is read, and where that happens."""

    word: str
    scope: Scope


class Looks:
    """Where the programs of a command look; filled while the guard walks through it."""

    def __init__(self) -> None:
        self.all: list[Look] = []

    def see(self, run: Invocation) -> None:
        """What this program is told to show is known, as seen from where it runs."""
        if run.scope.remote is not None or len(self.all) >= _MOST_WORDS:
            return
        program, words = basename(run.program), list(_operands(run))
        if program in _NAMING and not words:
            words = ["."]
        elif program not in _SHOWING:
            # Whatever it does with what lies outside; those that show nothing enter a folder or run a script there.
            told = words[: program in _SCRIPTS] if program in NOT_REVEALING | _SCRIPTS else words
            words = [
                word for word in (*[run.program][: "/" in run.program], *told, *_entered(run)) if run.scope.climbs(word)
            ]
        # Its folder as it is now: the shell goes on.
        self.all.extend(
            Look(word, run.scope.copy()) for word in (*words, *([run.stdin.file] if run.stdin.file else []))
        )


def _entered(run: Invocation) -> Iterator[str]:
    for before, word in pairwise((*run.args, "")):
        name, equals, value = before.partition("=")
        if name in _ENTERING:
            yield value if equals else word


def beyond(
    found: Verdict, tool: str, given: Mapping[str, Any], cwd: str | None, project: str | None, looks: Looks
) -> Verdict:
    """The verdict on a call that also says where it climbs out of its project by `..`, or reads beyond it."""
    allowed = found.decision is Decision.ALLOW
    if not allowed and found.rule not in UNSURE | UNJUDGED:
        return found
    scope = opened(cwd, project=project)
    words = (*paths_of(given), *patterns_of(tool, given))
    named = [Look(path, scope) for word in words for path in readings_of(word, scope)]
    for look in (*looks.all, *named):
        if _climbs(look, known=bool(cwd or project)):
            return ask("path-climbs", f"{shown(look.word)} climbs out of the project.", changes=found.changes)
    reading = named if kind_of(tool, given) == "read" else []
    outside = dict.fromkeys(filter(None, (lying_outside(look.word, look.scope) for look in (*looks.all, *reading))))
    if not allowed or not outside:
        return found
    told = f"It reads {shown(', '.join(outside))}, outside the project."
    return allow("read-outside", told, changes=found.changes)


def _climbs(look: Look, *, known: bool) -> bool:
    """Whether a path leaves the project by `..`; where no folder is known, as many steps as it takes are assumed."""
    if not known:
        rest = re.sub(r"^(\./|\.\./)+", "/", look.word)
        return rest != look.word and locate(rest, look.scope) in (Place.SYSTEM, Place.ROOT)
    return look.scope.climbs(look.word) and place_of(look.word, look.scope) is not Place.HARMLESS


def lying_outside(word: str, scope: Scope) -> str | None:
    """Where a path lies, links followed, if that is outside the project."""
    full = scope.path(word)
    return None if full is None or scope.workspace is None or locate(full, scope) in _OWN else full


def _operands(run: Invocation) -> Iterator[str]:
    words = [word for word in run.args if not word.startswith("-") and not has_hole(word)]
    if basename(run.program) in ("grep", "egrep", "fgrep", "rg", "sed", "awk", "jq", "yq", "zgrep"):
        words = words[1:]
    if basename(run.program) in ("cp", "rsync", "scp"):
        words = words[:-1]
    yield from (word for word in words if re.match(r"[/~.\w]", word) and len(word) < 1000)
