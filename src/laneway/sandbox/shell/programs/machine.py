"""The host itself: services, accounts, schedules, network, kernel, halting, processes."""

from __future__ import annotations

import re
from collections.abc import Iterator

from laneway.sandbox.shell.holes import holes, shown
from laneway.sandbox.shell.invocation import Invocation
from laneway.sandbox.shell.programs.naming import named
from laneway.sandbox.shell.rules import Finding
from laneway.sandbox.shell.tables import table

STATUS = {
    "status", "show", "list-units", "list-unit-files", "list-timers", "list-sockets", "list-dependencies", "list-jobs",
    "is-active", "is-enabled", "is-failed", "cat", "help", "get-default", "list-machines", "is-system-running", "list",
    "print", "blame", "--status-all", "avail", "show-environment", "list-sessions", "list-users", "session-status",
    "user-status", "configtest", "-t", "-T", "-v", "-V", "version", "--version", "print-disabled",
    "dumpstate", "maintail", "tail",
    "jlist", "ls", "describe", "logs", "monit", "pid", "info",
}  # fmt: skip
_HALTING = {"poweroff", "reboot", "halt", "suspend", "hibernate", "rescue", "emergency", "kexec", "soft-reboot", "exit"}
_OWN_SERVICES = re.compile(r"(?i)laneway")
_IMPORTANT = re.compile(
    r"(?i)(systemd.*|sshd?|init|dbus.*|postgres.*|mysqld?|mariadbd?|nginx|apache2?|httpd|dockerd|containerd|kubelet|cron(d)?|"
    r"redis-server|mongod|Xorg|gnome.*|Finder|launchd|kernel_task|NetworkManager|rsyslogd|auditd|falco)"
)


def service(run: Invocation) -> Iterator[Finding]:
    words = run.options("-H --host -M --machine -n --lines -o --output -p --property -t --type").operands
    if run.program in ("service", "rc-service", "invoke-rc.d"):
        words = words[1:] if "--status-all" not in run.args else []
    if not words or words[0] in STATUS or "--help" in run.args:
        return
    if words[0] in _HALTING and run.program in ("systemctl", "loginctl"):
        yield Finding("halt", f"{run.program} {words[0]} halts or restarts the host.")
    elif any(_OWN_SERVICES.search(word) for word in words[1:]):
        yield Finding("guard-off", f"It stops or changes the guard's own service ({run}).")
    else:
        yield Finding("service", f"It changes a service ({run}).")


def server_signal(run: Invocation) -> Iterator[Finding]:
    """nginx, apachectl and pg_ctl: asking or testing passes, signals and starting do not."""
    if run.args and not all(word in STATUS for word in run.args[:1]):
        yield Finding("service", f"It starts, stops or reloads a server ({run}).")


def account(run: Invocation) -> Iterator[Finding]:
    if run.args[:1] in (["-S"], ["--status"], ["-l"]) and run.program in ("passwd", "chage"):
        return
    yield Finding("account", f"It changes accounts of this machine ({run}).")


def crontab(run: Invocation) -> Iterator[Finding]:
    found = run.options("-u")
    if not found.has("-l") or found.operands:
        yield Finding("schedule", "It changes what runs at set times.")


def at(run: Invocation) -> Iterator[Finding]:
    if not run.options().has("-l", "-V", "-c"):
        yield Finding("schedule", "It leaves something to run later.")


ASKING: dict[str, str] = table("programs/asking")["host"]
"""What only asks, as a pattern on the arguments; anything else changes the host."""


def host(run: Invocation) -> Iterator[Finding]:
    name = {"ip6tables": "iptables", "iptables-nft": "iptables", "arptables": "iptables"}.get(run.program, run.program)
    reading = ASKING.get(name)
    line = " ".join(run.args)
    if name == "hostname" and not re.fullmatch(ASKING["hostname"], line):
        yield Finding("host-settings", "It changes the name of this machine.")
    elif name == "timedatectl" and not re.fullmatch(ASKING["timedatectl"], line):
        yield Finding("host-settings", "It changes the clock of this machine.")
    elif name == "localectl" and not re.fullmatch(ASKING["localectl"], line):
        yield Finding("host-settings", "It changes the language settings of this machine.")
    elif reading is None or not re.fullmatch(reading, line, re.DOTALL):
        rule = "host-network" if name in _NETWORK_TOOLS else "host-settings"
        yield Finding(rule, f"It changes the network or the settings of the host ({run}).")


