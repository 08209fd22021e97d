"""The workflows that sentences of the tests are read against."""

from __future__ import annotations

from datetime import UTC, datetime

from laneway.domain.workflow import Document
from laneway.lanes.workflow.sentences.find import DraftContext
from tests.lanes.workflow.documents import flow
from tests.lanes.workflow.stored_documents import CHAIN

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
_HTTP, _MAIL = {"url": "https://shop.example/p"}, {"channel": "email", "to": "me@example.com"}
SHOP = flow(
    "fetch_price:http mail:notify",
    "fetch_price mail",
    fetch_price=_HTTP,
    mail={"channel": "email", "subject": "Hi", "message": "It is done."},
)
PRICE = flow(
    "fetch_price:http check:conditional mail_me:notify log_it:function",
    "fetch_price check",
    "check mail_me if $.price < 100 && !(ctx.previous.check.price < 100)",
    "check log_it",
    fetch_price=_HTTP,
    mail_me={**_MAIL, "subject": "Cheap", "message": "Below 100: ${$nodes.fetch_price}"},
    log_it={"name": "log"},
    triggers=[{"type": "cron", "schedule": "0 9 * * *", "timezone": "Europe/Berlin"}, {"type": "manual"}],
)
PRICE["nodes"][0]["timeout_ms"] = 10_000
REPORT = flow(
    "load_sales:http top_sellers:pipeline post_report:notify",
    "load_sales top_sellers post_report",
    load_sales={"url": "https://s.example/sales.csv"},
    top_sellers={"plan": {"steps": [{"do": "limit", "count": 3}]}},
    post_report={"channel": "slack", "url": "$secrets.HOOK", "message": "x"},
)
SIGNUP = flow(
    "read_user:transform approve_user:hitl welcome_mail:notify tell_sales:notify",
    "read_user approve_user",
    "approve_user welcome_mail if output.decision == 'approved'",
    "welcome_mail tell_sales",
    read_user={"set": "$input.event"},
    approve_user={"message": "ok?"},
    welcome_mail={**_MAIL, "subject": "Hi", "message": "Welcome"},
    tell_sales={"channel": "telegram", "message": "New user"},
    triggers=[{"type": "event", "event": "user.signed_up"}],
)
BACKUP = flow(
    "dump:function upload:http verify:http again:loop done:notify",
    "dump upload verify again done",
    dump={"name": "dump"},
    upload={"url": "https://b.example/u", "method": "POST"},
    verify={"url": "https://b.example/v"},
    again={"loop_back_to": "verify", "max_iterations": 5, "condition": "ctx.previous.verify.ok == 'no'"},
    done={"channel": "owner", "message": "Backup done"},
)
BACKUP["nodes"][0]["retry"] = {"max_attempts": 2}
EXAMPLES: dict[str, Document] = {
    "main": CHAIN, "shop": SHOP, "price-watch": PRICE, "sales-report": REPORT, "signup": SIGNUP, "backup": BACKUP,
}  # fmt: skip


def context_of(workflow: str) -> DraftContext:
    """A request about one of the examples, about `any` of them, or of somebody who has `none`."""
    workflows = {} if workflow == "none" else EXAMPLES
    return DraftContext(NOW, "Europe/Berlin", workflow if workflow in EXAMPLES else None, workflows)
