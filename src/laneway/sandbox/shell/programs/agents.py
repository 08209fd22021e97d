"""Other agents without approvals, and the guard's own commands: nobody answers for a person."""

from __future__ import annotations

import re
from collections.abc import Iterator

from laneway.sandbox.shell.invocation import Invocation
from laneway.sandbox.shell.programs.naming import Rule
from laneway.sandbox.shell.rules import Finding
from laneway.sandbox.shell.tables import table

_ANYWHERE = re.compile(
    r"--(dangerously[\w-]*|yolo|skip-permissions[\w-]*|allow-dangerously[\w-]*|auto-approve-everything|trust-all-tools|"
    r"no-approval|bypass-approvals[\w-]*|unsafe-auto|disable-safety[\w-]*)(=.*)?"
)
_UNWATCHED: dict[str, str] = table("programs/agents")
"""Agents, and the arguments that make them ask nobody, as a pattern."""
_SWITCHES = {
    "GOOSE_MODE": "auto",
    "CLAUDE_CODE_SKIP_PERMISSIONS": "",
    "CODEX_UNSAFE_ALLOW_NO_SANDBOX": "",
    "IS_SANDBOX": "1",
    "GEMINI_YOLO": "",
    "DISABLE_GUARD": "",
}


def unwatched_flag(run: Invocation) -> Iterator[Finding]:
    """A flag that says by itself that nobody will be asked, whatever program takes it."""
    if run.program not in _UNWATCHED and any(_ANYWHERE.fullmatch(word) for word in run.args[:40]):
        yield Finding("agent-unwatched", f"{run.program} is told to ask nobody.")


def agent(run: Invocation) -> Iterator[Finding]:
    line = " ".join(run.args)
    if re.search(_UNWATCHED[run.program], line):
        yield Finding("agent-unwatched", f"It starts {run.program} so that it asks nobody.")
    for name, value in _SWITCHES.items():
        given = run.environment.get(name) or "".join(run.scope.variables.get(name, []))
        if given and (not value or given == value):
            yield Finding("agent-unwatched", f"{name} makes {run.program} ask nobody.")
    if re.match(r"(config|settings) (set|add|remove|unset)\b.*(permission|hook|allow|trust|approv|sandbox)", line):
        yield Finding("guard-file", f"It changes what {run.program} may do unasked.")


_OWN = {"approve", "reject", "stop", "restore", "undo", "correct", "budget", "schedule", "up", "worker"}


def laneway(run: Invocation) -> Iterator[Finding]:
    """Laneway's own command line: an agent that answers approvals or changes settings is its own guard."""
    words = run.options("--url --key").operands
    if "--help" in run.args:
        return
    if words[:1] in (["approve"], ["reject"]) or words[:2] in (
        ["config", "set"],
        ["config", "unset"],
        ["config", "edit"],
        ["hooks", "install"],
        ["hooks", "uninstall"],
        ["host-mode", "on"],
    ):
        yield Finding("guard-off", f"laneway {words[0]} is for a person to say.")
    elif words[:1] and words[0] in _OWN:
        yield Finding("service", f"laneway {words[0]} changes the server this runs under.")


def hook_manager(run: Invocation) -> Iterator[Finding]:
    if run.args[:1] in (["uninstall"], ["uninit"]):
        yield Finding("hooks-skipped", f"It takes the repository's hooks away ({run}).")


AGENTS: dict[str, Rule] = {
    **dict.fromkeys(_UNWATCHED, agent), "laneway": laneway,
    **dict.fromkeys(("pre-commit", "lefthook", "husky"), hook_manager),
}  # fmt: skip
