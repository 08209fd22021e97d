"""What may fill a place in a shape: files, folders, services, programs, addresses; and the names known by heart.

The expressions look at marked text: lower case, quotations blotted out. `NAME` stands for the name of the place.
"""

from __future__ import annotations

import itertools
import re
import shlex
from typing import Final


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


PROGRAMS: Final = _words("""
    apache apache2 bash caddy celery chrome chronyd clickhouse consul containerd cron crond dnsmasq docker dockerd
    dovecot elasticsearch etcd exim fail2ban firefox gitlab grafana gunicorn haproxy httpd influxdb java jenkins kafka
    kubelet laneway loki mariadb memcached minio mongo mongod mongodb mysql mysqld named nginx node node_exporter nodejs
    ntpd ollama opensearch openvpn php php-fpm pm2 postfix postgres postgresql prometheus python python3 rabbitmq redis
    redis-server rsync rsyslog rsyslogd samba smbd sqlite squid ssh sshd supervisord systemd systemd-resolved tailscaled
    telegraf tmux tomcat traefik uvicorn valkey varnish vault vim wireguard zookeeper
""")
"""Programs people ask after by name."""
SERVICES: Final = PROGRAMS - _words(
    "bash chrome firefox java laneway named node nodejs php python python3 sqlite tmux vim"
)
"""Those that people start and stop as services; Laneway itself is not among them."""
SHELL_PROGRAMS: Final = _words("""
    apt apt-get awk bash cargo cat chmod chown cp crontab curl date dd df diff dig dmesg dnf docker dpkg du echo
    env file find free gcc git go grep gunzip gzip head helm host hostname hostnamectl htop id ifconfig iostat ip
    iptables journalctl jq kill kubectl last ln ls lsblk lscpu lsof make mkdir mount mv mypy mysql nc netstat node
    npm npx nproc nslookup openssl pgrep ping pip pip3 ps psql pwd pytest python python3 rm rmdir rsync ruff sed
    sh sha256sum sort ss ssh stat sudo sysctl systemctl tail tar tee terraform touch tree uname unzip uptime uv vmstat w
    wc wget which who whoami xargs yarn yum zip
""")
"""Programs of the command line that need no quotation marks after “run”."""
SUBCOMMANDS: Final = _words("""
    add addr all aux branch build check clean config describe diff down exec fetch freeze get images info init inspect
    install is-active is-enabled link list log logs main master network origin pods pull push rebase reload remote
    restart route run services show stash start stats status stop sync tag test top up update upgrade version volume
""")
"""Plain words that go on a command rather than a sentence."""
ADVERBS: Final = _words("""
    afterwards again already anyway carefully everything everywhere first immediately instead later now please quickly
    slowly soon today tomorrow tonight too
""")
"""Words that say how or when a command is to run, and are no part of it."""
DESCRIPTIONS: Final = _words("""
    anything blank bugs commas duplicates empty everything issues it mistakes newlines none nothing problems quotes
    semicolons something spaces tabs that this typos
""")
"""Words for what is to be found or written, rather than the text itself."""
_BEFORE_A_NAME: Final = _words("start stop restart reload status logs checkout switch install describe run which pgrep")

QUOTED: Final = r"\x01+\x00+\x02+"
FENCED: Final = r"\x03+\x00*\x04+"
WORD: Final = r"[^\s\x00-\x04,;]*[^\s\x00-\x04,;:.!?]"
JOINED: Final = r"\s*,\s*(?:and\s+)?|\s+(?:and|&)\s+"

_DOMAIN: Final = r"(?:[a-z0-9-]+\.)+(?:com|org|net|io|de|dev|ai|co|uk|eu|info|local|lan|cloud)(?![\w./-])"
_WELL_KNOWN: Final = r"(?:makefile|dockerfile|readme|license|changelog|procfile|vagrantfile|jenkinsfile|gemfile)"
_SPELLED: Final = r"(?=[a-z]*[\d_@%+~./-])[\w@%+~./-]*[\w/]"
# A word that goes on the sentence is no name.
_NAMED: Final = (
    r"(?!(?:with|containing|saying|that|which|today|tomorrow|now|later|please|for|of|and|then|there|here|in|to|from|at|on"
    r"|by|as|it|this|called|named|structure|tree|listing)(?![\w.-]))[\w@%+~./-]*[\w/]"
)
# A path has a slash or an ending; the name of a machine has dots too, and is no file unless called one.
_PATH: Final = (
    rf"(?:{QUOTED}|(?!{_DOMAIN})(?:(?:~|\.\.?)?/[\w@%+./-]*[\w/]|/|[\w@%+.-]+/[\w@%+./-]*(?<=[\w/])"
    rf"|[\w@%+.-]*[\w@%+-]\.(?=\w*[a-z])\w{{1,12}}|\.[a-z][\w.-]*\w|{_WELL_KNOWN}))(?![\w@%+/-]|\.\w)"
)
_FOLDER: Final = r"(?:src|tests|test|docs|doc|lib|bin|app|config|scripts|build|dist|data|reports|backup|archive|\.\.?)"
_PATTERN: Final = r"[\w@%+~./?\[\]*-]*\*[\w@%+~./?\[\]*-]*"
_DET: Final = r"(?:(?:the|a|an|my|our|this|that)\s+)?"
_FILE_WORD: Final = r"(?:new\s+)?(?:text\s+)?(?:file|document)\s+"
_FOLDER_WORD: Final = r"(?:new\s+)?(?:folder|directory|dir)\s+"
_CALLED: Final = r"(?:called|named)\s+"


