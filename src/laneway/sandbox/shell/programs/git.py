"""Git: what throws away uncommitted work, rewrites shared history, or goes round hooks."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from laneway.sandbox.shell.holes import shown
from laneway.sandbox.shell.invocation import Invocation
from laneway.sandbox.shell.options import options
from laneway.sandbox.shell.places import Place, place_of
from laneway.sandbox.shell.programs.git_settings import config_findings, setting_finding, skips_hooks
from laneway.sandbox.shell.programs.losing import writes
from laneway.sandbox.shell.programs.naming import Rule
from laneway.sandbox.shell.rules import Finding
from laneway.sandbox.shell.scope import Scope
from laneway.sandbox.shell.tables import VALUED

GLOBAL = frozenset(VALUED["git"].split())

_FILE_LIKE = re.compile(r"\.{1,2}(/.*)?|:/.*|.*[*?].*|.*/|.*\.(?!\d)[A-Za-z]\w{0,7}|Makefile|Dockerfile|README|LICENSE")
_FOREIGN_REPOSITORY = re.compile(r"\w+://|[\w.-]+@[\w.-]+:|/|\.\./")
DRY = ("-n", "--dry-run")


@dataclass(frozen=True, slots=True)
class GitCall:
    """A git command line: global options, subcommand, the rest."""

    settings: list[str]
    folders: list[str]
    name: str
    rest: list[str]
    scope: Scope

    def has(self, *flags: str, valued: str = "-m -F -C -c --message --file --author --date --reason") -> bool:
        return options(self.rest, frozenset(valued.split())).has(*flags)

    @property
    def operands(self) -> list[str]:
        return options(self.rest, frozenset({"-m", "-F", "--message", "-b", "-B", "-o", "--push-option"})).operands


def parts(args: Sequence[str], scope: Scope) -> GitCall:
    found = options(args, GLOBAL, until_operand=True)
    name, rest = (found.operands[0], found.operands[1:]) if found.operands else ("", [])
    return GitCall(found.of("-c", "--config-env"), found.of("-C", "--work-tree"), name, rest, scope)


def git(run: Invocation) -> Iterator[Finding]:
    call = parts(run.args, run.scope)
    for setting in call.settings:
        key, _, value = setting.partition("=")
        yield from setting_finding(key, value, run.scope)
    if call.has("--help"):
        return
    yield from skips_hooks(run, call.name, call.rest)
    judge = _SUBCOMMANDS.get(call.name)
    if judge is not None:
        yield from judge(call)


def _discards(what: str) -> Finding:
    return Finding("git-discard", f"It throws away {what}.")


def _checkout(call: GitCall) -> Iterator[Finding]:
    if call.has("-b", "-B", "--orphan", "--ours", "--theirs", valued=""):
        return
    if call.has("-f", "--force", "-p", "--patch"):
        yield _discards("uncommitted changes")
    before, dashes, after = split_at_dashes(call.rest)
    words = options(before).operands
    if (dashes and after) or "--pathspec-from-file" in " ".join(before):
        yield _discards(f"uncommitted changes in {shown(' '.join(after))}")
    elif len(words) > 1 and not call.has("-t", "--track"):
        yield _discards(f"uncommitted changes in {shown(' '.join(words[1:]))}")
    elif words and _FILE_LIKE.fullmatch(words[0]) and not dashes:
        yield _discards(f"uncommitted changes in {shown(words[0])}")


def split_at_dashes(rest: list[str]) -> tuple[list[str], bool, list[str]]:
    if "--" not in rest:
        return rest, False, []
    place = rest.index("--")
    return rest[:place], True, rest[place + 1 :]


def _restore(call: GitCall) -> Iterator[Finding]:
    if not call.has("--staged", "-S") or call.has("--worktree", "-W"):
        yield _discards("uncommitted changes")


def _switch(call: GitCall) -> Iterator[Finding]:
    if call.has("-f", "--force", "--discard-changes"):
        yield _discards("uncommitted changes")


def _reset(call: GitCall) -> Iterator[Finding]:
    if call.has("--hard", "--merge"):
        yield _discards("uncommitted changes")


def _clean(call: GitCall) -> Iterator[Finding]:
    if not call.has(*DRY, valued="-e --exclude") or any(word.startswith("--no-dry") for word in call.rest):
        yield _discards("files git does not track")


def _stash(call: GitCall) -> Iterator[Finding]:
    if call.operands[:1] in (["drop"], ["clear"]):
        yield _discards("stashed work")


def _branch(call: GitCall) -> Iterator[Finding]:
    if call.has("-D", "-f", "--force"):
        yield _discards("a branch, merged or not")


def _tag(call: GitCall) -> Iterator[Finding]:
    if call.has("-d", "--delete", "-f", "--force"):
        yield Finding("git-history", "It deletes or moves a tag.")


def _push(call: GitCall) -> Iterator[Finding]:
    if call.has(*DRY, valued="-o --push-option") and not any(word.startswith("--no-dry") for word in call.rest):
        return
    forced = any(re.match(r"--force", word) for word in call.rest) or call.has("-f")
    if forced or any(word.startswith("+") for word in call.operands):
        yield Finding("git-history", "It overwrites history that others share.")
    gone = call.has("-d", "--delete", "--mirror", "--prune")
    if gone or any(word.startswith(":") for word in call.operands[1:]):
        yield Finding("git-history", "It deletes branches or tags that others share.")
    for word in call.operands[:1]:
        if _FOREIGN_REPOSITORY.match(word):
            yield Finding("send-file", f"It sends the repository to {shown(word)}, which is no named remote.")


def _reflog(call: GitCall) -> Iterator[Finding]:
    if call.operands[:1] in (["expire"], ["delete"]) and not call.has(*DRY):
        yield Finding("git-history", "It deletes the record that lost commits are recovered by.")


def _gc(call: GitCall) -> Iterator[Finding]:
    if any(re.match(r"--prune=(now|all|0)", word) for word in call.rest):
        yield Finding("git-history", "It deletes unreachable commits for good.")


def _rewrites(call: GitCall) -> Iterator[Finding]:
    if not call.has(*DRY):
        yield Finding("git-history", f"git {call.name} rewrites history or moves branches directly.")


def _worktree(call: GitCall) -> Iterator[Finding]:
    if call.operands[:1] == ["remove"] and call.has("-f", "--force"):
        yield _discards("uncommitted changes of a worktree")


def _submodule(call: GitCall) -> Iterator[Finding]:
    forced = call.operands[:1] == ["deinit"] and call.has("-f", "--force")
    if forced or (call.operands[:1] == ["update"] and call.has("-f", "--force")):
        yield _discards("uncommitted changes of a submodule")


def _rm(call: GitCall) -> Iterator[Finding]:
    if call.has("-f", "--force") and not call.has("--cached", *DRY):
        yield _discards("files with uncommitted changes")


def _overwrites(call: GitCall) -> Iterator[Finding]:
    if call.has("-f", "--force", "--reset", "-u"):
        yield _discards("uncommitted changes")


def _config(call: GitCall) -> Iterator[Finding]:
    yield from config_findings(call.rest, call.scope)


def _credential(call: GitCall) -> Iterator[Finding]:
    if call.operands[:1] == ["fill"] or call.name != "credential":
        yield Finding("read-secret", "It prints stored passwords or tokens.")


def _clone(call: GitCall) -> Iterator[Finding]:
    for word in call.operands:
        if word.startswith("ext::"):
            yield Finding("inline-script", "The address runs a shell command.")
    for word in call.operands[1:2]:
        if place_of(word, call.scope) in (Place.SYSTEM, Place.STARTUP, Place.GUARD):
            yield from writes(word, call.scope)


def _mail(call: GitCall) -> Iterator[Finding]:
    if not call.has("--dry-run"):
        yield Finding("publish", "It sends patches by mail.")


def _lfs(call: GitCall) -> Iterator[Finding]:
    if call.operands[:1] == ["prune"] and not call.has("-d", *DRY):
        yield Finding("git-history", "It deletes large files kept for older commits.")


_SUBCOMMANDS: dict[str, Callable[[GitCall], Iterator[Finding]]] = {
    "checkout": _checkout, "restore": _restore, "switch": _switch, "reset": _reset, "clean": _clean, "stash": _stash,
    "branch": _branch, "tag": _tag, "push": _push, "reflog": _reflog, "gc": _gc, "prune": _rewrites,
    "filter-branch": _rewrites, "filter-repo": _rewrites, "update-ref": _rewrites, "replace": _rewrites,
    "worktree": _worktree, "submodule": _submodule, "rm": _rm, "checkout-index": _overwrites, "read-tree": _overwrites,
    "config": _config, "credential": _credential, "credential-store": _credential, "credential-cache": _credential,
    "clone": _clone, "fetch": _clone, "ls-remote": _clone, "pull": _clone, "send-email": _mail, "lfs": _lfs,
}  # fmt: skip


def _history_tool(run: Invocation) -> Iterator[Finding]:
    yield Finding("git-history", f"{run.program} rewrites the history of the repository.")


GIT: dict[str, Rule] = {"git": git, "git-filter-repo": _history_tool, "bfg": _history_tool}
