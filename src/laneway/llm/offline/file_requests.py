"""Skill: "read notes.txt" and "show me the file report.md", by the `read_file` tool."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from pydantic_ai.messages import ToolReturnPart

from laneway.llm.offline.boundaries import names_another_host
from laneway.llm.offline.phrases import alternatives
from laneway.llm.offline.reading import plain
from laneway.llm.offline.turn import Answer, Turn, outcome, text

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
    path = asked_file(turn.question)
    if path is None or READ_FILE not in turn.tools:
        return None
    returned = turn.returned(READ_FILE)
    return turn.call(READ_FILE, path=path) if returned is None else text(_worded(returned, path))


def asked_file(question: str) -> str | None:
    """The path in "read the file PATH", or None if the message asks for something else or something more."""
    found = _NAME.search(question) or _NAME_AFTER_FILE.search(question)
    if found is None:
        return None
    path = (found.groupdict().get("quoted") or found.group("bare")).strip().rstrip(".,;:")
    if path in SYSTEM_LOGS:
        return None
    around = f"{question[: found.start()]} @ {question[found.end() :]}"
    if "/" not in path and names_another_host(path, "") and not re.search(r"\b(?:file|datei)\b", plain(around)):
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


def _worded(returned: ToolReturnPart, path: str) -> str:
    result, error = outcome(returned)
    if error is not None:
        return f"I could not read {path}: {error}"
    return _shown(result, path)


def _shown(result: dict[str, Any], path: str) -> str:
    content = str(result.get("text", ""))
    body = content if content.strip() else "(The file is empty.)"
    note = f"\n\n({result['note']})" if result.get("note") else ""
    return f"{result.get('path', path)}:\n\n{body}{note}"
