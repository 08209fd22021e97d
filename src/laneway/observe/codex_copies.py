"""Leaves out of a Codex fork's events the tokens that its parent spent: its log repeats them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from laneway.domain.session import NO_TOKENS, EventKind, SessionEvent
from laneway.observe.codex import Codex
from laneway.observe.codex_family import lineage_of
from laneway.observe.codex_forks import Lineage
from laneway.observe.reader import Reader

_OWN_PART = 1_000_000


class CodexCopies:
    """Remembers how much of one log was the fork's own; logs of others pass through as they are."""

    def __init__(self) -> None:
        self._own = NO_TOKENS
        self._parent: Lineage | None = None
        self._looked = False

    def left_out(self, reader: Reader | None, path: Path, events: list[SessionEvent]) -> list[SessionEvent]:
        """The events with the tokens this session spent itself, as far as anybody can tell."""
        if not isinstance(reader, Codex) or not reader.lineage.parents or not events:
            return events
        if not self._looked:
            parents = (lineage_of(name, path) for name in reader.lineage.parents)
            self._parent, self._looked = next((found for found in parents if found is not None), None), True
        own = reader.own(self._parent)
        if own is None:
            return events
        spent, self._own = own.tokens - self._own, own.tokens
        bare = [replace(event, tokens=NO_TOKENS) if event.tokens else event for event in events]
        if not spent:
            return bare
        last = bare[-1]
        # A place of its own: two events of one place would be stored as one.
        return [*bare, SessionEvent(last.session_id, last.provider, EventKind.TOKENS, last.at, tokens=spent,
                                    model=last.model, offset=last.offset, part=last.part + _OWN_PART)]  # fmt: skip
