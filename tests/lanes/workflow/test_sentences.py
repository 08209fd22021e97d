"""Changes in plain English, without a model: every shape that is promised, and a refusal for everything else."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from laneway.domain.workflow import Document
from laneway.lanes.workflow.checks import patched
from laneway.lanes.workflow.conditions import Erred, compiled
from laneway.lanes.workflow.sentences import Draft, Known, Refusal, planned
from laneway.lanes.workflow.undoing import Undo, undo_of
from tests.lanes.workflow.stored_documents import CHAIN, CHOICE

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
EMPTY: Document = {"nodes": [], "edges": []}
MAILING: Document = {
    "nodes": [
        {"id": "fetch_price", "type": "http", "config": {"url": "https://shop.example/p"}},
        {"id": "mail", "type": "notify", "config": {"channel": "email", "subject": "Hi", "message": "It is done."}},
    ],
    "edges": [{"from": "fetch_price", "to": "mail"}],
}


def known(**documents: Document) -> Known:
    tag = next(iter(documents)) if len(documents) == 1 else None
    return Known(NOW, "Europe/Berlin", tag, documents)


def plan(said: str, about: Known) -> tuple[Draft, Document]:
    """The change, and the workflow after it; it must pass every check."""
    found = planned(said, about)
    assert isinstance(found, Draft), found
    verdict = patched(about.workflows.get(found.tag, EMPTY), found.operations)
    assert verdict.document is not None, verdict.findings
    return found, verdict.document


def node(document: Document, name: str) -> dict[str, Any]:
    return next(one for one in document["nodes"] if one["id"] == name)


def edges(document: Document) -> list[tuple[str, str]]:
    return [(edge["from"], edge["to"]) for edge in document["edges"]]


@pytest.mark.parametrize(
    ("said", "event", "channel"),
    [
        ("always send email when price drops", "price.dropped", "email"),
        ("whenever user signs up, notify slack", "user.signed_up", "slack"),
        ("if error occurs then alert ops team", "error.occurred", "owner"),
        ("Whenever a new order is placed, please e-mail sales@shop.example.", "order.placed", "email"),
        ("from now on, tell me by telegram when a payment fails", "payment.failed", "telegram"),
        ("could you always notify me when a file arrives?", "file.arrived", "owner"),
    ],
)
def test_a_rule_without_a_workflow_becomes_one(said: str, event: str, channel: str) -> None:
    draft, document = plan(said, known())
    assert document["triggers"] == [{"type": "event", "event": event}]
    assert document["nodes"][-1]["config"]["channel"] == channel
    assert any(event in note for note in draft.notes)


def test_a_limit_becomes_a_condition_and_the_number_is_told() -> None:
    draft, document = plan("always e-mail me when the price drops below 100", known())
    [edge] = document["edges"]
    assert (edge["from"], edge["to"]) == ("check_price", "send_email")
    assert edge["condition"] == (
        "has(output.price) && output.price < 100 && !(has(ctx.previous.check_price) && "
        "has(ctx.previous.check_price.price) && ctx.previous.check_price.price < 100)"
    )
    assert node(document, "check_price")["config"] == {"input": "$input.event"}
    assert node(document, "send_email")["config"]["message"].endswith("it is ${$input.event.price} now.")
    assert draft.description == "An e-mail goes to you when the price drops below 100."


@pytest.mark.parametrize(
    ("words", "sign"),
    [
        ("the temperature rises above $1,000", "> 1000"), ("the stock is at least 5", ">= 5"),
        ("the error rate exceeds 2.5%", "> 2.5"), ("disk usage reaches 90 percent", ">= 90"),
        ("the balance falls under -20", "< -20"), ("the count is at most 3", "<= 3"),
        ("the total is over 2k", "> 2000"),
    ],
)  # fmt: skip
def test_limits_in_other_words(words: str, sign: str) -> None:
    _, document = plan(f"notify me whenever {words}", known())
    assert document["edges"][0]["condition"].rstrip(")").endswith(sign)


def ways(words: str, numbers: list[float]) -> list[bool]:
    """For each number in turn, whether the rule tells of it; each has the one before it as the run before."""
    _, document = plan(f"notify me when {words}", known())
    condition, told = compiled(document["edges"][0]["condition"]), list[bool]()
    before: dict[str, Any] = {}
    for each in numbers:
        value = condition.value({"price": each}, {"previous": before})
        assert not isinstance(value, Erred), value
        told.append(value)
        before = {"check_price": {"price": each}}
    return told


@pytest.mark.parametrize(
    "words", ["drops below 100", "falls under 100", "goes below 100", "gets lower than 100", "sinks beneath 100"]
)
def test_a_limit_that_is_passed_downwards_is_told_once_for_each_time(words: str) -> None:
    assert ways(f"the price {words}", [120, 95, 94, 100, 99]) == [False, True, False, False, True]


@pytest.mark.parametrize("words", ["rises above 100", "goes over 100", "climbs past 100", "exceeds 100"])
def test_a_limit_that_is_passed_upwards_is_told_once_for_each_time(words: str) -> None:
    assert ways(f"the price {words}", [101, 140, 100, 100.5, 101]) == [True, False, False, True, False]


def test_what_is_below_a_limit_is_told_as_long_as_it_is() -> None:
    assert ways("the price is below 100", [120, 95, 94, 130, 99]) == [False, True, True, False, True]
    assert ways("the price is at least 100", [120, 130, 99]) == [True, True, False]


def test_a_run_before_without_the_number_counts_as_none() -> None:
    _, document = plan("notify me when the price drops below 100", known(shop=MAILING))
    condition = compiled(document["edges"][-1]["condition"])
    for before in ({}, {"fetch_price": {"status": 200}}, {"fetch_price": {"body": {"cost": 3}}}):
        assert condition.value({"body": {"price": 90}}, {"previous": before}) is True
    assert condition.value({"body": {"price": 90}}, {"previous": {"fetch_price": {"body": {"price": 91}}}}) is False


def test_a_limit_is_put_behind_the_step_that_knows_the_number() -> None:
    _, document = plan("always notify slack when the price drops below 100", known(shop=MAILING))
    edge = document["edges"][-1]
    assert (edge["from"], edge["to"]) == ("fetch_price", "notify_slack")
    assert edge["condition"].startswith("has(output.body.price) && output.body.price < 100 && !(has(ctx.previous.")
    assert "$nodes.fetch_price.body.price" in node(document, "notify_slack")["config"]["message"]


def test_an_error_of_any_step_leads_to_the_alarm() -> None:
    draft, document = plan("if an error occurs then alert the ops team", known(main=CHAIN))
    caught = {edge["from"] for edge in document["edges"] if edge.get("on") == "error"}
    assert caught == {"fetch", "process", "keep"}
    assert "No address of `the ops team` is known here, so it goes to you." in draft.notes[0]


def test_the_end_or_failure_of_one_step_is_told() -> None:
    _, failing = plan("tell me when fetch fails", known(main=CHAIN))
    assert failing["edges"][-1] == {"from": "fetch", "to": "notify", "on": "error"}
    _, done = plan("e-mail bob@x.example whenever the processing step is done", known(main=CHAIN))
    assert done["edges"][-1] == {"from": "process", "to": "send_email"}


def test_a_step_is_added_where_it_was_said() -> None:
    _, after = plan("add notification step after processing", known(main=CHAIN))
    assert ("process", "notify") in edges(after)
    assert ("process", "keep") in edges(after)
    _, before = plan("add an approval step before keep", known(main=CHAIN))
    assert edges(before) == [("fetch", "process"), ("process", "approval"), ("approval", "keep")]
    assert before["edges"][-1]["condition"] == 'output.decision == "approved"'
    assert node(before, "keep")["config"]["input"] == "$nodes.process"
    _, middle = plan("insert a 5 minute delay between fetch and process", known(main=CHAIN))
    assert edges(middle) == [("fetch", "wait"), ("process", "keep"), ("wait", "process")]
    assert node(middle, "wait")["config"] == {"duration_ms": 300_000}
    _, end = plan("add a slack notification at the end", known(main=CHAIN))
    assert ("keep", "notify_slack") in edges(end)


def test_a_step_is_removed_and_its_neighbours_are_joined() -> None:
    draft, document = plan("please remove the step process", known(main=CHAIN))
    assert edges(document) == [("fetch", "keep")]
    assert draft.description == "The step `process` is removed."


def test_a_renamed_step_is_renamed_everywhere() -> None:
    document = {
        "nodes": [
            {"id": "fetch", "type": "http", "config": {"url": "https://x.example"}},
            {"id": "show", "type": "notify", "config": {"channel": "owner", "message": "${$nodes.fetch.body}"}},
        ],
        "edges": [{"from": "fetch", "to": "show", "condition": "ctx.fetch.ok"}],
    }  # fmt: skip
    found = planned("rename fetch to download page", known(main=document))
    assert isinstance(found, Draft)
    after = patched(document, found.operations)
    text = str(after.document or after.findings)
    assert "download_page" in text
    _, small = plan("rename the step keep to store", known(main=CHAIN))
    assert edges(small)[-1] == ("process", "store")


@pytest.mark.parametrize(
    ("said", "name", "key", "value"),
    [
        ("change the timeout of fetch to 30 s", "fetch", "timeout_ms", 30_000),
        ("set fetch's timeout to 2 minutes", "fetch", "timeout_ms", 120_000),
        ("give the processing step 500 ms", "process", "timeout_ms", 500),
        ("retry fetch 5 times", "fetch", "retry", {"max_attempts": 5}),
        ("retry fetch twice with 10 seconds between", "fetch", "retry", {"max_attempts": 2, "backoff_ms": 10_000}),
    ],
)
def test_a_step_is_changed(said: str, name: str, key: str, value: Any) -> None:
    _, document = plan(said, known(main=CHAIN))
    assert node(document, name)[key] == value


def test_a_workflow_gets_its_times_in_the_owners_zone() -> None:
    for said in ("run main every day at 9", "schedule it every day at 9", "run fetch every day at 9"):
        _, document = plan(said, known(main=CHAIN))
        assert document["triggers"] == [{"type": "cron", "schedule": "0 9 * * *", "timezone": "Europe/Berlin"}]
    timed = {**CHAIN, "triggers": [{"type": "cron", "schedule": "0 8 * * *"}, {"type": "manual"}]}
    refused = planned("run main every day at 9", known(main=timed))
    assert isinstance(refused, Refusal)
    assert "runs at times already" in refused.reason
    _, moved = plan("change the schedule of main to mondays at 7", known(main=timed))
    assert [one.get("schedule") for one in moved["triggers"]] == ["0 7 * * 1", None]


def test_a_notification_goes_elsewhere_instead() -> None:
    _, document = plan("send it to anna@x.example instead", known(shop=MAILING))
    assert node(document, "mail")["config"]["to"] == "anna@x.example"
    _, slack = plan("use slack instead of email", known(shop=MAILING))
    assert node(slack, "mail")["config"]["channel"] == "slack"
    assert "subject" not in node(slack, "mail")["config"]


def test_what_was_done_once_becomes_a_workflow() -> None:
    plan_document = {"steps": [{"do": "http_request", "url": "https://x.example"}, {"do": "limit", "count": 3}]}
    offered = Known(NOW, "UTC", offer={"plan": plan_document, "prompt": "three flights", "tag": "three-flights"})
    draft, document = plan("make this permanent", offered)
    assert (draft.tag, document["triggers"]) == ("three-flights", [{"type": "manual"}])
    assert node(document, "pipeline")["config"]["plan"] == plan_document
    _, daily = plan("make it permanent and run it every day at 9", offered)
    assert daily["triggers"][0]["schedule"] == "0 9 * * *"
    nothing = planned("make this permanent", known())
    assert isinstance(nothing, Refusal)
    assert nothing.reason == "There is nothing here to make permanent."


def test_an_offer_of_words_is_read_as_those_words() -> None:
    offered = Known(NOW, offer={"plan": None, "prompt": "e-mail me when the price drops below 100"})
    _, document = plan("make this permanent", offered)
    assert document["edges"][0]["condition"].startswith("has(output.price) && output.price < 100")


def test_a_change_for_a_time_says_until_when() -> None:
    draft, _ = plan("for the next 2 hours, retry fetch 3 times", known(main=CHAIN))
    assert draft.valid_until == datetime(2026, 1, 1, 14, tzinfo=UTC)
    draft, _ = plan("retry fetch 3 times until tomorrow at 9", known(main=CHAIN))
    assert draft.valid_until == datetime(2026, 1, 2, 8, tzinfo=UTC)


def test_the_workflow_is_the_one_that_is_named_or_the_only_one_that_fits() -> None:
    two = known(main=CHAIN, shop=CHOICE)
    assert plan("in the workflow main, retry fetch 5 times", two)[0].tag == "main"
    assert plan("remove the step keep", two)[0].tag == "main"
    refused = planned("retry fetch 5 times", two)
    assert isinstance(refused, Refusal)
    assert "Several workflows have a step like `fetch`: `main`, `shop`." in refused.reason


@pytest.mark.parametrize(
    "said",
    [
        "make everything better", "don't e-mail me when the price drops below 100", "never retry fetch 5 times",
        "should I be e-mailed when the price drops?", "e-mail me when the price drops below 100 unless it is Sunday",
        "send me a text message when the price drops below 100", "remove the step ghost", "retry fetch 50 times",
        "rename fetch to keep", "delete everything", "show me the top 10 flights",
        "whenever it feels right, notify slack", "add a step that computes the margin after processing",
        "change the timeout of fetch", "run main every blue moon",
        "always", "", "x" * 5000, "e-mail me when the price drops below 100 and then buy it",
        "remove fetch and process", "notify me when", "reduce the timeout of fetch to 30 s and retry it",
    ],
)  # fmt: skip
def test_what_is_not_understood_is_refused(said: str) -> None:
    found = planned(said, known(main=CHAIN))
    assert isinstance(found, Refusal), found
    assert found.reason


@pytest.mark.parametrize(
    ("said", "tag"),
    [
        ("undo that change of the workflow", None), ("Please undo the last change.", None),
        ("take that change back", None), ("revert my last change to the workflow", None),
        ("undo the last change of the workflow main", "main"), ("undo that patch in the `shop` workflow", "shop"),
        ("roll that change of the workflow main back", "main"), ("undo the workflow change", None),
    ],
)  # fmt: skip
def test_an_undoing_is_read(said: str, tag: str | None) -> None:
    assert undo_of(said) == Undo(tag)


@pytest.mark.parametrize(
    "said",
    ["undo that", "don't undo that change", "undo that change and mail me", "undo that change unless it failed",
     "should I undo that change?", "remove the step undo", "undo the change of the price of the lamp", "undo " * 200],
)  # fmt: skip
def test_what_is_more_or_less_than_an_undoing_is_none(said: str) -> None:
    assert undo_of(said) is None


@pytest.mark.parametrize(
    "said",
    [
        "delete the workflow report",
        "remove report workflow",
        'drop the whole workflow "report"',
        "Delete my workflow report.",
    ],
)
def test_a_whole_workflow_is_not_removed_by_a_sentence_which_says_how_it_is(said: str) -> None:
    found = planned(said, known(report=CHAIN, mails=MAILING))
    assert isinstance(found, Refusal)
    assert "`laneway workflow remove report`, or DELETE /workflows/report" in found.sentence


def test_removing_a_workflow_that_is_not_there_names_those_that_are() -> None:
    found = planned("delete the workflow nothing", known(report=CHAIN, mails=MAILING))
    assert isinstance(found, Refusal)
    assert "There is no workflow `nothing`" in found.sentence
    plan("remove the mail step", known(mails=MAILING))
