"""The tools of initiative, in one list: what is remembered, what comes later, and what a person has to do."""

from __future__ import annotations

from laneway.clock import Clock
from laneway.lanes.tools.create_task import task_entry
from laneway.lanes.tools.entry import ToolEntry
from laneway.lanes.tools.remember import Sources, memory_entries, nobody
from laneway.lanes.tools.remind import remind_entry
from laneway.store.database import Database


def initiative_entries(db: Database, clock: Clock, zone: str, sources: Sources = nobody) -> list[ToolEntry]:
    """remember, recall, remind and create_task; `sources` tells whose words a call's turn has taken in."""
    return [*memory_entries(db, sources), remind_entry(db, clock, zone), task_entry(db, clock, zone, sources)]
