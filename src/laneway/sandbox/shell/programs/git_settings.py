"""Git's settings and hooks: which settings run programs or redirect traffic, and what goes round hooks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from laneway.sandbox.shell.holes import shown
from laneway.sandbox.shell.invocation import Invocation
from laneway.sandbox.shell.options import options
from laneway.sandbox.shell.places import Place, place_of
from laneway.sandbox.shell.rules import Finding
from laneway.sandbox.shell.scope import Scope

_RUNS = re.compile(
    r"(?i)core\.(sshcommand|fsmonitor|gitproxy|askpass|editor|pager|alternaterefscommand)|sequence\.editor|"
    r"diff\.external|(diff|merge|filter)\..*\.(textconv|command|driver|clean|smudge|process)|credential\..*helper|"
    r"credential\.helper|gpg(\..*)?\.program|include\.path|includeif\..*|pager\..*|(difftool|mergetool)\..*\.cmd|"
    r"uploadpack\..*|sendemail\..*cmd|browser\..*\.cmd|man\..*\.cmd"
)
_REDIRECTS = re.compile(r"(?i)url\..*\.(push)?insteadof|https?\.(.*\.)?(proxy|sslverify|extraheader)")
_USUAL = re.compile(
    r"(?i)(cat|less( -\S+)*|delta|more|vim?|nvim|nano|emacs|code( --wait)?|true|:|cache.*|osxkeychain|manager.*|"
    r"libsecret|git-lfs .*|true|false|\"?!?(/usr/bin/)?gh auth git-credential\"?|!aws codecommit .*|gpg2?|)"
)
_SKIPPING = {"HUSKY": "0", "HUSKY_SKIP_HOOKS": "1", "LEFTHOOK": "0", "OVERCOMMIT_DISABLE": "1", "SKIP": None}
_HOOKED = {"commit", "push", "merge", "rebase", "am", "cherry-pick", "revert"}
_COMMIT = frozenset(
    {"-m", "-F", "-C", "-c", "-t", "--message", "--file", "--author", "--date", "--template", "--fixup"}
)
_READING = {"--get", "--get-all", "--get-regexp", "--list", "-l", "--get-urlmatch", "--show-origin", "--name-only"}


def setting_finding(key: str, value: str, scope: Scope) -> Iterator[Finding]:
    """What is found when git is given this setting."""
    if key.lower() == "core.hookspath":
        if place_of(value, scope) is Place.INSIDE or value.rstrip("/").endswith((".githooks", ".husky")):
            yield Finding("hooks-skipped", f"It makes git take its hooks from {shown(value)}.")
        else:
            yield Finding("guard-off", "It switches the repository's hooks off.")
    elif (_RUNS.fullmatch(key) and not _USUAL.fullmatch(value)) or _REDIRECTS.fullmatch(key):
        yield Finding("git-config", f"The git setting {shown(key)} runs a program or redirects what git sends.")


def config_findings(rest: Sequence[str], scope: Scope) -> Iterator[Finding]:
    found = options(rest, frozenset({"-f", "--file", "--blob", "--type", "-t", "--default", "--comment"}))
    words = found.operands
    if found.has(*_READING) or words[:1] in (["get"], ["list"]):
        return
    if words[:1] in (["set"], ["unset"]):
        words = words[1:]
    if "--system" in found.flags:
        yield Finding("system-files", "It changes git's settings for all users of this machine.")
    if len(words) >= 2 and not found.has("--unset", "--unset-all"):
        yield from setting_finding(words[0], words[1], scope)


def skips_hooks(run: Invocation, name: str, rest: Sequence[str]) -> Iterator[Finding]:
    if name not in _HOOKED:
        return
    found = options(rest, _COMMIT)
    if "--no-verify" in found.flags or (name == "commit" and "-n" in found.flags):
        yield Finding("hooks-skipped", f"It makes git {name} skip the repository's hooks.")
    for variable, value in _SKIPPING.items():
        given = run.environment.get(variable) or " ".join(run.scope.variables.get(variable, []))
        if given and (value is None or given == value):
            yield Finding("hooks-skipped", f"{variable} makes the repository's hooks do nothing.")
