"""Makes what a tool changes in the workspace something that can be taken back."""

from __future__ import annotations

from dataclasses import replace
from functools import wraps
from typing import Any

from laneway.lanes.tools.entry import Call, Outcome, ToolEntry
from laneway.lanes.tools.snapshots import Snapshots

ON_HOST = "It ran on the machine itself: only what it changed in the workspace can be undone."


def undoable(entry: ToolEntry, snapshots: Snapshots) -> ToolEntry:
    """The same tool, with the workspace on record before each call: a command that seems to read may write."""

    @wraps(entry.function)
    async def recorded(call: Call, **arguments: Any) -> Outcome:
        async with snapshots.around(call, entry.name) as snapshot:
            outcome = dict(await entry.function(call, **arguments))
        notes = [note for note in (snapshot.note, ON_HOST if call.request.host_mode else None) if note]
        return outcome | ({"note": " ".join(notes)} if notes else {})

    return replace(entry, function=recorded)
