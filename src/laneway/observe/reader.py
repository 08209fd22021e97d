"""What all readers share: they are fed records, keep totals, and say what happened as events."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections import Counter
from datetime import UTC, datetime
from typing import Any, ClassVar

import orjson

from laneway.domain.redaction import redacted
from laneway.domain.session import EventKind, SessionEvent
from laneway.domain.storable import storable
from laneway.observe.strict_json import Record
from laneway.observe.totals import Calls, Times, Totals

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
LONGEST_TEXT = 2_000
"""Characters of a text that an event carries."""
_MARGIN = 200
"""Read past the end, so that a secret the cut goes through is still recognised."""
_MOST_KINDS = 200


class Reader(ABC):
    """One session of one provider. Only the records in their order decide what comes out, not when they came."""

    provider: ClassVar[str]

    def __init__(self, *, wanted: bool = False, born: datetime = EPOCH) -> None:
        self.name = ""
        """What the session is called as long as it says no id: its file's name."""
        self.session_id = self.cwd = self.version = self.model = ""
        self.models: dict[str, None] = {}
        self.calls = Calls()
        self.times = Times()
        self.unknown: Counter[tuple[str, str]] = Counter()
        """Kinds of records nobody here knows, by (version, kind)."""
        self.wanted = wanted
        """Whether events are made at all; the totals need none."""
        self.offset = 0
        self.keyed = ""
        """The id of what is read now, where records have no place in a file."""
        self._number = 0
        self._at = born
        self._started = False
        self._events: list[SessionEvent] = []

    @abstractmethod
    def add(self, record: Record) -> None:
        """The record is counted, and what it means is among the events."""

    @abstractmethod
    def totals(self) -> Totals:
        """What all records so far add up to."""

    def read(self, record: Record, offset: int) -> None:
        """The record, which ends at this byte, is counted."""
        self.offset, self._number = offset, 0
        self.add(record)

    def take(self) -> list[SessionEvent]:
        """The events since the last time."""
        taken, self._events = self._events, []
        return taken

    def see(self, stamp: Any) -> None:
        """The time of what is read now is known, if this is one."""
        self._at = self.times.see(stamp) or self._at

    def uses(self, model: Any) -> None:
        """The session's model is this one from now on."""
        if type(model) is str and model:
            self.model = model
            self.models[model] = None

    def identify(self, session_id: Any, cwd: Any = "") -> None:
        """The first id and the first folder are the session's."""
        if not self.session_id and type(session_id) is str:
            self.session_id = session_id
        if not self.cwd and type(cwd) is str:
            self.cwd = cwd

    def unknown_kind(self, kind: Any, within: str = "") -> None:
        """That such a record exists is noted, for the version that wrote it."""
        name = (self.version[:40], within + (kind[:60] if type(kind) is str else f"({type(kind).__name__})"))
        if name in self.unknown or len(self.unknown) < _MOST_KINDS:
            self.unknown[name] += 1

    def emit(self, kind: EventKind, *, text: str = "", **fields: Any) -> None:
        """The event has happened, at the time and the place of what is read now."""
        if not self.wanted:
            return
        if not self._started:
            self._started = True
            self._append(EventKind.STARTED, cwd=self.cwd, model=self.model)
        fields.setdefault("model", self.model)
        self._append(kind, text=shown(text), **fields)

    def _append(self, kind: EventKind, **fields: Any) -> None:
        event = SessionEvent(
            self.session_id or self.name, self.provider, kind, self._at, offset=self.offset, part=self._number, **fields
        )
        self._number += 1
        self._events.append(self._placed(event) if self.keyed else event)

    def _placed(self, event: SessionEvent) -> SessionEvent:
        """The same event at a place that stays the same when the document is read again."""
        name = (
            f"{self.keyed}|{event.kind}|{event.call_id}|{event.tokens}|{event.text if event.kind != 'tokens' else ''}"
        )
        number = int.from_bytes(hashlib.blake2b(name.encode("utf-8", "replace"), digest_size=8).digest(), "big") >> 2
        fields = {field: getattr(event, field) for field in event.__slots__}
        return SessionEvent(**{**fields, "offset": number, "part": 0})


def shown(text: str) -> str:
    """The beginning of a text without secrets, fit to be stored and shown."""
    return str(redacted(storable(text[: LONGEST_TEXT + _MARGIN])))[:LONGEST_TEXT] if text else ""


def hash_of(result: Any) -> str:
    """A short hash of what a tool gave back."""
    try:
        written = result.encode("utf-8", "surrogatepass") if type(result) is str else orjson.dumps(result)
    except TypeError:
        # Nested too deep, or half a surrogate in it.
        written = str(type(result)).encode()
    return hashlib.blake2b(written, digest_size=12).hexdigest()
