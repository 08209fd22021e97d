"""The routes, one file per noun; each answers from the store and in the shapes of `shapes.py`."""

from laneway.web.routes import (
    approvals,
    artifacts,
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
    people,
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
    waha,
    whatsapp,
)

ROUTERS = tuple(
    module.router
    for module in (
        messages,
        artifacts,
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
        people,
        schedules,
        reminders,
        tasks,
        memories,
        sql,
        status,
        logs,
        telegram,
        waha,
        whatsapp,
        health,
    )
)

__all__ = ["ROUTERS"]
