"""Finds the log of a fork's parent: beside it, or elsewhere among Codex's sessions."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from laneway.observe.codex import Codex
from laneway.observe.codex_forks import Lineage
from laneway.observe.lines import Lines
from laneway.observe.reading import Reading
from laneway.observe.sources import Unreadable, pieces
from laneway.observe.strict_json import as_record

_MOST_NEIGHBOURS = 2_000
_ROOTS = {"sessions", "archived_sessions"}
_LOGS = (".jsonl", ".jsonl.zst")


def lineage_of(session_id: str, child: Path) -> Lineage | None:
    """The token counts and turns of that session; None if its log is not at hand."""
    path = next((path for path in _candidates(session_id, child) if _is_log_of(path, session_id)), None)
    if path is None:
        return None
    reading = Reading(path)
    try:
        for piece in pieces(path):
            reading.feed(piece)
    except Unreadable:
        # What could be read of it is still a beginning to compare with.
        pass
    reader = reading.finish()
    return reader.lineage if isinstance(reader, Codex) else None


def _candidates(session_id: str, child: Path) -> Iterator[Path]:
    """Files that may be it: those that carry its id in their name first, then all neighbours."""
    try:
        beside = sorted(
            islice((path for path in child.parent.iterdir() if path.name.endswith(_LOGS)), _MOST_NEIGHBOURS)
        )
    except OSError:
        return
    named = [path for path in beside if session_id in path.name]
    yield from named
    safe = all(letter.isalnum() or letter in "-_" for letter in session_id)
    for root in (parent for parent in child.parents if parent.name in _ROOTS) if safe else ():
        for folder in (root, *(root.parent / name for name in _ROOTS - {root.name})):
            yield from (path for end in _LOGS for path in folder.rglob(f"*{session_id}{end}"))
    yield from (path for path in beside if path not in named and path != child)


def _is_log_of(path: Path, session_id: str) -> bool:
    """Whether the first metadata of a log carries this id."""
    lines = Lines()
    try:
        for piece in islice(pieces(path), 4):
            for record in lines.feed(piece):
                meta = as_record(record.get("payload")) if record.get("type") == "session_meta" else {}
                if meta:
                    return session_id in (meta.get("id"), meta.get("session_id"))
    except Unreadable:
        return False
    return False
