"""Package managers: as root or for the whole system they ask, in a project or an environment they are ordinary."""

from __future__ import annotations

import re
from collections.abc import Iterator

from laneway.sandbox.shell.holes import shown
from laneway.sandbox.shell.invocation import Invocation
from laneway.sandbox.shell.programs.hosts import is_here
from laneway.sandbox.shell.programs.naming import named
from laneway.sandbox.shell.rules import Finding
from laneway.sandbox.shell.streams import NETWORK
from laneway.sandbox.shell.tables import table
from laneway.sandbox.shell.wrappers import Inside, unwrapped

ASKING: dict[str, str] = table("programs/asking")["packages"]
"""Managers of the system's packages, and what only asks, as a pattern on the arguments."""
_TABLE = table("programs/packages")
_FETCHING, _APART, _RUNNERS, _SHORT, _BY_ADDRESS, _VARIABLES, _HOSTS = (
    frozenset(_TABLE[name].split())
    for name in ("fetching", "apart", "runners", "short", "by_address", "variables", "hosts")
)
_ADDRESS = re.compile(
    r"(?:^|[=@+,\s\"'(])(?:git\+|hg\+|svn\+|bzr\+)?(?:(?:https?|git|ssh|ftp|s3|gs)://(?:[^/@\s]*@)?([^/:\s?#]*)"
    r"|[\w.-]+@([\w-]+(?:\.[\w-]+)+):|(?:github|gitlab|bitbucket|gist|sourcehut|tarball):)"
)
"""Where a word names a place of the network: by a scheme, as `git@host:`, or as `github:owner/name`."""
_REPOSITORY = re.compile(r"[A-Za-z0-9][\w.-]*/[\w.-]+(#.*)?")
_GO_PACKAGE = re.compile(r"[\w-]+(\.[\w-]+)+/\S+@\S+")
_ALIASES = {"yum": "dnf", "microdnf": "dnf", "dpkg-deb": "dpkg", "yay": "pacman", "paru": "pacman", "tdnf": "dnf"}


def system(run: Invocation) -> Iterator[Finding]:
    name = _ALIASES.get(run.program, run.program)
    asking = ASKING.get(name)
    line = " ".join(word for word in run.args if word not in ("-q", "-qq", "-y"))
    if not run.args or run.args in (["--help"], ["--version"]):
        return
    if asking is None or not re.fullmatch(asking, line, re.DOTALL):
        yield Finding("system-packages", f"It changes packages of the system ({run}).")


def pip(run: Invocation) -> Iterator[Finding]:
    words = run.options("-r -c -e -t --target -i --index-url --extra-index-url -f --python --prefix --root").operands
    if words[:1] == ["pip"]:
        words = words[1:]
    changing = words[:1] in (["install"], ["uninstall"], ["remove"], ["add"], ["sync"], ["inject"], ["upgrade"])
    if changing and (run.scope.root or "--break-system-packages" in run.args or "--system" in run.args):
        yield Finding("system-packages", f"It changes Python packages of the system ({run}).")
    if words[:1] == ["publish"]:
        yield Finding("publish", "It publishes a package.")


def foreign(run: Invocation) -> Iterator[Finding]:
    """Packages by another index, by an address or out of a repository are code nobody has reviewed."""
    inside = unwrapped(run)
    verb = next((word for word in run.args if word in _FETCHING | _APART), "")
    words = _package_words(run, verb, inside)
    packages = inside.argv[:1] if inside else run.options(_TABLE["valued"]).operands
    given = {**{name: value[0] for name, value in run.scope.variables.items() if value}, **run.environment}
    words = words + [given[name] for name in _VARIABLES & set(given)]
    for word in words:
        address = _ADDRESS.search(word)
        host = (address[1] or address[2] or "") if address else ""
        by_address = verb in ("run", "install") and _GO_PACKAGE.match(word) and word.partition("/")[0] not in _HOSTS
        if (address and host not in _HOSTS and not is_here(host)) or by_address:
            yield Finding("network-code", f"It fetches code from {shown(word)}, which is not the usual index.")
        elif run.program in _SHORT and word in packages and _REPOSITORY.fullmatch(word):
            yield Finding("network-code", f"It fetches code from the repository {shown(word)}.")
    if NETWORK in run.stdin.origins and verb in _FETCHING:
        yield Finding("network-code", "It installs what a list from the network names.")


def _package_words(run: Invocation, verb: str, inside: Inside | None) -> list[str]:
    """The words that say what is fetched and from where, not what is then run with."""
    if inside is not None:
        return run.args[: len(run.args) - len(inside.argv) + 1]
    if run.program in _BY_ADDRESS and verb == "run":
        operands = run.options("-exec -o -tags -ldflags").operands
        return run.args[: run.args.index(operands[1]) + 1] if operands[1:] else []
    return run.args if run.program in _RUNNERS or verb in _FETCHING else []


def npm(run: Invocation) -> Iterator[Finding]:
    found = run.options("--prefix -C --filter -w --workspace --registry --tag --cache -F --cwd --dir")
    words = found.operands
    changing = not set(_TABLE["npm_changing"].split()).isdisjoint(words[:1])
    if words[:2] == ["global", "add"] or (changing and found.has("-g", "--global")):
        yield Finding("system-packages", f"It changes packages for all of the machine ({run}).")
    elif run.scope.root and changing:
        yield Finding("system-packages", "It installs packages with the rights of root.")
    elif (
        words[:1] in (["publish"], ["unpublish"], ["deprecate"], ["owner"], ["dist-tag"], ["access"])
        and "--dry-run" not in run.args
    ):
        yield Finding("publish", f"{run.program} {words[0]} changes what others install.")
    elif words[:1] == ["token"] or (words[:2] == ["config", "get"] and "authtoken" in " ".join(words).lower()):
        yield Finding("read-secret", "It shows or makes tokens of the registry.")
    elif words[:1] in (["run"], ["run-script"]):
        from laneway.sandbox.shell.programs.databases import task

        yield from task(Invocation("npm", words[1:2], run.scope))


def publisher(run: Invocation) -> Iterator[Finding]:
    """cargo, gem, twine, mvn and others: publishing asks, the rest is ordinary unless root does it."""
    words = run.options("--manifest-path -p --package --repository -r").operands
    if "--dry-run" in run.args:
        return
    if (
        words[:1] in (["publish"], ["yank"], ["push"], ["upload"], ["owner"])
        or words[:2] == ["hex", "publish"]
        or (words[:1] == ["deploy"] and run.program == "mvn")
    ):
        yield Finding("publish", f"{run.program} {words[0]} changes what others install.")
    elif run.scope.root and words[:1] in (["install"], ["uninstall"], ["update"], ["require"], ["global"]):
        yield Finding("system-packages", "It changes packages with the rights of root.")


PACKAGES = named("packages", system, pip, npm, publisher)
FETCHING = named("fetching", foreign)
