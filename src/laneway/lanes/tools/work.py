"""What one run of the tools lane knows while it works: the request, the folder, and whose words it has read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID

from laneway.domain.keepable import texts_in
from laneway.engine.running import current_run
from laneway.lanes.contract import Request
from laneway.lanes.tools.entry import Call
from laneway.transcript import HEARD_CHARACTERS


@dataclass
class Work:
    """Handed to every tool call of the run; what is read on the way is added to it."""

    request: Request
    workspace: Path
    sources: list[str] = field(default_factory=list)
    """Whose words are in this turn besides the owner's own; with any of them, the turn is tainted."""
    found: set[str] = field(default_factory=set)
    """Tools that were looked for and found, or that stay in this thread's toolbox."""

    heard: dict[str, str] = field(default_factory=dict)
    """What these sources said."""

    def read(self, source: str | None, said: Any = None) -> None:
        """The turn has been told something by this source."""
        if source is not None and source not in self.sources:
            self.sources.append(source)
        if source is not None and said is not None:
            self.heard[source] = "\n".join(texts_in(said))[:HEARD_CHARACTERS]

    def call(self, by: UUID | None, *, approved: bool) -> Call:
        return Call(self.request, self.workspace, approved, _on_stop, by, tuple(self.sources))


def _on_stop(end: Callable[[], None]) -> Callable[[], None]:
    run = current_run()
    run.on_end.append(end)

    def take_back() -> None:
        if end in run.on_end:
            run.on_end.remove(end)

    return take_back
