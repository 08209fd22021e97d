"""Package managers: as root or for the whole system they ask, in a project or an environment they are ordinary."""

from __future__ import annotations

import re
from collections.abc import Iterator

from laneway.sandbox.shell.holes import shown
from laneway.sandbox.shell.invocation import Invocation
from laneway.sandbox.shell.programs.naming import named
from laneway.sandbox.shell.rules import Finding
from laneway.sandbox.shell.tables import table

ASKING: dict[str, str] = table("programs/asking")["packages"]
"""Managers of the system's packages, and what only asks, as a pattern on the arguments."""
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
    yield from _plain_network(run)


def _plain_network(run: Invocation) -> Iterator[Finding]:
    """Packages by an unprotected or raw address are code nobody has reviewed."""
    for word in run.args:
        if re.match(r"(--(extra-)?index-url=|--registry=)?http://(?!localhost|127\.)", word) or re.match(
            r"https?://\S+\.(tgz|tar\.gz|zip|whl|sh|gem)$", word
        ):
            yield Finding("network-code", f"It installs code straight from {shown(word)}.")


def npm(run: Invocation) -> Iterator[Finding]:
    found = run.options("--prefix -C --filter -w --workspace --registry --tag --cache -F --cwd --dir")
    words = found.operands
    changing = words[:1] in (
        ["install"],
        ["i"],
        ["add"],
        ["uninstall"],
        ["remove"],
        ["rm"],
        ["update"],
        ["link"],
        ["ci"],
        ["un"],
    )
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
    yield from _plain_network(run)


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
