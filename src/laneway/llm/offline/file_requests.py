"""Skill: "read notes.txt" and "show me the file report.md", by the `read_file` tool."""

from __future__ import annotations

import re
from functools import cache

from laneway.llm.offline.carrying_out import carried_out
from laneway.llm.offline.orders import Offer, Order
from laneway.llm.offline.outcomes import Outcome
from laneway.llm.offline.paths import is_domain
from laneway.llm.offline.phrases import alternatives
from laneway.llm.offline.reading import plain
from laneway.llm.offline.turn import Answer, Turn

READ_FILE = "read_file"
# Outside every shared folder, but `server_info` reads them.
SYSTEM_LOGS = ("/var/log/syslog", "/var/log/messages")

_NAME = re.compile(
    r"""[“"'`«] (?P<quoted> [^“”"'`«»\n]{0,200} [./] [^“”"'`«»\n]{1,100} ) [”"'`»]
    | (?P<bare> (?:~?/|\.{1,2}/)? [\w@%+-][\w@%+./-]* \.(?=\w*[a-z])\w{1,8}\b
              | (?:~?/|\.{1,2}/) [\w@%+./-]+
              | (?<!\S)\.[a-z][\w.-]+ )""",
    re.X,
)
_NAME_AFTER_FILE = re.compile(
    r"\b(?:file|datei|archivo|fichero|fichier|document)\s+(?:(?:named|called|namens|llamado|nomme)\s+)?"
    r"(?P<bare>[A-Za-z][\w-]+)\s*[?.!]*$",
    re.I,
)


def file_requests(turn: Turn) -> Answer | None:
    """The file's text, or a call of the tool that reads it, if the message asks for nothing else."""
    order = file_reading(turn.question, Offer(turn.tools))
    return None if order is None else carried_out(turn, [order])


def file_reading(question: str, offer: Offer) -> Order | None:
    """The order to read the file that these words ask for."""
    path = asked_file(question)
    if path is None:
        return None
    return offer.order(READ_FILE, f"read {path}", lambda outcome: _shown(outcome, path), path=path)


def asked_file(question: str) -> str | None:
    """The path in "read the file PATH", or None if the message asks for something else or something more."""
    found = _NAME.search(question) or _NAME_AFTER_FILE.search(question)
    if found is None:
        return None
    path = (found.groupdict().get("quoted") or found.group("bare")).strip().rstrip(".,;:")
    if path in SYSTEM_LOGS:
        return None
    around = f"{question[: found.start()]} @ {question[found.end() :]}"
    if is_domain(path) and not re.search(r"\b(?:file|datei)\b", plain(around)):
        return None
    said = " ".join(re.sub(r"[^a-z0-9@ ]+", " ", plain(around)).split())
    if found.re is _NAME_AFTER_FILE:
        said = said.replace("@", "file @")
    return path if _request().fullmatch(said) else None


@cache
def _request() -> re.Pattern[str]:
    """Nothing but a polite request to read `@`; every further word could ask for more than reading."""
    asking, verb, between, after = (alternatives(f"file_{part}") for part in ("asking", "verb", "between", "after"))
    return re.compile(rf"(?:(?:{asking}) )*(?:{verb})(?: (?:{between}))* @(?: (?:{after}))*")


def _shown(outcome: Outcome, path: str) -> str:
    """The text of the file; the tool's own note on what it left out is added by whoever tells the outcome."""
    content = outcome.result if isinstance(outcome.result, str) else str(outcome.fields.get("text", ""))
    body = content if content.strip() else "(The file is empty.)"
    return f"{outcome.fields.get('path', path)}:\n\n{body}"
