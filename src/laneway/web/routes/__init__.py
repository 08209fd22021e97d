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
    messages,
    outbox,
    sql,
    status,
    threads,
)

ROUTERS = tuple(
    module.router
    for module in (
        messages,
        threads,
        jobs,
        events,
        approvals,
        classify,
        corrections,
        ledger,
        budget,
        outbox,
        sql,
        status,
        logs,
        health,
    )
)

__all__ = ["ROUTERS"]
