"""Logs of nobody we know: only their lines are counted."""

from __future__ import annotations

from typing import ClassVar

from laneway.observe.reader import Reader
from laneway.observe.strict_json import Record
from laneway.observe.totals import Totals


class Foreign(Reader):
    """A log of an unknown kind."""

    provider: ClassVar[str] = "unknown"

    def add(self, record: Record) -> None:
        self.unknown_kind(record.get("type"))

    def totals(self) -> Totals:
        return Totals()
