"""The workflows that sentences of the tests are read against."""

from __future__ import annotations

from datetime import UTC, datetime

from laneway.domain.workflow import Document
from laneway.lanes.workflow.sentences.find import DraftContext
from tests.lanes.workflow.stored_documents import CHAIN

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
SHOP: Document = {
    "nodes": [
        {"id": "fetch_price", "type": "http", "config": {"url": "https://shop.example/p"}},
        {"id": "mail", "type": "notify", "config": {"channel": "email", "subject": "Hi", "message": "It is done."}},
    ],
    "edges": [{"from": "fetch_price", "to": "mail"}],
}
_MAIL = {"channel": "email", "to": "me@example.com", "subject": "Cheap", "message": "Below 100: ${$nodes.fetch_price}"}
PRICE: Document = {
    "nodes": [
        {"id": "fetch_price", "type": "http", "config": {"url": "https://shop.example/p"}, "timeout_ms": 10_000},
        {"id": "check", "type": "conditional"},
        {"id": "mail_me", "type": "notify", "config": _MAIL},
        {"id": "log_it", "type": "function", "config": {"name": "log"}},
    ],
    "edges": [
        {"from": "fetch_price", "to": "check"},
        {"from": "check", "to": "mail_me", "condition": "$.price < 100 && !(ctx.previous.check.price < 100)"},
        {"from": "check", "to": "log_it"},
    ],
    "triggers": [{"type": "cron", "schedule": "0 9 * * *", "timezone": "Europe/Berlin"}, {"type": "manual"}],
}
REPORT: Document = {
    "nodes": [
        {"id": "load_sales", "type": "http", "config": {"url": "https://s.example/sales.csv"}},
        {"id": "top_sellers", "type": "pipeline", "config": {"plan": {"steps": [{"do": "limit", "count": 3}]}}},
        {"id": "post_report", "type": "notify", "config": {"channel": "slack", "url": "$secrets.HOOK", "message": "x"}},
    ],
    "edges": [{"from": "load_sales", "to": "top_sellers"}, {"from": "top_sellers", "to": "post_report"}],
}
_WELCOME = {"channel": "email", "to": "x@example.com", "subject": "Hi", "message": "Welcome"}
SIGNUP: Document = {
    "nodes": [
        {"id": "read_user", "type": "transform", "config": {"set": "$input.event"}},
        {"id": "approve_user", "type": "hitl", "config": {"message": "ok?"}},
        {"id": "welcome_mail", "type": "notify", "config": _WELCOME},
        {"id": "tell_sales", "type": "notify", "config": {"channel": "telegram", "message": "New user"}},
    ],
    "edges": [
        {"from": "read_user", "to": "approve_user"},
        {"from": "approve_user", "to": "welcome_mail", "condition": "output.decision == 'approved'"},
        {"from": "welcome_mail", "to": "tell_sales"},
    ],
    "triggers": [{"type": "event", "event": "user.signed_up"}],
}
_AGAIN = {"loop_back_to": "verify", "max_iterations": 5, "condition": "ctx.previous.verify.ok == 'no'"}
BACKUP: Document = {
    "nodes": [
        {"id": "dump", "type": "function", "config": {"name": "dump"}, "retry": {"max_attempts": 2}},
        {"id": "upload", "type": "http", "config": {"url": "https://b.example/u", "method": "POST"}},
        {"id": "verify", "type": "http", "config": {"url": "https://b.example/v"}},
        {"id": "again", "type": "loop", "config": _AGAIN},
        {"id": "done", "type": "notify", "config": {"channel": "owner", "message": "Backup done"}},
    ],
    "edges": [
        {"from": "dump", "to": "upload"},
        {"from": "upload", "to": "verify"},
        {"from": "verify", "to": "again"},
        {"from": "again", "to": "done"},
    ],
}
EXAMPLES: dict[str, Document] = {
    "main": CHAIN, "shop": SHOP, "price-watch": PRICE, "sales-report": REPORT, "signup": SIGNUP, "backup": BACKUP,
}  # fmt: skip


def context_of(workflow: str) -> DraftContext:
    """A request about one of the examples, about `any` of them, or of somebody who has `none`."""
    workflows = {} if workflow == "none" else EXAMPLES
    return DraftContext(NOW, "Europe/Berlin", workflow if workflow in EXAMPLES else None, workflows)
