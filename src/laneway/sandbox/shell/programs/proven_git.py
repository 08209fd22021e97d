"""Which calls of git provably only read: no other repository's settings, no pager, no new names, no remote."""

from __future__ import annotations

import re

from laneway.sandbox.shell.holes import has_hole, may_be_option
from laneway.sandbox.shell.invocation import Invocation
from laneway.sandbox.shell.programs.git import GitCall, parts, split_at_dashes
from laneway.sandbox.shell.tables import table

_TABLE = table("programs/proven")["git"]
_ALWAYS = frozenset(_TABLE["always"].split())
_UNLESS = _TABLE["unless"].split()
_LISTING, _NAMES = frozenset(_TABLE["listing"].split()), frozenset(_TABLE["names"].split())
_NEXT: dict[str, list[str]] = _TABLE["next"]
_BEFORE = {"--no-pager", "--no-optional-locks", "--literal-pathspecs", "--version", "-P"}
_SETTINGS = re.compile(
    r"--(get|get-all|get-regexp|list|global|local|system|worktree|show-origin|show-scope|name-only|null|bool|int|path|"
    r"includes)|-[lz]|--type=\w+"
)
_DRY = re.compile(r"-[nvdxXfAuq]+|--(dry-run|verbose|all|cached)")


def git_only_reads(run: Invocation) -> bool:
    """Whether this call of git leaves the repository as it was and speaks to no other."""
    before = run.args[: next((place for place, word in enumerate(run.args) if not word.startswith("-")), len(run.args))]
    call = parts(run.args, run.scope)
    if not set(before) <= _BEFORE or run.scope.cwd is None or run.scope.cwd != (run.scope.workspace or run.scope.cwd):
        # A folder below may hold a repository of its own, whose settings name programs that git runs.
        return False
    if any(_may_write(word) for word in split_at_dashes(call.rest)[0]):
        return False
    match call.name:
        case "branch" | "tag":
            return _lists(call)
        case "config":
            return _asks(call)
        case "clean" | "add" | "rm" | "mv":
            flags = [word for word in call.rest if word.startswith("-")]
            dry = any(re.fullmatch(r"-[a-zA-Z]*n[a-zA-Z]*|--dry-run", word) for word in flags)
            return dry and all(_DRY.fullmatch(word) for word in flags)
    first = call.rest[0] if call.rest else ""
    return call.name in _ALWAYS or first in _NEXT.get(call.name, ()) or (call.name == "" and bool(run.args))


def _may_write(word: str) -> bool:
    if may_be_option(word) or word.startswith("-O"):
        return True
    name = word.partition("=")[0]
    return name.startswith("--") and len(name) > 3 and any(one.startswith(name) or one == name for one in _UNLESS)


def _lists(call: GitCall) -> bool:
    """Whether `git branch` or `git tag` lists: a name without an option that lists makes one."""
    flags = {word.partition("=")[0] for word in call.rest if word.startswith("-")}
    flags = {"-n" if call.name == "tag" and re.fullmatch(r"-n\d*", flag) else flag for flag in flags}
    words = [word for word in call.rest if not word.startswith("-")]
    listing = _LISTING | {"-n"} if call.name == "tag" else _LISTING
    names = _NAMES - {"-v", "--verbose", "-vv", "-a", "-r"} if call.name == "tag" else _NAMES - {"-n"}
    return flags <= names and (not words or bool(flags & listing)) and not any(map(has_hole, words))


def _asks(call: GitCall) -> bool:
    flags = [word for word in call.rest if word.startswith("-")]
    words = [word for word in call.rest if not word.startswith("-")]
    if not all(_SETTINGS.fullmatch(word) for word in flags) or any(map(has_hole, words)):
        return False
    asked = any(word.startswith(("--get", "--list", "-l")) for word in flags)
    return asked or words[:1] in (["get"], ["list"]) or (len(words) == 1 and words[0] not in ("edit", "unset", "set"))
