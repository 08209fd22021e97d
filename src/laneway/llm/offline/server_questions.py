"""Questions about this server: a closed table of shapes, the facts of `server_info` for each, and their wording."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

from laneway.llm.offline.kinds import HEALTH, PROGRAMS, TOPICS
from laneway.llm.offline.orders import Builder, Offer, Order, Row, Telling, rows
from laneway.llm.offline.outcomes import Outcome
from laneway.llm.offline.shapes import Match, Text

LINES, LINES_TO_SEARCH = 20, 200

Facts = dict[str, Any]

_TROUBLE: Final = re.compile(r"(?i)\b(?:error|err|fail\w*|fatal|crit\w*|panic|warn\w*|denied|exception|traceback)\b")


def facts_order(offer: Offer, topics: Sequence[str], tell: Telling, about: str = "read", **more: Any) -> list[Order]:
    """The order to read these facts."""
    silent = more.pop("is_silent", lambda _: False)
    return offer.order(
        "server_info",
        f"{about} the {' and the '.join(topics)}",
        tell,
        {"topics": list(topics), **more},
        tells_all=True,
        is_silent=silent,
    )


def program_name(part: Text) -> str | None:
    """The name of a program as its processes bear it; None for what is no such name."""
    name = part.value.lower() if part.value.lower() in PROGRAMS else part.value
    # Alice is no program, even when she is running.
    if part.quoted is None and name != part.marked:
        return None
    return name if re.fullmatch(r"[A-Za-z0-9][\w@.:+-]{0,80}", name) else None


def _facts(*topics: str, only_errors: bool = False) -> Builder:
    def build(match: Match, offer: Offer) -> list[Order]:
        named = [" ".join(part.marked.split()).removeprefix("the ") for part in match.values("topics")]
        read = dict.fromkeys([*topics, *(topic for name in named for topic in TOPICS[name])])
        lines = int(match.value("count") or 0) or (LINES_TO_SEARCH if only_errors else LINES)
        more: Facts = {"lines": min(lines, LINES_TO_SEARCH)} if "logs" in read else {}
        return facts_order(offer, tuple(read), lambda outcome: describe_facts(outcome, only_errors=only_errors), **more)

    return build


def _program(match: Match, offer: Offer) -> list[Order] | None:
    name = program_name(match.part("program"))
    return facts_order(offer, ("processes",), describe_facts, process=name) if name else None


def _restart_and_look(match: Match, offer: Offer) -> list[Order]:
    command = f"systemctl restart {match.value('program').lower()}"
    look = facts_order(offer, ("processes",), describe_facts, process=match.value("program").lower())
    return [*offer.bash(command, done=f"Done: `{command}`."), *look]


_SERVER: Final = "this|the|my|our|your server|machine|box|host|system|computer|vm|vps"
_IT: Final = f"({_SERVER} | it | this)"
_NOW: Final = f"[on|in|of {_SERVER} | here] [now | right now | currently | today | at the moment]"
_TELL: Final = "(what is | what's | whats | what are | show|tell|give|get|check|list [me|us])"
_THE: Final = "[the|my|our|all|any] [current|free|used|available|total|running|latest|recent] [server|server's|system]"
_HAVE: Final = f"(do|did i|we have | does {_IT} have | are [there] | has {_IT})"
_LEFT: Final = "[still] (left|free|available|remaining|used|taken|there | in use)"
_MEM: Final = "memory|ram"
_EATS: Final = "(is [using|eating|hogging|taking] | uses|eats|hogs|takes) [up]"
_UP: Final = f"[still] running|up|alive|active|down|dead {_NOW}"
_LOG: Final = "[the] [system|server] log|logs|syslog"
_IS: Final = "(is|are|was|were there | do you see | show|list [me])"

QUESTIONS: Final[tuple[Row, ...]] = (
    *rows(_restart_and_look,
          "restart <program:service> and|then (tell|show me | let me know | check) if|whether|that it"
          " (came|comes back [up] | is [back] [up] [again] | is running [again])", changes=True),
    *rows(_facts("uptime"), f"how long (has|is {_IT} [been] [up|running|on|online] | has it been up) {_NOW}",
          f"how long [has it been | is it] since the last reboot|restart|boot {_NOW}",
          f"(when was | when's | {_TELL}) the [time of the] last reboot|restart|boot {_NOW}",
          f"when (was | did) {_IT} [last] reboot|rebooted|restart|restarted|boot|booted|start|started"),
    *rows(_facts("load", "cpu"), f"how (busy|loaded is {_IT}) {_NOW}", f"is {_IT} busy|overloaded|slow {_NOW}",
          f"is {_IT} under [heavy] load {_NOW}"),
    *rows(_facts("load"), f"how high is the load {_NOW}"),
    *rows(_facts("cpu"), f"how busy is the cpu|processor {_NOW}", f"how much cpu is {_LEFT} {_NOW}",
          f"how many cores|cpus|processors {_HAVE} {_NOW}",
          f"what|which cpu|processor [model] ({_HAVE} | is this | is in {_IT})"),
    *rows(_facts("disk"), f"how full (is|are {_THE} disk|disks|storage|drive|filesystem) {_NOW}",
          f"how much [disk] space|room|storage (is {_LEFT} | do i|we have [left] | is there) {_NOW}",
          f"how big is the disk {_NOW}", f"is {_THE} disk [almost|nearly|getting] full {_NOW}",
          f"(are we|i | am i | is {_IT}) [running] (low on | out of) disk|space|storage [space]"),
    *rows(_facts("memory"), f"how much {_MEM} is {_LEFT} {_NOW}", f"how much [free] {_MEM} {_HAVE} [{_LEFT}] {_NOW}",
          f"(are we|i | am i | is {_IT}) [running] (low on | out of) {_MEM}", f"how full is the {_MEM} {_NOW}"),
    *rows(_facts("swap"), f"how much swap (is {_LEFT} | {_HAVE}) {_NOW}", f"(are we | is {_IT}) swapping"),
    *rows(_facts("processes"),
          f"(what {_EATS} | (what's | whats) using|eating|hogging|taking [up] | what|which process|program {_EATS}"
          f" | what|which processes|programs are using|eating | use) [the|my|our|all] [most|all] [of] [the|my|our]"
          f" {_MEM}|cpu|processor {_NOW}",
          f"(what | what's | what|which processes|programs) [is|are] running {_NOW}", "top [<count:number>] processes",
          f"how many processes (are [there] [running] | run | {_HAVE}) {_NOW}"),
    *rows(_program, f"is|are <program> {_UP}", f"(check | see | tell|show me) if|whether <program> is|are {_UP}",
          f"[check if|whether] is|if|whether <program:process> [is] [still] running {_NOW}",
          f"check if|whether <program:process> is [still] running {_NOW}", f"[{_TELL}] [the] status of <program>",
          f"how much {_MEM}|cpu (does <program> use|need|take)"),
    *rows(_facts("logs", only_errors=True),
          f"[{_IS}] [any|the] [recent] errors|warnings|problems [in {_LOG}]", f"check {_LOG} for errors|problems"),
    *rows(_facts("logs"), f"(what is | what's) in {_LOG}", f"tail|read|print {_LOG}",
          f"[show|list|give|print|display|tail [me]] [the] last|latest|newest [<count:number>] [log] lines|entries"
          f" of|from|in {_LOG}", "show|list|give [me] [the] last|latest|newest <count:number> log lines|entries"),
    *rows(_facts("time"), f"what time is it {_NOW}", f"what|which day|date|year is it|today {_NOW}",
          f"what|which (timezone | time zone) is {_IT} [in | set to]"),
    *rows(_facts("os"), f"what|which (os | operating system | distro | linux | kernel) [version] (is {_IT} [running] |"
          f" does {_IT} run | is running) {_NOW}", f"(what is | what's) the name of {_SERVER}"),
    *rows(_facts("network"), f"what|which ip [address|addresses] {_HAVE} {_NOW}"),
    *rows(_facts("users"), f"(who is | who's | is anyone|anybody|somebody) [else] (logged in [to] | online) {_NOW}",
          f"how many users are (logged in | online) {_NOW}"),
    *rows(_facts(*HEALTH), f"(how is | how's) {_IT} [doing]", f"is {_IT} ok|okay|fine|healthy"),
    *rows(_facts(), f"[{_TELL} | how is|are | how's] {_THE} <topics> [usage|use|utilization|status] {_NOW}"),
)  # fmt: skip


def describe_facts(outcome: Outcome, *, only_errors: bool = False) -> str:
    """The facts read, one sentence per topic, and what could not be read."""
    sentences = _SENTENCES | {"logs": partial(_logs, only_errors=only_errors)}
    said = [sentences[topic](facts) for topic, facts in outcome.fields.items()]
    if outcome.error:
        said.append(f"I could not read {'everything' if said else 'that'}: {outcome.error}.")
    return ("\n" if "logs" in outcome.fields else " ").join(said) or "server_info told nothing about that."


def _disk(facts: Facts) -> str:
    line = "The disk at {mount} is {used_percent:g} % full: {free_gb:g} GB free of {total_gb:g} GB."
    return " ".join(line.format(**disk) for disk in facts["disks"]) or "No disk is visible from here."


def _swap(facts: Facts) -> str:
    if not facts["total_gb"]:
        return f"This server has no swap ({facts['total_gb']:g} GB)."
    return "Swap is {used_percent:g} % used: {used_gb:g} GB of {total_gb:g} GB.".format(**facts)


def _processes(facts: Facts) -> str:
    if "asked" in facts:
        return _process(facts)
    by_cpu = ", ".join("{name} (pid {pid}, {cpu_percent:g} %)".format(**one) for one in facts["by_cpu"])
    by_memory = ", ".join("{name} (pid {pid}, {memory_mb:g} MB)".format(**one) for one in facts["by_memory"])
    return f"{facts['count']} processes are running. Most CPU: {by_cpu}. Most memory: {by_memory}."


def _process(facts: Facts) -> str:
    if not facts["running"]:
        return f"{facts['asked']} is not running: none of the {facts['count']} processes has that name."
    names = ", ".join(dict.fromkeys(str(one["name"]) for one in facts["matching"]))
    pids = ", ".join(str(one["pid"]) for one in facts["matching"])
    more = "" if facts["matches"] == len(facts["matching"]) else ", …"
    return (
        f"{facts['asked']} is running: {_count(facts['matches'], 'process', 'processes')} ({names}; pid {pids}{more}),"
        f" {facts['matching_cpu_percent']:g} % CPU, {facts['matching_memory_mb']:g} MB memory."
    )


def _logs(facts: Facts, *, only_errors: bool = False) -> str:
    lines = [str(line) for line in facts["lines"]]
    if not lines:
        return f"{facts['file']} is empty."
    where = f"the newest {_count(len(lines), 'line')} of {facts['file']}"
    if not only_errors:
        return f"T{where[1:]}:\n" + "\n".join(lines)
    trouble = [line for line in lines if _TROUBLE.search(line)]
    if not trouble:
        return f"None of {where} mentions an error or a warning."
    return f"{len(trouble)} of {where} mention an error or a warning:\n" + "\n".join(trouble[-LINES:])


def _network(facts: Facts) -> str:
    several = ((one["name"], "up" if one["up"] else "down", one["addresses"]) for one in facts["interfaces"])
    said = "; ".join(f"{name} ({state}) has {', '.join(addresses)}" for name, state, addresses in several)
    return f"{facts['hostname']}: {said}." if said else f"{facts['hostname']} has no network address."


def _users(facts: Facts) -> str:
    if not facts["sessions"]:
        return f"Nobody is logged in ({facts['count']} sessions)."
    several = ((one["name"], one["terminal"] or "no terminal", one["since"]) for one in facts["sessions"])
    said = ", ".join(f"{name} ({terminal}, since {since})" for name, terminal, since in several)
    return f"{_count(facts['count'], 'session')}: {said}."


def _count(number: int, one: str, many: str | None = None) -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"


_SENTENCES: Final[dict[str, Callable[[Facts], str]]] = {
    "uptime": "This server has been up for {text}, since {since}.".format_map,
    "load": lambda facts: (
        "The load average is {1_min:g} (1 min), {5_min:g} (5 min), {15_min:g} (15 min) on".format(**facts)
        + f" {_count(facts['cores'], 'core')}."
    ),
    "cpu": lambda facts: (
        f"The CPU is {facts['used_percent']:g} % busy; {_count(facts['cores'], 'core')}, {facts['model']}."
    ),
    "disk": _disk,
    "memory": "Memory is {used_percent:g} % used: {available_gb:g} GB available of {total_gb:g} GB.".format_map,
    "swap": _swap,
    "processes": _processes,
    "logs": _logs,
    "time": lambda facts: (
        f"It is {facts['weekday']}, {facts['date']}, {facts['time']} here ({facts['zone']},"
        f" UTC{facts['utc_offset'][:3]}:{facts['utc_offset'][3:]})."
    ),
    "os": "{hostname} runs {name} with {kernel} on {architecture}.".format_map,
    "network": _network,
    "users": _users,
}
