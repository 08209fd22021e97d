"""Clouds, clusters and hosted services: what they delete, and what they change."""

from __future__ import annotations

import re
from collections.abc import Iterator

from laneway.sandbox.shell.holes import shown
from laneway.sandbox.shell.invocation import Invocation
from laneway.sandbox.shell.programs.hosts import foreign_target
from laneway.sandbox.shell.programs.losing import writes
from laneway.sandbox.shell.programs.naming import named
from laneway.sandbox.shell.rules import Finding
from laneway.sandbox.shell.tables import VALUED

_DRY = re.compile(r"--dry-?run(=.*)?|--dryrun|--check|--noop|--what-if|--no-execute-changeset|--preview")
_SECRETS = re.compile(
    r"(?i)get-secret-value|get-session-token|print-(access|identity)-token|get-access-token|create-access-key|"
    r"get-login-password|with-decryption|auth token( |$)|batch-get-secret|export-credentials|"
    r"keyvault secret (show|download)|"
    r"secrets versions access|assume-role\b|get-federation-token|print-refresh-token|configure get aws_(secret|session)"
)
_READS = re.compile(
    r"(describe|list|get|head|ls|show|view|status|info|search|lookup|scan|query|select|filter|tail|wait|help|version|validate|whoami|diff|history|logs|top|explain|inspect|plan|preview|test|check|batch-get|config|configure|sso|login|presign|current|print|output|graph|fmt|init|template|lint|get-values|dependency|repo|env|completion|docs)([-:]\w+)*|\w+[:-](list|info|ls|show|get|logs|status)"
)
_LOSSES = re.compile(
    r"(?i)(delete|remove|rm|rb|terminate|destroy|purge|deregister|uninstall|wipe|drop|reset|revoke|disable|detach|release|cancel|empty|erase|prune|undeploy|down|dispose|rmi|del|stop|deactivate|decommission|unset|failover|reboot|restart|kill|shutdown|rollback|drain|evict|taint|force-unlock|suspend|discard)([-:_]\w+)*|\w+:(delete|destroy|remove|rm|reset|rollback|stop|restart|drop|unset|terminate)"
)
_VALUED = VALUED["cloud"]


def _secret(run: Invocation) -> Iterator[Finding]:
    if _SECRETS.search(" ".join(run.args)):
        yield Finding("read-secret", f"It prints a token or a password ({run}).")


def _dry(run: Invocation) -> bool:
    return any(_DRY.fullmatch(word) for word in run.args) and "--dry-run=none" not in run.args


def hosted(run: Invocation) -> Iterator[Finding]:
    """Clients whose words tell: reading passes, deleting is a loss, the rest is a change."""
    yield from _secret(run)
    words = run.options(_VALUED).operands
    if _dry(run) or not words or "--help" in run.args:
        return
    loss = next((word for word in words[:4] if _LOSSES.fullmatch(word)), None)
    if loss:
        yield Finding("cloud-loss", f"{run.program} {shown(' '.join(words[:3]))} may lose what nothing brings back.")
    elif not any(_READS.fullmatch(word) for word in words[:4]):
        yield Finding("cloud-change", f"{run.program} {shown(' '.join(words[:3]))} changes what runs elsewhere.")


def aws(run: Invocation) -> Iterator[Finding]:
    words = run.options(_VALUED).operands
    if words[:1] in (["s3"], ["cp"], ["rsync"], ["storage"], ["mv"]) and not _dry(run):
        yield from _secret(run)
        yield from _buckets(run, [word for word in words if word != "storage"])
    else:
        yield from hosted(run)


def _buckets(run: Invocation, words: list[str]) -> Iterator[Finding]:
    verb, paths = (words[1:2] or [""])[0] if words[0] == "s3" else words[0], words[1:]
    paths = [word for word in paths if word != verb]
    if verb in ("rm", "rb", "mv") or "--delete" in run.args or "-d" in run.args:
        yield Finding("cloud-loss", f"It deletes from a bucket ({run}).")
    elif verb in ("cp", "sync", "rsync") and len(paths) > 1:
        if foreign_target(paths[-1]):
            yield Finding("send-file", f"It copies to {shown(paths[-1])}.")
        else:
            yield from writes(paths[-1], run.scope)
    elif verb not in ("ls", "presign", "cat", "du", "stat", "cp", "sync", "buckets", "objects", "list", "describe"):
        yield Finding("cloud-change", f"It changes a bucket ({run}).")


