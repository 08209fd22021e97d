"""The routes, one file per noun; each answers from the store and in the shapes of `shapes.py`."""

from laneway.web.routes import (
    approvals,
    budget,
    classify,
    corrections,
    events,
    health,
    jobs,
    ledger,
    logs,
    memories,
    messages,
    outbox,
    principals,
    reminders,
    schedules,
    sql,
    status,
    tasks,
    telegram,
    threads,
    tools,
    undo,
)

ROUTERS = tuple(
    module.router
    for module in (
        messages,
        threads,
        tools,
        jobs,
        undo,
        events,
        approvals,
        classify,
        corrections,
        ledger,
        budget,
        outbox,
        principals,
        schedules,
        reminders,
        tasks,
        memories,
        sql,
        status,
        logs,
        telegram,
        health,
    )
)

__all__ = ["ROUTERS"]
