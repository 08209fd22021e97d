"""The guard: may this command or tool call run? Allowed, asked about, or denied, with a rule and a sentence why."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from laneway.domain.action import Verdict
from laneway.sandbox.shell.bounds import LONGEST, LONGEST_PATH, TooMuch
from laneway.sandbox.shell.holes import RESERVED
from laneway.sandbox.shell.invocation import Invocation
from laneway.sandbox.shell.invoke import invoke, risky
from laneway.sandbox.shell.rules import Finding, verdict
from laneway.sandbox.shell.scope import opened, project_of
from laneway.sandbox.shell.streams import Stream
from laneway.sandbox.shell.walk import Invoke, Walk

See = Callable[[Invocation], None]

_HIDING = re.compile("[\u202a-\u202e\u2066-\u2069\u200b-\u200f\u2060\ufeff\x00\x1b\x08]")
_BOUNDS = {
    "too-long": "The command is too long to be judged.",
    "too-complex": "The command is nested too deeply, or too tangled, to be judged.",
}

_UNFORESEEN = (
    LookupError,
    ValueError,
    TypeError,
    AttributeError,
    ArithmeticError,
    RecursionError,
    MemoryError,
    re.error,
)


def judge(command: str, cwd: str | None = None, home: str | None = None, see: See | None = None) -> Verdict:
    """Whether a shell command may run in a folder, which is its workspace; `see` is shown each program it runs."""
    if len(command) > LONGEST:
        return verdict([Finding("too-long", _BOUNDS["too-long"])], changes=True)
    if RESERVED.search(command) or _HIDING.search(command):
        return verdict([Finding("hidden-text", "The command holds characters that hide what it says.")], changes=True)
    walk = Walk(invoke if see is None else _seen_by(see), risky)
    try:
        walk.shell(command, opened(cwd, home))
        walk.ended()
    except TooMuch as bound:
        walk.found([Finding(bound.rule, _BOUNDS[bound.rule])])
        walk.changes = True
    except _UNFORESEEN:
        # The text is hostile, and its judge has no bug it may profit from: what cannot be judged is asked about.
        walk.found([Finding("unparsed", "The command could not be judged.")])
        walk.changes = True
    return verdict(walk.findings, changes=walk.changes)


def _seen_by(see: See) -> Invoke:
    def shown_first(walk: Walk, run: Invocation) -> Stream:
        see(run)
        return invoke(walk, run)

    return shown_first


def needs_machine(command: str, workspace: str) -> str | None:
    """What of a command only the machine itself has, and no sandbox shows: its services, processes or folders."""
    found: list[str] = []

    def look(run: Invocation) -> None:
        if run.program in _MACHINE:
            found.append(f"`{run}` is about the services and settings of this machine")
        elif run.program in ("kill", "renice", "strace") and any(arg.isdecimal() and arg != "0" for arg in run.args):
            found.append(f"`{run}` is about a process of this machine")
        elif run.program in _NAMING_FILES:
            paths = [arg for arg in run.args if arg.startswith(_UNSEEN) and not Path(arg).is_relative_to(workspace)]
            found.extend(f"`{path}` is a path of this machine" for path in paths)

    judge(command, workspace, workspace, look)
    return found[0] if found else None


_MACHINE = {
    "systemctl", "service", "rc-service", "journalctl", "loginctl", "hostnamectl", "timedatectl", "reboot", "shutdown",
    "poweroff", "halt", "docker", "podman", "crontab", "mount", "umount", "apt", "apt-get", "dnf", "yum", "useradd",
    "userdel", "usermod", "adduser", "ufw", "iptables", "nft",
}  # fmt: skip
_NAMING_FILES = {
    "cat", "cp", "du", "file", "head", "less", "ls", "mkdir", "more", "mv", "rm", "rmdir", "stat", "tail", "touch",
    "wc",
}  # fmt: skip
_UNSEEN = ("/boot", "/home", "/media", "/opt", "/root", "/srv", "/var")


def judge_tool(
    tool: str,
    input: Mapping[str, Any],
    cwd: str | None = None,
    project: str | None = None,
) -> Verdict:
    """Whether another agent's tool call may run in a folder of a project: its repository, unless another is named."""
    from laneway.sandbox.outside import Looks, beyond
    from laneway.sandbox.tool_calls import judged_tool, paths_of

    project, looks = project or project_of(cwd), Looks()
    try:
        if any(len(path) > LONGEST_PATH for path in paths_of(input)):
            return verdict([Finding("too-long", "A path is too long to be judged.")], changes=True)
        found = judged_tool(tool, input, cwd, partial(judge, see=looks.see), project)
        return beyond(found, tool, input, cwd, project, looks)
    except _UNFORESEEN:
        return verdict([Finding("unknown-tool", "The tool call could not be judged.")], changes=True)