def _several(item: str) -> str:
    return rf"(?:{item})(?:(?:{JOINED})(?:{item}))*"


def _either(names: frozenset[str]) -> str:
    return "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))


_SERVICE: Final = rf"(?:(?:{_either(SERVICES)}|[\w@:-]+\.(?:service|timer|socket))(?![\w@-])|{QUOTED})"
_UNIT: Final = r"(?:systemd\s+)?(?:services?|daemons?|units?)"
_ADJECTIVE: Final = r"(?:not|non|no|un|ex|old|new|long|third|never|half|self|well|high|low)-"
_SERVICE_SPELLED: Final = rf"(?:{_SERVICE}|(?!{_ADJECTIVE})(?=[a-z]*[-_@\d])[a-z0-9][\w@:-]*\w)"
_PROGRAM: Final = rf"(?:(?:{_either(PROGRAMS)})(?![\w@-])|{QUOTED})"
_PROGRAM_SPELLED: Final = rf"(?:{_PROGRAM}|(?=[a-z]*[-_@\d])[a-z][\w@+-]*\w)"
HEALTH: Final = ("uptime", "load", "memory", "disk")
TOPICS: Final[dict[str, tuple[str, ...]]] = {
    name: topics
    for names, topics in {
        "uptime": ("uptime",), "load|load average|load averages|load avg": ("load",), "cpu|processor": ("cpu",),
        "cpu load": ("cpu", "load"), "disk|disks|df|storage|disk space|filesystems": ("disk",),
        "memory|ram": ("memory",), "swap|swap space": ("swap",), "processes": ("processes",),
        "log|logs|syslog|log file|log files": ("logs",), "time|date|timezone|time zone|date and time": ("time",),
        "os|operating system|os version|kernel version|hostname": ("os",), "users|logged in users": ("users",),
        "ip|ip address|ip addresses|network|network interfaces|network addresses": ("network",),
        "status|health": HEALTH,
    }.items()
    for name in names.split("|")
}  # fmt: skip
"""What the words in a list such as “load, memory and disk” stand for."""
_FIGURE: Final = (
    r"(?:(?:the|my|our)\s+)?(?:(?:free|used|available)\s+)?(?:dis[ck]s?|drives?|storage|filesystems?|memory|ram|swap|cpu"
    r"|processor|(?:(?:1|5|15)[ -]?min(?:ute)?s?\s+)?(?:system\s+)?load)(?![\w./-])(?:\s+(?:space|usage|use|average))?"
    r"(?:\s+(?:(?:on|at)\s+)?/[\w./-]*)?|/[\w./-]*"
)

