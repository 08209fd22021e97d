"""The audit's chain: each entry holds the hash of the one before it and its own: no link can be changed alone."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from laneway.domain.keepable import keepable

BEGINNING = "0" * 64
"""What stands for the hash before the first entry."""
_PERSONAL = frozenset({"name", "address", "addresses", "external_id", "phone", "sender", "called"})
"""What an audit cannot forget must not say who somebody is; people are named by their ids."""


@dataclass(frozen=True, slots=True)
class Note:
    """Something worth an entry, not yet in the chain."""

    at: datetime
    actor: str
    what: str
    body: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Entry:
    """One link. `body` is JSON without secrets, as the very text that was hashed."""

    number: int
    at: datetime
    actor: str
    what: str
    body: str
    previous: str
    hash: str

    def as_json(self) -> dict[str, Any]:
        return {
            "number": self.number, "at": _time(self.at), "actor": self.actor, "what": self.what, "body": self.body,
            "previous": self.previous, "hash": self.hash,
        }  # fmt: skip

    @classmethod
    def given(cls, fields: Mapping[str, Any]) -> Entry:
        """The entry that `as_json` wrote; KeyError, TypeError or ValueError if it is none."""
        texts = (str(fields[name]) for name in ("actor", "what", "body", "previous", "hash"))
        return cls(int(fields["number"]), datetime.fromisoformat(fields["at"]), *texts)


@dataclass(frozen=True, slots=True)
class Checked:
    """How far the chain holds: `broken` says at which entry it does not, and why."""

    entries: int
    head: str
    broken: str | None = None

    @property
    def intact(self) -> bool:
        return self.broken is None


def sealed(note: Note, number: int, previous: str) -> Entry:
    """The note as the chain's next entry."""
    body = json.dumps(_told(note.body), sort_keys=True, ensure_ascii=False, default=str, separators=(",", ":"))
    actor, what, at = keepable(note.actor), keepable(note.what), note.at.astimezone(UTC)
    return Entry(number, at, actor, what, body, previous, _hash(number, at, actor, what, body, previous))


def checked(entries: Iterable[Entry], *, first: int = 1, previous: str = BEGINNING) -> Checked:
    """Whether these entries, in this order, are a chain that nobody changed."""
    expected, before, count = first, previous, 0
    for entry in entries:
        fault = _fault(entry, expected, before)
        if fault is not None:
            return Checked(count, before, fault)
        expected, before, count = entry.number + 1, entry.hash, count + 1
    return Checked(count, before)


def _fault(entry: Entry, expected: int, before: str) -> str | None:
    if entry.number != expected:
        return f"Entry {expected} is missing: {entry.number} stands in its place."
    if entry.previous != before:
        return f"Entry {entry.number} does not follow the one before it: that one was changed or replaced."
    own = _hash(entry.number, entry.at, entry.actor, entry.what, entry.body, entry.previous)
    return None if own == entry.hash else f"Entry {entry.number} was changed: its hash does not fit what it says."


def _hash(number: int, at: datetime, actor: str, what: str, body: str, previous: str) -> str:
    text = json.dumps([number, _time(at), actor, what, body, previous], ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _time(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="microseconds")


def _told(body: Mapping[str, Any]) -> dict[str, Any]:
    """The body bounded and without secrets; what says who somebody is is told by its fingerprint."""
    told: dict[str, Any] = keepable(dict(body))
    return {name: _fingerprint(value) if name in _PERSONAL and value else value for name, value in told.items()}


def _fingerprint(value: Any) -> str:
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)
    return f"sha256:{hashlib.sha256(text.encode('utf-8', 'replace')).hexdigest()[:12]}"
