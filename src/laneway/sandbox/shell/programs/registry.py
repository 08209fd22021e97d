"""Every rule by the program it judges, and the rules that judge all programs."""

from __future__ import annotations

import re
from collections.abc import Iterator

from laneway.sandbox.shell.holes import shown
from laneway.sandbox.shell.invocation import Invocation
from laneway.sandbox.shell.programs.agents import AGENTS, unwatched_flag
from laneway.sandbox.shell.programs.archives import ARCHIVES
from laneway.sandbox.shell.programs.cloud import CLOUD
from laneway.sandbox.shell.programs.containers import CONTAINERS
from laneway.sandbox.shell.programs.databases import DATABASES
from laneway.sandbox.shell.programs.disks import DISKS
from laneway.sandbox.shell.programs.files import FILES
from laneway.sandbox.shell.programs.git import GIT
from laneway.sandbox.shell.programs.machine import MACHINE
from laneway.sandbox.shell.programs.naming import Rule
from laneway.sandbox.shell.programs.network import NETWORK
from laneway.sandbox.shell.programs.packages import FETCHING, PACKAGES
from laneway.sandbox.shell.programs.readers import only_reads
from laneway.sandbox.shell.programs.secrets import SECRETS, reads_secret
from laneway.sandbox.shell.rules import Finding

_FAMILIES = (
    FILES, ARCHIVES, GIT, PACKAGES, FETCHING, DATABASES, CLOUD, CONTAINERS, MACHINE, DISKS, NETWORK, AGENTS, SECRETS,
)  # fmt: skip
BY_PROGRAM: dict[str, list[Rule]] = {}
for _family in _FAMILIES:
    for _name, _rule in _family.items():
        BY_PROGRAM.setdefault(_name, []).append(_rule)

_VERBS = re.compile(
    r"(destroy|purge|wipe|nuke|erase|teardown|drop-database|dropdb|reset-db|factory-reset|delete-all|flushall)"
)


def judged(run: Invocation) -> Iterator[Finding]:
    """Everything the rules find in one program that would run."""
    if run.args and all(word in ("--help", "--version") for word in run.args):
        return
    rules = BY_PROGRAM.get(run.program, [])
    for rule in rules:
        yield from rule(run)
    yield from reads_secret(run)
    yield from unwatched_flag(run)
    if not rules:
        yield from _unknown(run)
    if run.scope.root and not only_reads(run):
        yield Finding("root-command", f"It runs {shown(run.program)} with the rights of root.")
    elif run.scope.remote == "host" and not only_reads(run):
        yield Finding("remote-change", f"It runs {shown(run.program)} on another host.")


def _unknown(run: Invocation) -> Iterator[Finding]:
    if only_reads(run) or any(word.startswith(("--dry-run", "--help", "--check")) for word in run.args):
        return
    for word in [word for word in run.args if not word.startswith("-")][:2]:
        if _VERBS.fullmatch(word):
            yield Finding("cloud-loss", f"By its name {run.program} {word} loses something for good.")
