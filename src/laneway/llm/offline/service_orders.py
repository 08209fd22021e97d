"""Skill: everyday orders about services and processes, as `systemctl` and `kill` by the `bash` tool.

Shapes:
    restart nginx · restart the nginx service · stop redis and nginx · shut down the memcached service
    start docker · reload haproxy · enable / disable the docker service · give nginx a restart
    kill process 4242 · reboot the server
    starte nginx neu · stoppe redis · den Dienst nginx neu starten
    redémarre nginx · arrête le service redis · reinicia nginx · detén el servicio mysql

A name counts if everybody knows the program, if it stands in backticks, or if it is called a service and is spelled
like one (`billing-api`).
"""

from __future__ import annotations

import re

from laneway.llm.offline.marking import Said
from laneway.llm.offline.orders import Ask, Offer, Order, Understood, every, one
from laneway.llm.offline.politeness import Words
from laneway.llm.offline.run_commands import BASH, bash
from laneway.llm.offline.shapes import Found, fitting, shapes
from laneway.llm.offline.words import SERVICES

_VERBS = {
    "restart": (
        "@restart @services",
        "(?:starte?|starten sie) @services (?:bitte )?(?:neu|erneut)",
        "@services (?:bitte )?neu ?starten",
        "(?:give|gib) @services (?:a )?(?:restart|bounce|neustart)",
    ),
    "start": ("@start @services", "(?:bring|start) @services (?:back )?up", "@services starten"),
    "stop": ("@stop @services", "(?:shut|take|bring) @services down", "@services (?:stoppen|beenden|anhalten)"),
    "reload": ("@reload @services", "lade @services neu", "@services neu laden"),
    "enable": ("@enable @services",),
    "disable": ("@disable @services",),
}
_SHAPES = {verb: shapes(*texts) for verb, texts in _VERBS.items()}
_KILL = shapes(
    r"@kill (?:@the@process(?: (?:with )?(?:the )?(?:id|pid|number|nummer))?|@the(?:pid)) #?(?P<pid>\d{2,7})"
)
_REBOOT = shapes(
    "(?:reboot|reboote)(?: @the(?:whole )?(?:@computer|server|system|serveur|servidor))?",
    "restart @the(?:whole )?@computer",
)


def service_orders(words: Words, offer: Offer) -> Understood:
    """Commands that start, stop and reload services, end a process, or restart the machine."""
    if words.is_question:
        return None
    for found in fitting(words.core, _KILL):
        return one(bash(f"kill {found.value('pid')}", offer))
    for _ in fitting(words.core, _REBOOT):
        return one(bash("systemctl reboot", offer))
    for verb, patterns in _SHAPES.items():
        for found in fitting(words.core, patterns):
            return _orders(verb, found, offer)
    return None


def _orders(verb: str, found: Found, offer: Offer) -> Understood:
    is_called_service = found.has("service") or found.has("after")
    names = found.values("names")
    if not all(_is_service(name, is_called_service) for name in names):
        doubtful = is_called_service and len(names) == 1 and offer.has(BASH)
        return Ask(f"I do not know that service. Put its exact name in backticks: {verb} `name`.") if doubtful else None
    return every([_order(verb, _unit(name.value), offer) for name in names])


def _order(verb: str, name: str, offer: Offer) -> Order | None:
    command = f"systemctl {verb} {name}"
    return bash(command, offer, done=f"Done: `{command}`.")


def _is_service(name: Said, is_called_service: bool) -> bool:
    text = name.value
    if re.fullmatch(r"[A-Za-z0-9][\w@.:-]{0,80}", text) is None:
        return False
    if text.lower() in SERVICES or name.quoted is not None or text.endswith((".service", ".timer", ".socket")):
        return True
    return is_called_service and re.search(r"[a-z0-9][-_@]\w|\d", text.lower()) is not None


def _unit(name: str) -> str:
    """The name as systemd knows it: a known program's in lower case, any other as written."""
    return name.lower() if name.lower() in SERVICES else name