_NETWORK_TOOLS = {
    "iptables", "ufw", "firewall-cmd", "nft", "ip", "ifconfig", "nmcli", "networksetup", "route", "ethtool", "tc",
    "iptables-restore", "brctl", "wg", "wg-quick", "ebtables", "netplan", "ifup", "ifdown", "dhclient", "resolvectl",
}  # fmt: skip


def halt(run: Invocation) -> Iterator[Finding]:
    if run.program == "shutdown" and run.args[:1] in (["-c"], ["--show"]):
        return
    if run.program in ("init", "telinit") and not run.args:
        return
    yield Finding("halt", f"It halts or restarts the host ({run}).")


def kill(run: Invocation) -> Iterator[Finding]:
    if run.args[:1] in (["-l"], ["-L"]):
        return
    words = _targets(run.args)
    if any(word in ("-1", "1", "0") or "processes" in holes(word) for word in words):
        yield Finding("kill", "It ends every process, or the first one that all others depend on.")
    elif any("laneway" in label.lower() for word in words for label in holes(word)):
        yield Finding("guard-off", "It ends the guard itself.")
    elif run.scope.root:
        yield Finding("kill", "It ends processes with the rights of root.")


def _targets(args: list[str]) -> list[str]:
    if args[:1] in (["-s"], ["-n"], ["--signal"]):
        args = args[2:]
    elif args and re.fullmatch(r"-(\d+|[A-Z]\w*)", args[0]) and len(args) > 1:
        args = args[1:]
    return [word for word in args if word != "--"]


def pkill(run: Invocation) -> Iterator[Finding]:
    found = run.options(
        "-u -U -g -G -P -s -t -n -o --signal --user --euid --parent --session --terminal -x -F --pidfile"
    )
    by_owner = found.of("-u", "-U", "--user", "--euid", "-t", "-g", "-G", "-s")
    names = found.operands
    if run.program == "killall5" or by_owner or run.scope.root or found.has("-v", "--inverse"):
        yield Finding("kill", f"It ends processes of a whole user, session or system ({run}).")
    for name in names:
        if "laneway" in name.lower():
            yield Finding("guard-off", "It ends the guard itself.")
        elif _IMPORTANT.fullmatch(name) or not re.search(r"\w{2}", name):
            yield Finding("kill", f"It ends every process called {shown(name)}.")


def exhausts(run: Invocation) -> Iterator[Finding]:
    yield Finding("exhaust", f"{run.program} uses up the processor, memory or disk of the host.")


def endless(run: Invocation) -> Iterator[Finding]:
    if not run.piped and run.program == "yes":
        yield Finding("exhaust", "It writes without end.")


def traced(run: Invocation) -> Iterator[Finding]:
    """Debuggers and sniffers that look into other processes."""
    if run.options("-p --pid -o -e").has("-p", "--pid") or run.program in (
        "gcore",
        "tcpdump",
        "tshark",
        "ngrep",
        "bpftrace",
    ):
        yield Finding("other-environment", f"{run.program} looks into other processes or their traffic.")


def ps(run: Invocation) -> Iterator[Finding]:
    first = run.args[0] if run.args else ""
    bsd = first if first and not first.startswith("-") else ""
    if "e" in bsd or any(
        re.fullmatch(r"-[a-zA-Z]*E[a-zA-Z]*", word) or word == "e" or re.fullmatch(r"[auxwf]*e[auxwf]*", word)
        for word in run.args
    ):
        yield Finding("other-environment", "It shows the environment of other processes.")


MACHINE = named(
    "machine", service, server_signal, account, crontab, at, host, halt, kill, pkill, exhausts, endless, traced, ps
)
