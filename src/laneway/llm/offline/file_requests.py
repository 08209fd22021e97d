"""Skill: "read notes.txt" and "show me the file report.md", by the `read_file` tool."""

from __future__ import annotations

import re
from typing import Any

from pydantic_ai.messages import ToolReturnPart

from laneway.llm.offline.boundaries import names_another_host
from laneway.llm.offline.reading import plain
from laneway.llm.offline.turn import Answer, Turn, outcome, text

READ_FILE = "read_file"

_ASKING = r"""(?:please|pls|hey|hi|hello|ok|now|just|can\ you|could\ you|would\ you|will\ you|i\ (?:want
    |would\ like)\ to|let\ me|id\ like\ to
    |bitte|mal|kannst\ du|konntest\ du|mir|por\ favor|puedes|podrias|peux\ tu|pourrais\ tu|tu\ peux
    |s\ il\ te\ plait)"""
_READING = r"""(?:read|show|open|cat|print|display|view|see|output|give|list|type|get|look\ (?:at|into|in)|less|head
    |tail
    |lies|lese|lesen|zeige?|offne|gib|ausgeben|lee|leer|leeme|muestra(?:me)?|mostrar|abre|abrir|ensename|dame|ver
    |imprime
    |lis|lire|montre|montrer|ouvre|ouvrir|affiche|afficher|donne|voir)
    |what\ (?:is|does|do)|was\ steht|que\ (?:hay|dice|contiene)|qu\ y\ a\ t\ il|que\ (?:contient|dit)|contents?\ of
    |inhalt"""
_BETWEEN = r"""(?:me|us|the|my|our|a|this|that|out|of|in|inside|from|whole|full|content|contents|text|file|document
    |please|at|up|to
    |first|last|lines?|mir|uns|die|der|das|den|dem|datei|inhalt|von|vor|vom|in|aus|el|la|los|archivo|fichero
    |contenido|texto|de|del|en
    |le|les|fichier|contenu|du|dans|moi|texte|d|l|y|is|say|says)"""
_AFTER = r"""(?:please|pls|for\ me|to\ me|now|file|say|says|contain|contains|out|vor|an|auf|bitte|por\ favor|aus
    |thanks|drin
    |s\ il\ te\ plait|svp|stp|drin|inside)"""
_NAME = re.compile(
    r"""[“"'`«](?P<quoted>[^“”"'`«»\n]{0,200}[./][^“”"'`«»\n]{1,100})[”"'`»] | (?P<bare>(?:~?/
    |\.{1,2}/)?[\w@%+-][\w@%+./-]*\.\w{1,8}\b | (?:~?/|\.{1,2}/)[\w@%+./-]+
    | (?<!\S)\.[a-z][\w.-]+)""",
    re.X,
)
_UNNAMED = re.compile(
    r"\b(?:file|datei|archivo|fichero|fichier|document)\s+(?:named |called |namens |llamado "
    r"|nomme )?(?P<bare>[A-Za-z][\w-]+)\s*[?.!]*$",
    re.I,
)
_REQUEST = re.compile(rf"(?:{_ASKING}\ )*(?:{_READING})(?:\ (?:{_BETWEEN}))*(?:\ @)(?:\ (?:{_AFTER}))*", re.X)


def file_requests(turn: Turn) -> Answer | None:
    """The file's text, or a call of the tool that reads it, if the message asks for nothing else."""
    path = asked_file(turn.question)
    if path is None or READ_FILE not in turn.tools:
        return None
    returned = turn.returned(READ_FILE)
    return turn.call(READ_FILE, path=path) if returned is None else text(_worded(returned, path))


def asked_file(question: str) -> str | None:
    """The path in "read the file PATH", or None if the message asks for something else or something more."""
    found = _NAME.search(question) or _UNNAMED.search(question)
    if found is None:
        return None
    path = (found.groupdict().get("quoted") or found.group("bare")).strip().rstrip(".,;:")
    around = f"{question[: found.start()]} @ {question[found.end() :]}"
    if "/" not in path and names_another_host(path, "") and not re.search(r"\b(?:file|datei)\b", plain(around)):
        return None
    said = " ".join(re.sub(r"[^a-z0-9@ ]+", " ", plain(around)).split())
    if found.re is _UNNAMED:
        said = said.replace("@", "file @")
    return path if _REQUEST.fullmatch(said) else None


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
