"""Everyday sentences over four workflows: each is the change that was meant or an honest refusal, never another one."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from laneway.domain.workflow import Document
from laneway.lanes.workflow.checks import patched
from laneway.lanes.workflow.sentences import Draft, Known, Refusal, planned

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
MAIL = {"channel": "email", "to": "me@example.com", "subject": "Cheap", "message": "Below 100: ${$nodes.fetch_price}"}
PRICE: Document = {
    "nodes": [
        {"id": "fetch_price", "type": "http", "config": {"url": "https://shop.example/p"}, "timeout_ms": 10_000},
        {"id": "check", "type": "conditional"},
        {"id": "mail_me", "type": "notify", "config": MAIL},
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
SIGNUP: Document = {
    "nodes": [
        {"id": "read_user", "type": "transform", "config": {"set": "$input.event"}},
        {"id": "approve_user", "type": "hitl", "config": {"message": "ok?"}},
        {"id": "welcome_mail", "type": "notify",
         "config": {"channel": "email", "to": "x@example.com", "subject": "Hi", "message": "Welcome"}},
        {"id": "tell_sales", "type": "notify", "config": {"channel": "telegram", "message": "New user"}},
    ],
    "edges": [
        {"from": "read_user", "to": "approve_user"},
        {"from": "approve_user", "to": "welcome_mail", "condition": "output.decision == 'approved'"},
        {"from": "welcome_mail", "to": "tell_sales"},
    ],
    "triggers": [{"type": "event", "event": "user.signed_up"}],
}  # fmt: skip
BACKUP: Document = {
    "nodes": [
        {"id": "dump", "type": "function", "config": {"name": "dump"}, "retry": {"max_attempts": 2}},
        {"id": "upload", "type": "http", "config": {"url": "https://b.example/u", "method": "POST"}},
        {"id": "verify", "type": "http", "config": {"url": "https://b.example/v"}},
        {"id": "again", "type": "loop",
         "config": {"loop_back_to": "verify", "max_iterations": 5, "condition": "ctx.previous.verify.ok == 'no'"}},
        {"id": "done", "type": "notify", "config": {"channel": "owner", "message": "Backup done"}},
    ],
    "edges": [{"from": one, "to": other} for one, other in
              (("dump", "upload"), ("upload", "verify"), ("verify", "again"), ("again", "done"))],
}  # fmt: skip
STORED = {"price-watch": PRICE, "sales-report": REPORT, "signup": SIGNUP, "backup": BACKUP}


def read(said: str, tag: str | None) -> Draft | Refusal:
    return planned(said, Known(NOW, "Europe/Berlin", tag, STORED))


@pytest.mark.parametrize(
    ("tag", "said", "changed", "path", "value"),
    [
        ("price-watch", "change the threshold to 80", 2, "/edges/@check->mail_me/condition",
         "$.price < 80 && !(ctx.previous.check.price < 80)"),
        ("price-watch", "lower the price limit to 79.5", 2, "/nodes/@mail_me/config/message",
         "Below 79.5: ${$nodes.fetch_price}"),
        ("price-watch", "change the limit of mail_me from 100 to 120", 2, "/edges/@check->mail_me/condition",
         "$.price < 120 && !(ctx.previous.check.price < 120)"),
        ("price-watch", "change the recipient of mail_me to anna@example.org", 1, "/nodes/@mail_me/config/to",
         "anna@example.org"),
        ("price-watch", "send the mail to bob@example.org instead", 1, "/nodes/@mail_me/config/to", "bob@example.org"),
        ("price-watch", "add a slack notification after mail_me", 2, "/nodes/@notify_slack/config/channel", "slack"),
        ("price-watch", "remove log_it", 2, "/nodes/-", None),
        ("price-watch", "change the schedule to every monday at 8", 1, "/triggers/0/schedule", "0 8 * * 1"),
        ("price-watch", "pause the workflow", 1, "/triggers/0/enabled", False),
        ("price-watch", "retry fetch_price 4 times", 1, "/nodes/@fetch_price/retry", {"max_attempts": 4}),
        ("price-watch", "try fetch_price again three times if it fails", 1, "/nodes/@fetch_price/retry",
         {"max_attempts": 3}),
        ("price-watch", "increase the timeout of fetch_price to 20 seconds", 1,
         "/nodes/@fetch_price/timeout_ms", 20_000),
        ("price-watch", "wait 10 minutes before mail_me", 3, "/nodes/@wait/config", {"duration_ms": 600_000}),
        ("price-watch", "ask me before mail_me", 3, "/edges/@approval->mail_me/condition",
         'output.decision == "approved"'),
        ("price-watch", "rename mail_me to cheap mail", 2, "/edges/1/to", "cheap_mail"),
        ("price-watch", "rename check to look", 5, "/edges/@look->mail_me/condition",
         "$.price < 100 && !(ctx.previous.look.price < 100)"),
        ("sales-report", "run sales-report every friday at 17:00", 1, "/triggers/0/schedule", "0 17 * * 5"),
        ("sales-report", "run it every hour", 1, "/triggers/0/schedule", "0 * * * *"),
        ("sales-report", "change the url of load_sales to https://new.example/sales.csv", 1,
         "/nodes/@load_sales/config/url", "https://new.example/sales.csv"),
        ("sales-report", "use telegram instead of slack", 2, "/nodes/@post_report/config",
         {"channel": "telegram", "message": "x"}),
        ("sales-report", "add an approval before post_report", 4, "/edges/@top_sellers->approval/to", "approval"),
        ("sales-report", "e-mail boss@example.com after top_sellers", 2, "/nodes/@send_email/config/to",
         "boss@example.com"),
        ("sales-report", "if load_sales fails, e-mail ops@example.com", 2, "/edges/@load_sales->send_email/on",
         "error"),
        ("signup", "remove the approval", 4, "/edges/0", {"from": "read_user", "to": "welcome_mail"}),
        ("signup", 'change the message of welcome_mail to "Welcome aboard!"', 1, "/nodes/@welcome_mail/config/message",
         "Welcome aboard!"),
        ("signup", 'change the subject of welcome_mail to "Do not worry"', 1, "/nodes/@welcome_mail/config/subject",
         "Do not worry"),
        ("signup", "also tell marketing@example.com after welcome_mail", 2, "/edges/@welcome_mail->send_email/to",
         "send_email"),
        ("backup", "change the limit of again to 10", 1, "/nodes/@again/config/max_iterations", 10),
        ("backup", "rename verify to check", 5, "/nodes/@again/config/condition", "ctx.previous.check.ok == 'no'"),
        ("backup", "tell me on telegram when upload fails", 2, "/edges/@upload->notify/on", "error"),
        ("backup", "give upload 5 minutes", 1, "/nodes/@upload/timeout_ms", 300_000),
        ("backup", "add a 30 second wait before verify", 3, "/edges/@upload->wait/to", "wait"),
        ("backup", "run backup every day at 3 am and at 3 pm", 1, "/triggers/0/schedule", "0 3,15 * * *"),
        (None, "remove the step dump", 2, "/nodes/0/id", "upload"),
        (None, "rename upload to push in workflow backup", 3, "/nodes/1/id", "push"),
        (None, "in the workflow signup, remove tell_sales", 2, "/nodes/2/id", "welcome_mail"),
        (None, "change the schedule of price-watch to every 2 hours", 1, "/triggers/0/schedule", "0 */2 * * *"),
        (None, "when backup fails, alert me", 1, "/triggers/0",
         {"type": "event", "event": "workflow.run.failed", "condition": '$.workflow == "backup"'}),
        (None, 'every day at 8 send me a message saying "drink water"', 1, "/nodes/0/config/message", "drink water"),
    ],
)  # fmt: skip
def test_a_sentence_is_the_change_that_was_meant(
    tag: str | None, said: str, changed: int, path: str, value: Any
) -> None:
    draft = read(said, tag)
    assert isinstance(draft, Draft), draft
    assert tag in (None, draft.tag)
    assert len(draft.operations) == changed, draft.operations
    after = patched(STORED.get(draft.tag, {}), draft.operations)
    assert after.document is not None, after.findings
    if value is not None:
        assert patched(after.document, [{"op": "test", "path": path, "value": value}]).accepted, after.document


def test_a_pause_for_a_time_ends_by_itself_and_leaves_what_people_start() -> None:
    draft = read("pause price-watch until tomorrow at 9", None)
    assert isinstance(draft, Draft)
    assert draft.valid_until == datetime(2026, 1, 2, 8, tzinfo=UTC)
    paused = patched(PRICE, draft.operations).document
    assert paused is not None
    assert [one.get("enabled") for one in paused["triggers"]] == [False, None]
    resumed = planned("resume it", Known(NOW, "UTC", "price-watch", {"price-watch": paused}))
    assert isinstance(resumed, Draft)
    assert patched(paused, resumed.operations).document == PRICE


def test_what_is_said_of_a_notification_by_its_channel_names_no_article() -> None:
    for said in ("use telegram instead of slack", "add a slack message after post_report"):
        draft = read(said, "sales-report")
        assert isinstance(draft, Draft)
        assert " a is told" not in draft.description
        assert "(a)" not in draft.description


@pytest.mark.parametrize(
    ("tag", "said"),
    [
        ("price-watch", "mail me when the price is below 80 instead of 100"), ("price-watch", "remove check"),
        ("price-watch", "run it every hour"), ("price-watch", "raise the limit to 80"),
        ("price-watch", "change the threshold from 90 to 80"), ("price-watch", "resume the workflow"),
        ("price-watch", "set the url of fetch_price to ftp://x.example"), ("price-watch", "disable mail_me"),
        ("price-watch", "stop running it on weekends"), ("price-watch", "double the timeout of fetch_price"),
        ("sales-report", 'change the subject of post_report to "Hello"'), ("sales-report", "change the threshold to 3"),
        ("sales-report", "only take the top 5 sellers"), ("sales-report", "swap load_sales and top_sellers"),
        ("signup", "delete tell_sales and rename welcome_mail to greet"),
        ("signup", "notify me when a user signs up and pays"), ("signup", "notify me when 3 users sign up"),
        ("signup", "tell me when a user is 20 percent cheaper than yesterday"),
        ("signup", "change the message of welcome_mail to Welcome aboard"),
        ("backup", "retry upload 5 times with 30 seconds between until friday"), ("backup", "pause backup"),
        ("backup", "change the limit of again to 0"), ("backup", "don't notify me any more"),
        (None, "change the threshold to 80"), (None, "pause it"),
    ],
)  # fmt: skip
def test_what_could_mean_something_else_is_refused(tag: str | None, said: str) -> None:
    found = read(said, tag)
    assert isinstance(found, Refusal), found
    assert found.reason


def _polling(**paths: Any) -> Document:
    loop = {"loop_back_to": "poll", "max_iterations": 5, "condition": "output.body.more == true", **paths}
    return {
        "nodes": [
            {"id": "poll", "type": "http", "config": {"url": "https://example.org"}},
            {"id": "again", "type": "loop", "config": loop},
            {"id": "done", "type": "transform", "config": {"set": "x"}},
            {"id": "late", "type": "transform", "config": {"set": "y"}},
        ],
        "edges": [{"from": "poll", "to": "again"}, {"from": "again", "to": "done"}],
    }


@pytest.mark.parametrize("path", [["done"], "done"])
@pytest.mark.parametrize(
    ("said", "left_to", "led_on"),
    [
        ("wait 5 minutes after again", ["wait"], [("again", "wait"), ("wait", "done")]),
        ("wait 10 seconds before done", ["wait"], [("again", "wait"), ("wait", "done")]),
        ("ask me before done", ["approval"], [("again", "approval"), ("approval", "done")]),
        ("remove the step done", None, []),
    ],
)
def test_a_step_set_in_where_a_loop_is_left_is_where_the_loop_goes(
    path: Any, said: str, left_to: list[str] | None, led_on: list[tuple[str, str]]
) -> None:
    before = _polling(break_path=path, timeout_path=["late"] if "after" not in said else [])
    draft = planned(said, Known(NOW, "Etc/UTC", "flow", {"flow": before}))
    assert isinstance(draft, Draft), draft
    verdict = patched(before, draft.operations)
    assert verdict.document is not None, verdict.findings
    loop = next(one for one in verdict.document["nodes"] if one["id"] == "again")
    assert loop["config"].get("break_path") == left_to
    edges = [(one["from"], one["to"]) for one in verdict.document["edges"]]
    assert sorted(edge for edge in edges if edge != ("poll", "again")) == led_on


def test_a_step_behind_a_loop_that_is_left_by_two_ways_is_asked_about() -> None:
    before = _polling(break_path=["done"], timeout_path=["late"])
    found = planned("wait 5 minutes after again", Known(NOW, "Etc/UTC", "flow", {"flow": before}))
    assert isinstance(found, Refusal)
    assert "two ways" in found.reason