def kubectl(run: Invocation) -> Iterator[Finding]:
    words = run.options(
        _VALUED + " -c --container --type --patch -p --replicas --image --timeout --grace-period"
    ).operands
    line = " ".join(words)
    if re.match(r"(get|describe|view)\s+(\S+,)*(secrets?|sealedsecrets?)\b", line) and re.search(
        r"-o|--output|--template", " ".join(run.args)
    ):
        yield Finding("read-secret", "It prints secrets of the cluster.")
    if (
        _dry(run)
        or not words
        or "--help" in run.args
        or words[0] in ("exec", "run", "debug", "attach", "cp", "port-forward", "proxy")
    ):
        return
    if words[0] in (
        "create",
        "config",
        "label",
        "annotate",
        "wait",
        "kustomize",
        "plugin",
        "auth",
        "api-resources",
        "cluster-info",
        "api-versions",
        "events",
        "convert",
    ):
        dangerous = words[:2] in (["config", "delete-context"], ["config", "delete-cluster"], ["config", "unset"])
        if dangerous or words[0] == "create":
            yield Finding("cloud-change", f"kubectl {shown(line)} changes the cluster or its settings.")
    elif words[0] == "rollout" and words[1:2] in (["status"], ["history"]):
        return
    elif words[0] in ("delete", "drain", "replace") or "--prune" in run.args:
        yield Finding("cloud-loss", f"kubectl {shown(line)} removes things from the cluster.")
    elif not _READS.fullmatch(words[0]):
        yield Finding("cloud-change", f"kubectl {shown(line)} changes the cluster.")


def terraform(run: Invocation) -> Iterator[Finding]:
    words = [word for word in run.args if not word.startswith("-")]
    first = words[:1]
    losing = first in (["destroy"], ["taint"], ["force-unlock"]) or words[:2] in (
        ["state", "rm"], ["state", "push"], ["state", "mv"], ["workspace", "delete"],
        ["run-all", "destroy"], ["stack", "rm"],
    )  # fmt: skip
    if _dry(run) or "-help" in run.args or "--help" in run.args:
        return
    if losing or ("-destroy" in run.args and first != ["plan"]) or first in (["down"], ["refresh"], ["cancel"]):
        yield Finding("cloud-loss", f"{run.program} {shown(' '.join(words[:2]))} destroys what it manages.")
    elif first in (["apply"], ["up"], ["import"], ["deploy"], ["run-all"], ["untaint"]):
        yield Finding("cloud-change", f"{run.program} {first[0]} changes, and may destroy, what it manages.")


def github(run: Invocation) -> Iterator[Finding]:
    words = run.options(VALUED["gh"]).operands
    line = " ".join(words[:2])
    method = run.options("-X --method").of("-X", "--method")
    if line == "auth token" or "--show-token" in run.args:
        yield Finding("read-secret", "It prints the token that opens the account.")
    elif words[:1] == ["api"] and any(name.upper() in ("DELETE", "PUT", "PATCH") for name in method):
        yield Finding("cloud-loss", f"It changes or deletes at GitHub ({run}).")
    elif words[1:2] in (["delete"], ["archive"], ["rename"], ["transfer"], ["lock"]) or line in (
        "secret remove",
        "secret set",
        "ssh-key add",
        "gpg-key add",
        "variable delete",
        "repo sync",
        "auth logout",
        "repo deploy-key",
    ):
        yield Finding("cloud-loss", f"gh {line} changes or deletes what others rely on.")
    elif line == "repo edit" or (line == "gist create") or line in ("release create", "release upload", "gist edit"):
        yield Finding("publish", f"gh {line} publishes or changes what others see.")
    elif line in ("extension install", "extension upgrade", "alias set", "codespace ssh"):
        yield Finding("network-code", f"gh {line} brings in code from the network or stores a command.")


def local(run: Invocation) -> Iterator[Finding]:
    """Machines and clusters on this machine: only losing them matters."""
    words = run.options(_VALUED).operands
    if words[:1] and re.fullmatch(r"delete|destroy|undefine|purge|rm|remove", words[0]) and "--help" not in run.args:
        yield Finding("cloud-loss", f"{run.program} {words[0]} removes a machine or a cluster.")


def ansible(run: Invocation) -> Iterator[Finding]:
    if not run.options().has("--check", "-C", "--syntax-check", "--list-hosts", "--list-tasks", "--list-tags"):
        yield Finding("remote-change", "It runs a playbook on other hosts.")


CLOUD = named("cloud", aws, hosted, kubectl, terraform, github, ansible, local)