KINDS: Final = {
    "item": rf"(?P<NAME>{QUOTED}|{WORD})",
    "quoted": rf"(?P<NAME>{QUOTED})",
    "block": rf"(?P<NAME>{QUOTED}|{FENCED})",
    "blocks": rf"(?P<NAME>{_several(rf'(?:{QUOTED}|{FENCED})')})",
    "rest": r"(?#any)(?P<NAME>\S.*)",
    "verbatim": r"(?#any)(?P<NAME>\S.*)",
    "command": r"(?#any)(?P<NAME>\S.*?)",
    "number": r"(?P<NAME>\d{1,4})",
    "pid": r"#?(?P<NAME>\d{2,7})",
    "path": rf"(?P<NAME>{_PATH})",
    "file": rf"{_DET}(?:{_FILE_WORD}(?:{_CALLED}(?P<NAME__0>{QUOTED}|{_NAMED})|(?P<NAME__1>{QUOTED}|{_SPELLED}))"
    rf"|(?P<NAME__2>{_PATH}))",
    "files": rf"{_DET}(?:files\s+)?(?P<NAME>{_several(_PATH)})",
    "folder": rf"{_DET}(?:whole\s+)?{_FOLDER_WORD}"
    rf"(?:{_CALLED}(?P<NAME__0>{QUOTED}|{_NAMED})|(?P<NAME__1>{QUOTED}|{_NAMED}))",
    "place": rf"{_DET}(?:{_FOLDER_WORD}(?:{_CALLED})?(?P<NAME__0>{QUOTED}|{_NAMED})|(?:(?:file)\s+)?(?P<NAME__1>{_PATH}"
    rf"|{_FOLDER}(?![\w.-]))(?:\s+(?:folder|directory))?)",
    "pattern": rf"(?P<NAME>{_PATTERN}|{_PATH})",
    "ending": r"\*?(?P<NAME>\.\w{1,8})",
    "url": rf"<?(?P<NAME>https?://[^\s<>\x00-\x04]*[^\s<>\x00-\x04.,;:!?)]|{QUOTED})>?",
    "service": rf"(?P<NAME>{_either(SERVICES)})",
    "services": rf"(?:{_DET}(?:{_UNIT}\s+(?P<NAME__0>{_several(_SERVICE_SPELLED)})"
    rf"|(?P<NAME__1>{_several(_SERVICE_SPELLED)})\s+(?:{_UNIT}|server)|(?P<NAME__2>{_several(_SERVICE)})))",
    "process": r"(?#any)(?P<program>(?!(?:it|he|she|this|that|there|everything|anything|who|what)\b)[a-z][\w+-]*)",
    "topics": rf"(?P<topics>{_several(r'(?:the )?(?:' + _either(frozenset(TOPICS)) + ')')})",
    "figures": rf"(?P<NAME>{_several(_FIGURE)})",
    "state": r"(?:(?:is|are)\s+)?(?P<NAME>used|in use|full|busy|free|available|left|remaining)",
    "usage": r"(?P<NAME>memory|ram|cpu)",
    "limit": r"(?:(?P<above>above|over|(?:more|greater|higher|larger)\s+than|exceeds?|>(?!=))|"
    r"(?P<at_least>at least|reaches|>=)|(?P<below>below|under|(?:less|lower|fewer|smaller)\s+than|<(?!=))"
    r"|(?P<at_most>at most|<=))\s*(?P<number>\d{1,6}(?:[.,]\d{1,2})?)(?![\d.,]*\d)"
    r"(?:\s?(?P<unit>%|percent|[mgt]i?b|gigs?|(?:giga|mega|tera)bytes?))?",
    "program": rf"{_DET}(?:(?:service|daemon|process|server)\s+(?P<NAME__0>{_PROGRAM_SPELLED})"
    rf"|(?P<NAME__1>{_PROGRAM_SPELLED})\s+(?:service|daemon|process|server)|(?P<NAME__2>{_PROGRAM}))",
}


def is_file(path: str) -> bool:
    """True if a quoted text can be a file's name: it has an ending or a slash, and is one printable line."""
    return path.isprintable() and len(path) <= 300 and "://" not in path and re.search(r"[./]\S", path) is not None


def is_absolute(path: str) -> bool:
    """True if the path begins at the root or at home, so outside any workspace."""
    return path.startswith(("/", "~/"))


def shell_path(path: str) -> str:
    """The path as a shell reads it: quoted where needed, the home sign left to the shell, never taken as an option."""
    if path.startswith("~/"):
        return "~/" + (shlex.quote(path[2:]) if path[2:] else "")
    return shlex.quote(f"./{path}" if path.startswith("-") else path)


def is_program(token: str) -> bool:
    """True for a program of the command line, by its name or by its path."""
    return token in SHELL_PROGRAMS or re.fullmatch(r"(?:\.{1,2}|~)?/[\w@%+./-]*\w", token) is not None


def is_command(tokens: list[str]) -> bool:
    """True if every word is a program, a subcommand, an option, a path or the like: what no sentence goes on with."""
    return bool(tokens) and is_program(tokens[0]) and all(itertools.starmap(_goes_on, itertools.pairwise(tokens)))


def _goes_on(before: str, token: str) -> bool:
    if token.isalpha():
        return token in SUBCOMMANDS | SHELL_PROGRAMS | PROGRAMS or before in _BEFORE_A_NAME
    # Options, paths, figures and the like: what no sentence has as a word of its own.
    is_sentence = re.search(r"[;`\x00-\x04]", token) or re.fullmatch(r"\w+[,:.!?]+|[a-z]+'[a-z]+", token, re.I)
    return not is_sentence and re.search(r"[-/.=*$<>:~@'\"\d_+%]", token) is not None
