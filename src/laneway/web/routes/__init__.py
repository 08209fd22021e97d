"""The routes, one file per noun; each answers from the store and in the shapes of `shapes.py`."""

from laneway.web.routes import (
    approvals,
    classify,
    corrections,
    events,
    health,
    jobs,
    ledger,
    logs,
    messages,
    outbox,
    principals,
    sql,
    status,
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
        outbox,
        principals,
        sql,
        status,
        logs,
        health,
    )
)

__all__ = ["ROUTERS"]
