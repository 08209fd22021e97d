"""Package managers: as root or for the whole system they ask, in a project or an environment they are ordinary."""

from __future__ import annotations

import re
from collections.abc import Iterator

from laneway.sandbox.shell.holes import shown
from laneway.sandbox.shell.invocation import Invocation
from laneway.sandbox.shell.programs.files import Rule
from laneway.sandbox.shell.rules import Finding

_ASKING = {
    "apt": r"(list|show|search|policy|depends|rdepends|--version|-v|help|madison|changelog)\b.*|.*\b(-s|--simulate|--dry-run)\b.*",
    "apt-get": r"(.* )?(-s|--simulate|--dry-run|--just-print|--version|changelog|download|--print-uris)\b.*",
    "dpkg": r"(-l|-L|-s|-S|-p|-c|-I|--list|--listfiles|--status|--search|--get-selections|--print-architecture|--version|-V|--verify|--audit)\b.*",
    "dnf": r"(list|info|search|repolist|provides|history|check-update|repoquery|deplist)\b.*",
    "rpm": r"(-q|--query|-V|--verify|--version)\w*.*",
    "apk": r"(info|list|search|version|policy|stats)\b.*|.*\b(-s|--simulate)\b.*",
    "pacman": r"(-Q|-Ss|-Si|-F|-V|-Sp|--query|--version)\w*.*",
    "zypper": r"(se|search|info|if|list-\w+|lr|lu|patches)\b.*|.*--dry-run.*",
    "brew": r"(list|ls|info|search|doctor|outdated|deps|uses|config|--version|--prefix|--cellar|leaves|home|shellenv|cat|desc|log|services list|services info)\b.*|.*(--dry-run|-n)\b.*",
    "snap": r"(list|info|find|version|changes|refresh --list)\b.*", "flatpak": r"(list|info|search|remotes|history)\b.*",
    "port": r"(list|info|search|installed|outdated|version)\b.*", "pkg": r"(info|search|query|version|audit|stats)\b.*",
    "emerge": r".*(-p|--pretend|-s|--search)\b.*", "nix-env": r"-q.*|--query.*", "add-apt-repository": r"--list|-L", "apt-key": r"list.*",
    "apt-cache": r".*", "choco": r"(list|search|info|outdated)\b.*", "winget": r"(list|search|show)\b.*", "apt-mark": r"show.*",
    "apt-file": r".*", "xbps-query": r".*", "eopkg": r"(li|info|search).*", "opkg": r"(list|info|status)\b.*", "aptitude": r"(search|show|versions|why)\b.*|.*-s\b.*",
}  # fmt: skip
"""Managers of the system's packages, and what only asks, as a pattern on the arguments."""
_ALIASES = {"yum": "dnf", "microdnf": "dnf", "dpkg-deb": "dpkg", "yay": "pacman", "paru": "pacman", "tdnf": "dnf"}
_OTHERS = "dpkg-reconfigure unattended-upgrade do-release-upgrade makepkg xbps-install xbps-remove pkg_add pkg_delete softwareupdate installer alien gdebi tasksel rpm-ostree"


def system(run: Invocation) -> Iterator[Finding]:
    name = _ALIASES.get(run.program, run.program)
    asking = _ASKING.get(name)
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
    elif words[:1] == ["token"] or words[:2] == ["config", "get"] and "authtoken" in " ".join(words).lower():
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


PACKAGES: dict[str, Rule] = {
    **dict.fromkeys([*_ASKING, *_ALIASES, *_OTHERS.split()], system),
    **dict.fromkeys("pip pip3 pipx uv poetry pdm pipenv conda mamba micromamba easy_install rye hatch flit".split(), pip),
    **dict.fromkeys("npm pnpm yarn bun cnpm".split(), npm),
    **dict.fromkeys("cargo gem twine mvn gradle composer go bundle cpan cpanm luarocks lein sbt dotnet-nuget nuget vsce ovsx".split(), publisher),
}  # fmt: skip
for _name in ("apt-cache", "apt-file", "xbps-query"):
    del PACKAGES[_name]
