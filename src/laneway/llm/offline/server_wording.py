"""How the facts of `server_info` are said: short sentences that contain nothing but what was read."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from laneway.llm.offline.server_topics import ServerQuestion

Facts = dict[str, Any]

_TROUBLE = re.compile(r"(?i)\b(?:error|err|fail\w*|fatal|crit\w*|panic|warn\w*|denied|exception|traceback)\b")
_MOST_SHOWN = 20


def worded(asked: ServerQuestion, result: dict[str, Facts], error: str | None) -> str:
    """The facts read, one sentence per topic, and what could not be read."""
    said = [_sentence(asked, topic, facts) for topic, facts in result.items()]
    if asked.warmth:
        said.append("Temperatures are not read here.")
    if error:
        said.append(f"I could not read everything: {error}." if said else f"I could not read that: {error}.")
    return "\n".join(said) if "logs" in result else " ".join(said)


def _sentence(asked: ServerQuestion, topic: str, facts: Facts) -> str:
    if topic == "logs":
        return _logs(asked, facts)
    if topic == "processes" and "asked" in facts:
        return _program(facts)
    return _SENTENCES[topic](facts)


def _uptime(facts: Facts) -> str:
    return f"This server has been up for {facts['text']}, since {facts['since']}."


def _load(facts: Facts) -> str:
    averages = f"{facts['1_min']:g} (1 min), {facts['5_min']:g} (5 min), {facts['15_min']:g} (15 min)"
    return f"The load average is {averages} on {_count(facts['cores'], 'core')}."


def _cpu(facts: Facts) -> str:
    return f"The CPU is {facts['used_percent']:g} % busy; {_count(facts['cores'], 'core')}, {facts['model']}."


def _disk(facts: Facts) -> str:
    if not facts["disks"]:
        return "No disk is visible from here."
    return " ".join(
        f"The disk at {disk['mount']} is {disk['used_percent']:g} % full:"
        f" {disk['free_gb']:g} GB free of {disk['total_gb']:g} GB."
        for disk in facts["disks"]
    )


def _memory(facts: Facts) -> str:
    return (
        f"Memory is {facts['used_percent']:g} % used: {facts['available_gb']:g} GB available"
        f" of {facts['total_gb']:g} GB."
    )


def _swap(facts: Facts) -> str:
    if not facts["total_gb"]:
        return f"This server has no swap ({facts['total_gb']:g} GB)."
    return f"Swap is {facts['used_percent']:g} % used: {facts['used_gb']:g} GB of {facts['total_gb']:g} GB."


def _processes(facts: Facts) -> str:
    by_cpu = ", ".join(f"{one['name']} (pid {one['pid']}, {one['cpu_percent']:g} %)" for one in facts["by_cpu"])
    by_memory = ", ".join(f"{one['name']} (pid {one['pid']}, {one['memory_mb']:g} MB)" for one in facts["by_memory"])
    return f"{facts['count']} processes are running. Most CPU: {by_cpu}. Most memory: {by_memory}."


def _program(facts: Facts) -> str:
    if not facts["running"]:
        return f"{facts['asked']} is not running: none of the {facts['count']} processes has that name."
    names = ", ".join(dict.fromkeys(str(one["name"]) for one in facts["matching"]))
    pids = ", ".join(str(one["pid"]) for one in facts["matching"])
    more = "" if facts["matches"] == len(facts["matching"]) else ", …"
    return (
        f"{facts['asked']} is running: {_count(facts['matches'], 'process', 'processes')} ({names}; pid {pids}{more}),"
        f" {facts['matching_cpu_percent']:g} % CPU, {facts['matching_memory_mb']:g} MB memory."
    )


def _logs(asked: ServerQuestion, facts: Facts) -> str:
    lines = [str(line) for line in facts["lines"]]
    if not lines:
        return f"{facts['file']} is empty."
    if not asked.only_errors:
        return f"The newest {_count(len(lines), 'line')} of {facts['file']}:\n" + "\n".join(lines)
    trouble = [line for line in lines if _TROUBLE.search(line)]
    where = f"the newest {_count(len(lines), 'line')} of {facts['file']}"
    if not trouble:
        return f"None of {where} mentions an error or a warning."
    return f"{len(trouble)} of {where} mention an error or a warning:\n" + "\n".join(trouble[-_MOST_SHOWN:])


def _time(facts: Facts) -> str:
    zone = f"{facts['zone']}, UTC{facts['utc_offset'][:3]}:{facts['utc_offset'][3:]}"
    return f"It is {facts['weekday']}, {facts['date']}, {facts['time']} here ({zone})."


def _os(facts: Facts) -> str:
    return f"{facts['hostname']} runs {facts['name']} with {facts['kernel']} on {facts['architecture']}."


def _network(facts: Facts) -> str:
    said = [
        f"{one['name']} ({'up' if one['up'] else 'down'}) has {', '.join(one['addresses'])}"
        for one in facts["interfaces"]
    ]
    return f"{facts['hostname']}: {'; '.join(said)}." if said else f"{facts['hostname']} has no network address."


def _users(facts: Facts) -> str:
    if not facts["sessions"]:
        return f"Nobody is logged in ({facts['count']} sessions)."
    said = ", ".join(
        f"{one['name']} ({one['terminal'] or 'no terminal'}, since {one['since']})" for one in facts["sessions"]
    )
    return f"{_count(facts['count'], 'session')}: {said}."


_SENTENCES: dict[str, Callable[[Facts], str]] = {
    "uptime": _uptime,
    "load": _load,
    "cpu": _cpu,
    "disk": _disk,
    "memory": _memory,
    "swap": _swap,
    "processes": _processes,
    "time": _time,
    "os": _os,
    "network": _network,
    "users": _users,
}


def _count(number: int, one: str, many: str | None = None) -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"
