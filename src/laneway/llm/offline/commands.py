"""Questions that name a command instead of a topic: "what does `df -h` say", "run uptime"."""

from __future__ import annotations

import re

from laneway.llm.offline.reading import plain

_TOPICS = {
    "uptime": ("uptime", "load"),
    "loadavg": ("load",),
    "df": ("disk",),
    "du": ("disk",),
    "lsblk": ("disk",),
    "free": ("memory", "swap"),
    "vmstat": ("memory", "swap", "cpu"),
    "swapon": ("swap",),
    "top": ("processes", "load"),
    "htop": ("processes", "load"),
    "ps": ("processes",),
    "nproc": ("cpu",),
    "lscpu": ("cpu",),
    "mpstat": ("cpu",),
    "w": ("users", "load"),
    "who": ("users",),
    "users": ("users",),
    "date": ("time",),
    "timedatectl": ("time",),
    "uname": ("os",),
    "lsb_release": ("os",),
    "hostnamectl": ("os",),
    "hostname": ("os",),
    "ip": ("network",),
    "ifconfig": ("network",),
    "dmesg": ("logs",),
    "journalctl": ("logs",),
}
_COMMAND = rf"(?P<command>{'|'.join(sorted(_TOPICS, key=len, reverse=True))})(?:\s+(?:aux|addr|a|link|show|-+[\w-]+))*"
_ASKED = re.compile(
    rf"""(?:please\s+|can\s+you\s+|could\s+you\s+|bitte\s+|just\s+)*(?:
    (?:so\s+)?(?:show\s+me\s+|tell\s+me\s+|give\s+me\s+)?(?:what|whatever)\s+(?:does\s+|would\s+|do\s+|will\s+)?(?:the\s+)?{_COMMAND}\s+(?:command\s+)?(?:\w+\s+)?
        (?:says?|shows?|prints?|lists?|reports?|tells?|outputs?|gives?|returns?|look\s+like)\b[\w\s]*
    | (?:run|execute|do|try|show(?:\s+me)?|give\s+me|give|output\s+of|the\s+output\s+of|show\s+me\s+the\s+output\s+of)\s+(?:a\s+|the\s+)?{_COMMAND.replace("?P<command>", "?P<command2>")}(?:\s+(?:please|pls|output|for\s+me|here|now))*
    | {_COMMAND.replace("?P<command>", "?P<command3>")}
    | (?:was\s+(?:sagt|zeigt)|que\s+(?:dice|muestra)|que\s+dit|qu\s+affiche)\s+(?:el\s+|le\s+|der\s+)?{_COMMAND.replace("?P<command>", "?P<command4>")}
    )""",
    re.X,
)


def command_topics(raw: str) -> tuple[str, ...]:
    """The topics a named command would tell about, if naming it is all the question does."""
    said = re.sub(r"[`'\"?!.,$>]+", " ", plain(raw)).strip()
    found = _ASKED.fullmatch(" ".join(said.split()))
    named = next((name for name in found.groupdict().values() if name), None) if found else None
    return _TOPICS[named] if named else ()
