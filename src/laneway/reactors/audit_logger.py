"""AuditLogger: what had an effect is put down in a chain that nobody can change unnoticed.

In our own jobs the stream of events is audited (`reactors/auditing.py`). For other agents' sessions this reactor notes
every tool call that can change something, and its end; whoever runs the chain says where the notes go.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path

from laneway.domain.audit import BEGINNING, Checked, Entry, Note, checked, sealed
from laneway.domain.session import EventKind
from laneway.errors import BadInput, NotFound
from laneway.reactors.calls import Category, category
from laneway.reactors.contract import Continue, Reaction, ReactorContext
from laneway.sandbox.commands import judge_tool

_HARMLESS = frozenset({Category.READ, Category.ASK})
_LAST_BYTES = 1_048_576


class AuditLogger:
    """Notes the tool calls of one session that can change something. It never has anything to say."""

    name = "audit"

    def __init__(self, keep: Callable[[Note], object]) -> None:
        self._keep = keep
        self._open: dict[str, str] = {}

    def handle(self, ctx: ReactorContext) -> Reaction:
        """What the event did is noted, once: what is replayed was noted when it happened."""
        event, state = ctx.event, ctx.state
        actor = f"{event.provider} {event.session_id}"
        if event.kind is EventKind.TOOL_CALLED and self._changes(ctx):
            self._open[event.call_id] = event.tool
            if not ctx.replayed:
                told = {"tool": event.tool, "arguments": event.arguments, "call": event.call_id}
                self._keep(Note(event.at, actor, "tool.started", told | {"cwd": event.cwd or state.cwd}))
        elif event.kind is EventKind.TOOL_ENDED and event.call_id in self._open:
            tool = self._open.pop(event.call_id)
            if not ctx.replayed:
                told = {"tool": tool, "call": event.call_id, "status": "error" if event.failed else "success"}
                self._keep(Note(event.at, actor, "tool.finished", told))
        return Continue()

    def _changes(self, ctx: ReactorContext) -> bool:
        tool, given = ctx.event.tool, ctx.event.arguments
        if category(tool, given) in _HARMLESS:
            return False
        return judge_tool(tool, given, ctx.event.cwd or ctx.state.cwd or None).changes


class AuditFile:
    """A chain in a file, one entry a line: for sessions that are watched without a server."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def append(self, note: Note) -> Entry:
        """The note is the file's last entry and on the disk; others who append meanwhile wait."""
        self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            last = self._last(descriptor)
            entry = sealed(note, *(1, BEGINNING) if last is None else (last.number + 1, last.hash))
            os.write(descriptor, json.dumps(entry.as_json(), ensure_ascii=False).encode("utf-8", "replace") + b"\n")
            os.fsync(descriptor)
            return entry
        finally:
            os.close(descriptor)

    def _last(self, descriptor: int) -> Entry | None:
        size = os.fstat(descriptor).st_size
        end = os.pread(descriptor, _LAST_BYTES, max(0, size - _LAST_BYTES))
        lines = end.splitlines()
        if not lines:
            return None
        if not end.endswith(b"\n"):
            raise BadInput(
                f"{self._path} ends in the middle of a line.", hint="`laneway audit verify --file` tells more."
            )
        return _entry(lines[-1], str(self._path), -1)


def entries_in(path: Path) -> Iterator[Entry]:
    """The entries of an export or of an AuditFile, in their order; BadInput if a line is none."""
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                if line.strip():
                    yield _entry(line, str(path), number)
    except OSError as error:
        raise NotFound(f"{path} cannot be read: {error.strerror}.", hint="Name a file of entries.") from None


def file_checked(path: Path) -> Checked:
    """How far the chain in the file holds; an export may begin anywhere."""
    entries = entries_in(path)
    try:
        first = next(entries, None)
        if first is None:
            return Checked(0, BEGINNING)
        begins = BEGINNING if first.number == 1 else first.previous
        return checked(_from(first, entries), first=first.number, previous=begins)
    except BadInput as error:
        return Checked(0, "", error.message)


def _from(first: Entry, rest: Iterator[Entry]) -> Iterator[Entry]:
    yield first
    yield from rest


def _entry(line: bytes, source: str, number: int) -> Entry:
    try:
        return Entry.given(json.loads(line))
    except (ValueError, KeyError, TypeError, AttributeError):
        where = "Its last line" if number < 0 else f"Line {number}"
        raise BadInput(f"{where} of {source} is no entry of an audit.", hint="It was changed or cut.") from None
