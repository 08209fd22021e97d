"""The tools of initiative, in one list: what is remembered, what comes later, and what a person has to do."""

from __future__ import annotations

from laneway.clock import Clock
from laneway.lanes.tools.create_task import task_entry
from laneway.lanes.tools.entry import ToolEntry
from laneway.lanes.tools.remember import memory_entries
from laneway.lanes.tools.remind import remind_entry
from laneway.store.database import Database


def initiative_entries(db: Database, clock: Clock, zone: str) -> list[ToolEntry]:
    """remember, recall, remind and create_task, over this database; `zone` is the owner's time zone."""
    return [*memory_entries(db), remind_entry(db, clock, zone), task_entry(db, clock, zone)]
