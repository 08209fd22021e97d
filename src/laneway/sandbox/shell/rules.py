"""Every rule of the guard: its id, what it decides, and what it is about; and the findings that name them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from laneway.domain.action import Decision, Verdict, allow

ASK, DENY = Decision.ASK, Decision.DENY


@dataclass(frozen=True, slots=True)
class Finding:
    """One reason not simply to run a command."""

    rule: str
    why: str


RULES: dict[str, tuple[Decision, str]] = {
    # Files
    "lose-root": (DENY, "removing the root of the file system or a whole system folder"),
    "lose-outside": (ASK, "removing files outside the workspace"),
    "lose-work": (ASK, "removing files of the workspace that no build brings back"),
    "lose-git": (ASK, "removing or writing into the repository's own store"),
    "lose-scratch": (ASK, "clearing the whole scratch space, other people's files included"),
    "truncate-work": (ASK, "emptying a file of the workspace"),
    "unknown-target": (ASK, "a destructive command whose target the text does not tell"),
    "write-outside": (ASK, "writing outside the workspace and the scratch space"),
    "system-files": (ASK, "changing files of the system"),
    "startup-file": (ASK, "changing files that run or count at every login"),
    "permissions": (ASK, "changing owners or permissions widely, or outside the workspace"),
    "move-away": (ASK, "moving files out of reach"),
    # Git
    "git-discard": (ASK, "throwing away uncommitted work, stashes or unmerged branches"),
    "git-history": (ASK, "rewriting or deleting shared history, or the means to recover one's own"),
    "git-config": (ASK, "git settings that run programs or redirect traffic"),
    "hooks-skipped": (ASK, "going round the repository's hooks"),
    # Disks and the host
    "disk-device": (DENY, "writing to, or reading raw from, a device"),
    "file-system": (DENY, "making, mounting, checking or partitioning file systems"),
    "exhaust": (ASK, "exhausting processes, memory or disk space"),
    "halt": (ASK, "halting or restarting the host"),
    "kill": (ASK, "ending processes that are not one's own to end"),
    "service": (ASK, "starting, stopping or changing services"),
    "account": (ASK, "changing users, groups, passwords or who may log in"),
    "schedule": (ASK, "changing what runs at set times"),
    "host-network": (ASK, "changing the firewall or the network of the host"),
    "host-settings": (ASK, "changing the kernel, its modules or settings of the host"),
    "system-packages": (ASK, "installing or removing packages of the system, or as root"),
    "root-command": (ASK, "running something with the rights of root that may change the system"),
    # Secrets and the outside
    "read-secret": (DENY, "reading private keys, tokens or passwords"),
    "own-secret": (ASK, "reading a file of the workspace that holds secrets"),
    "other-environment": (DENY, "reading the environment or memory of processes"),
    "send-secret": (DENY, "sending secrets or the environment to another host"),
    "send-file": (ASK, "sending local files or local findings to another host"),
    "reverse-shell": (DENY, "giving a shell to another host"),
    "metadata": (DENY, "reading the credentials a cloud gives to its machines"),
    "publish": (ASK, "publishing to a registry, a page or people"),
    # Code nobody has seen
    "network-code": (ASK, "running code that comes from the network"),
    "opaque-code": (ASK, "running code the text does not show"),
    "unknown-program": (ASK, "running a program whose name the text does not tell"),
    "inline-script": (ASK, "an inline script that does something not understood"),
    # Data stores, clouds, containers
    "sql-loss": (ASK, "SQL that drops, truncates, or deletes and updates without WHERE"),
    "sql-accounts": (ASK, "SQL that changes accounts or rights, or runs programs"),
    "store-loss": (ASK, "irreversible loss in a data store"),
    "cloud-loss": (ASK, "irreversible loss in a cloud account or a hosted service"),
    "cloud-change": (ASK, "changing what runs in a cloud account or cluster"),
    "privileged-container": (ASK, "a container with power over the host"),
    "container-loss": (ASK, "removing containers, volumes or images in bulk or by force"),
    "remote-change": (ASK, "running something on another host that may change it"),
    # The guard itself
    "guard-off": (DENY, "switching off the guard, or answering its questions oneself"),
    "escalation": (ASK, "running something outside the agent's own sandbox"),
    "guard-file": (DENY, "changing files that hold permissions or hooks"),
    "agent-unwatched": (DENY, "starting another agent that asks nobody"),
    # What cannot be read
    "unparsed": (ASK, "text that is not understood as shell"),
    "too-long": (ASK, "a command too long to judge"),
    "too-complex": (ASK, "a command too deeply nested or too tangled to judge"),
    "hidden-text": (ASK, "characters that hide what a command says"),
    "malformed": (ASK, "a request that is not one of a command or a tool call"),
    # Tool calls
    "path-malformed": (ASK, "a path that is empty or holds characters that hide what it says"),
    "path-climbs": (ASK, "a way up and out of the project by `..`, whatever it is for"),
    "path-link": (ASK, "a path that leads out of the workspace by a symbolic link"),
    "file-address": (DENY, "a web address that reads local files"),
    "unknown-tool": (ASK, "a tool call whose arguments are not understood"),
}  # fmt: skip

UNSURE = {"unknown-tool", "malformed"}
"""Rules that say nothing but that the guard does not understand the call."""
UNJUDGED = {"unparsed", "too-long", "too-complex", "escalation"}
"""Rules about what may do harm, but cannot be read or is asked anyway."""
_ONLY_SHOWING = {"read-secret", "own-secret", "other-environment", "metadata", "file-address"}
"""Rules about what is shown, not about what is changed."""
_ORDER = {DENY: 0, ASK: 1}


def verdict(findings: Iterable[Finding], *, changes: bool) -> Verdict:
    """The strictest finding decides; without one the action is allowed."""
    findings = list(findings)
    changes = changes or any(found.rule not in _ONLY_SHOWING for found in findings)
    worst = min(findings, key=lambda found: _ORDER[RULES[found.rule][0]], default=None)
    if worst is None:
        if changes:
            return allow("ordinary", "Nothing dangerous is found in it.")
        return allow("reads", "It only reads.", changes=False)
    return Verdict(RULES[worst.rule][0], worst.rule, worst.why, changes)
