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
# `@` stands where the command stood.
_ASKED = re.compile(
    r"""(?:(?:please|can\ you|could\ you|bitte|just)\ )*(?:
    (?:so\ )?(?:(?:show|tell|give)\ me\ )?what(?:ever)?\ (?:(?:does|would|do|will)\ )?(?:the\ )?@
        \ (?:command\ )?(?:\w+\ )?
        (?:says?|shows?|prints?|lists?|reports?|tells?|outputs?|gives?|returns?|look\ like)\b[\w\ ]*
    | (?:run|execute|do|try|(?:show|give)(?:\ me)?(?:\ the)?(?:\ output\ of)?|(?:the\ )?output\ of)\ (?:a\ |the\ )?@
        (?:\ (?:please|pls|output|for\ me|here|now))*
    | @
    | (?:was\ (?:sagt|zeigt)|que\ (?:dice|muestra)|que\ dit|qu\ affiche)\ (?:el\ |le\ |der\ )?@
    )""",
    re.X,
)
_NAME = re.compile(rf"\b({'|'.join(sorted(_TOPICS, key=len, reverse=True))})\b(?:\s+(?:aux|addr|a|link|-+[\w-]+))*")


def command_topics(raw: str) -> tuple[str, ...]:
    """The topics a named command would tell about, if naming it is all the question does."""
    said = " ".join(re.sub(r"[`'\"?!.,$>]+", " ", plain(raw)).split())
    for found in _NAME.finditer(said):
        if _ASKED.fullmatch(f"{said[: found.start()]}@{said[found.end() :]}"):
            return _TOPICS[found.group(1)]
    return ()
