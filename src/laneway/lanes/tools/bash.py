"""`bash`: a command in the thread's workspace, behind the boundary; in host mode on the machine itself."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path, PurePosixPath

from laneway.domain.action import Decision, Verdict, ask, deny
from laneway.lanes.tools.entry import Arguments, Call, Outcome, ToolEntry, failure, success
from laneway.sandbox.commands import needs_machine
from laneway.sandbox.confined import OnHost
from laneway.sandbox.contract import MEGABYTE, Boundary, BoundaryBroken, Grant, Killed, Limits, Ran
from laneway.sandbox.proxy import parsed

USUAL_SECONDS, LONGEST_SECONDS = 60, 600
LONGEST_COMMAND = 100_000
"""Bytes; the kernel takes no longer argument."""

LONGEST_READING = 200
"""Characters of a command that may be a plain reading of the system."""

HOST_MODE = (
    "`laneway host-mode on` runs your commands on the machine itself; each that changes something is asked about first."
)

Guard = Callable[[str, str, str], Verdict]
"""Judges a command that would begin in this workspace, with this home."""

_HOST = OnHost()


def bash_entry(
    boundary: Boundary,
    guard: Guard,
    limits: Limits = Limits(),  # noqa: B008  frozen
    longest: int = LONGEST_SECONDS,
) -> ToolEntry:
    """The tool `bash` behind this boundary; calls of principals in host mode go to the machine itself."""

    def place(call: Call) -> Boundary:
        return _HOST if call.request.host_mode else boundary

    async def bash(
        call: Call,
        command: str,
        timeout: int = USUAL_SECONDS,
        hosts: list[str] | None = None,
        cwd: str | None = None,
    ) -> Outcome:
        """Run a shell command in this conversation's workspace, the only folder it can change.

        It runs in a sandbox without network; `hosts` asks for hosts it may reach over HTTP(S), as `host` or
        `host:port`. `timeout` is in seconds, `cwd` a folder inside the workspace.
        """
        where = place(call)
        seconds = max(1, min(timeout, longest))
        allowed = replace(limits, seconds=seconds, cpu_seconds=seconds * min(os.cpu_count() or 1, 4))
        grant = Grant(frozenset(hosts or ()))
        try:
            _check(command, grant.hosts, cwd, where, call)
            ran = await where.run(
                _started_in(command, cwd), workspace=call.workspace, limits=allowed, grant=grant, on_stop=call.on_stop
            )
        except BoundaryBroken as error:
            return failure(f"The command was not run. {error}", boundary=where.name)
        return _outcome(ran, allowed, longest)

    def judge(arguments: Arguments, call: Call) -> Verdict:
        return _judged(arguments, call, place(call), guard)

    return ToolEntry(
        bash, changes=True, idempotent=False, judge=judge, source=source, seconds=longest + 15,
        tags=("shell", "command", "run", "execute", "script", "terminal", "program"),
    )  # fmt: skip


def _check(command: str, hosts: Iterable[str], cwd: str | None, where: Boundary, call: Call) -> None:
    """Returns only if this can be run at all."""
    if complaint := _complaint(command, hosts, cwd, where):
        raise BoundaryBroken(complaint)
    folder = Path(call.workspace, cwd or ".")
    if where is not _HOST and not folder.resolve().is_relative_to(call.workspace.resolve()):
        raise BoundaryBroken(f"`{cwd}` is not a folder of the workspace.")


def _complaint(command: str, hosts: Iterable[str], cwd: str | None, where: Boundary) -> str | None:
    if not command.strip():
        return "There is no command."
    if "\0" in command or "\0" in (cwd or ""):
        return "A command cannot hold a NUL character."
    if len(command.encode("utf-8", "surrogatepass")) > LONGEST_COMMAND:
        return f"It is longer than {LONGEST_COMMAND:,} bytes; write it to a file and run that."
    if cwd and where is not _HOST and (PurePosixPath(cwd).is_absolute() or ".." in PurePosixPath(cwd).parts):
        return f"`{cwd}` is not a folder of the workspace: name it relative to that."
    for entry in hosts:
        try:
            parsed(entry)
        except ValueError:
            return f"`{entry[:80]}` is not a host; write host or host:port."
    if hosts and not where.reaches_hosts:
        return f"Hosts cannot be granted: behind {where.name} no command reaches the network."
    return None


def _judged(arguments: Arguments, call: Call, where: Boundary, guard: Guard) -> Verdict:
    command, hosts = str(arguments.get("command", "")), [str(one) for one in arguments.get("hosts") or ()]
    cwd = str(arguments["cwd"]) if arguments.get("cwd") else None
    if where.off is not None:
        return deny("no-boundary", where.off)
    if complaint := _complaint(command, hosts, cwd, where):
        return deny("unusable", complaint)
    inside = where.inside(call.workspace)
    verdict = guard(_started_in(command, cwd), inside, str(Path.home()) if where is _HOST else inside)
    if where is not _HOST and verdict.decision is not Decision.DENY and (what := needs_machine(command, inside)):
        return deny("needs-host-mode", f"{what}, and commands run in a sandbox that does not show it. {HOST_MODE}")
    if where is _HOST:
        if verdict.changes:
            verdict = _also(verdict, ask("host-mode", "It runs on this machine itself, outside the sandbox."))
        return verdict
    if hosts:
        verdict = _also(verdict, ask("hosts", f"It may reach {', '.join(hosts)} over the network."))
    if where.weaker:
        verdict = _also(verdict, ask("weaker-boundary", f"Only {where.name}, a weaker sandbox, holds it."))
    return verdict


def _also(verdict: Verdict, other: Verdict) -> Verdict:
    """The stricter of the two; where both ask, both reasons are given, and the later rule counts."""
    if verdict.decision is Decision.ASK and other.decision is Decision.ASK:
        return replace(other, why=f"{verdict.why} {other.why}".strip())
    return verdict.or_stricter(other)


def _started_in(command: str, cwd: str | None) -> str:
    return f"cd -- {shlex.quote(cwd)} || exit 1\n{command}" if cwd else command


def _outcome(ran: Ran, limits: Limits, longest: int) -> Outcome:
    told = {
        "stdout": ran.stdout, "stderr": ran.stderr, "exit_code": ran.exit_code, "boundary": ran.boundary,
        "result": {"seconds": round(ran.seconds, 3), "killed_because": ran.killed_because, "left_out": ran.left_out},
    }  # fmt: skip
    if ran.killed_because is not None:
        return failure(_why_killed(ran.killed_because, limits, longest), **told)
    if ran.exit_code != 0:
        return failure(f"It ended with exit code {ran.exit_code}.", **told)
    return success(**told)


def _why_killed(why: Killed, limits: Limits, longest: int) -> str:
    match why:
        case Killed.TIMEOUT:
            more = f" Ask for more time with `timeout`, at most {longest} s." if limits.seconds < longest else ""
            return f"It was ended after {limits.seconds:.0f} s.{more}"
        case Killed.MEMORY:
            return f"It was ended because it used more than {limits.memory_bytes // MEGABYTE:,} MB of memory."
        case Killed.OUTPUT:
            return f"It was ended because it wrote more than {limits.flood_bytes // MEGABYTE:,} MB of output."
        case Killed.DISK:
            most = f"{limits.disk_bytes // MEGABYTE:,} MB or {limits.files:,} files"
            return f"It was ended because the workspace would hold more than {most}."
        case Killed.STOPPED:
            return "It was stopped."


_READINGS = {
    "uptime": r"(-\w+)?", "df": r"(?:-[a-zA-Z]+ *)*",
    "date": r"(?:(?:-[uIR]|\+[\w%:./-]+|'\+[^']*'|\"\+[^\"$`]*\")(?: +|$))*",
    "free": r"(?:-[a-z]+ *)*", "nproc": r"(--all)?", "uname": r"(?:-[a-z]+ *)*", "whoami": "", "id": "", "pwd": "",
    "hostname": "", "arch": "", "lscpu": "", "true": "", "false": "", "sleep": r"[\d.]+",
    "echo": r"[^$`*?\[\]{}<>|&;()\\\n~]*",
}  # fmt: skip
"""Commands whose output is the system's word or the model's own, with the arguments for which that is so."""


def source(arguments: Arguments, outcome: Outcome) -> str | None:
    """Whose words the output is: a file's, a program's; None if there is none, or if the system itself speaks."""
    command = str(arguments.get("command", "")).strip()
    if not (outcome.get("stdout") or outcome.get("stderr")):
        return None
    if len(command) <= LONGEST_READING and all(_is_reading(part) for part in re.split(r"&&|;", command)):
        return None
    shown = re.sub(r"\s+", " ", command)
    return f"the output of `{shown if len(shown) <= 80 else shown[:77] + '…'}`"


def _is_reading(command: str) -> bool:
    program, _, rest = command.strip().partition(" ")
    return program in _READINGS and re.fullmatch(_READINGS[program], rest.strip()) is not None
