"""Programs that look for files: which paths they may list, as patterns."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from laneway.sandbox.shell.invocation import Invocation
from laneway.sandbox.shell.places import OURS, place_of

_TESTS = {"-name", "-iname", "-path", "-wholename", "-ipath", "-regex", "-iregex"}
_ACTIONS = {"-exec", "-execdir", "-ok", "-okdir"}


@dataclass(slots=True)
class Search:
    """A find command: where it looks, for which names, and what it does with what it finds."""

    starts: list[str] = field(default_factory=list)
    below: str = "/"
    """What lies between a start and a name; outside the workspace it counts how deep that may be."""
    names: list[str] = field(default_factory=list)
    deletes: bool = False
    runs: list[list[str]] = field(default_factory=list)
    writes: list[str] = field(default_factory=list)
    empty_only: bool = False

    @property
    def patterns(self) -> list[str]:
        """What it finds, as paths."""
        named = self.names or ["**"]
        named = [f"/{name}" if name == "**" else f"{self.below}{name.removeprefix('./').lstrip('/')}" for name in named]
        return [start.rstrip("/") + name for start in self.starts for name in named]


def find(run: Invocation) -> Search:
    args = list(run.args)
    found = Search()
    while args and args[0] in ("-H", "-L", "-P"):
        args.pop(0)
    while args and not args[0].startswith(("-", "(", "!")):
        found.starts.append(args.pop(0))
    found.starts = found.starts or ["."]
    if not all(place_of(start, run.scope) in OURS for start in found.starts):
        found.below = "/**/"
    for branch in _branches(args):
        _read(branch, found)
    return found


def _branches(args: list[str]) -> list[list[str]]:
    """The alternatives of an expression; only the one that acts counts for its action."""
    branches: list[list[str]] = [[]]
    level = 0
    for word in args:
        level += (word == "(") - (word == ")")
        if word in ("-o", "-or", ",") and level == 0:
            branches.append([])
        else:
            branches[-1].append(word)
    return branches


def _read(branch: list[str], found: Search) -> None:
    names, acts, negated, empty = [], False, False, False
    rest = list(branch)
    while rest:
        word = rest.pop(0)
        if word in ("!", "-not"):
            negated = True
            continue
        if word in _TESTS and rest:
            value = rest.pop(0)
            if not negated:
                names.append(_pattern(word, value))
        elif word == "-empty":
            empty = not negated
        elif word == "-delete":
            acts = found.deletes = True
        elif word in _ACTIONS:
            acts = True
            argv = []
            while rest and rest[0] not in (";", "+"):
                argv.append(rest.pop(0))
            found.runs.append(argv)
        elif word in ("-fprint", "-fls", "-fprintf") and rest:
            found.writes.append(rest.pop(0))
        negated = False if word not in ("(",) else negated
    found.empty_only = empty if acts else found.empty_only
    if acts or not found.names:
        found.names = names or found.names if not acts else names


def _pattern(test: str, value: str) -> str:
    if test.endswith("regex"):
        ending = re.search(r"\\\.(\w+)\$?$", value)
        return f"*.{ending[1]}" if ending else "**"
    if test.endswith(("path", "wholename")):
        return value.lstrip("*") if value.startswith(("./", "*/")) else value
    return value


def found_paths(run: Invocation) -> list[str]:
    """The paths a program lists; none if it lists no paths."""
    words = [word for word in run.args if not word.startswith("-")]
    match run.program:
        case "find":
            return find(run).patterns
        case "ls" | "dir" | "exa" | "eza":
            return [
                f"{word.rstrip('/')}/*" if word in (".", "..", "/") or word.endswith("/") else word for word in words
            ] or ["./*"]
        case "fd" | "fdfind":
            found = run.options("-e --extension -t --type -d --max-depth -E --exclude -g")
            part = re.sub(r"[^\w.-]+", "*", found.operands[0]) if found.operands else ""
            endings = [f"*.{ending}" for ending in found.of("-e", "--extension")] or [f"**/*{part}*" if part else "**"]
            return [f"{folder}/{ending}" for folder in (found.operands[1:] or ["."]) for ending in endings]
        case "grep" | "rg" | "ag" if any(
            re.fullmatch(r"-[a-zA-Z]*[lL][a-zA-Z]*|--files(-with-matches)?", word) for word in run.args
        ):
            return [f"{word.rstrip('/')}/**" if "." not in word.rpartition("/")[2] else word for word in words[1:]] or [
                "./**"
            ]
        case "locate" | "mdfind":
            return [f"/**/*{word}*" for word in words] or ["/**"]
    return []
