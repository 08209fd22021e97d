"""Changes in plain English, without a model: every shape that is promised, and a refusal for everything else."""

from __future__ import annotations

import json
import random
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from laneway.domain.workflow import Document
from laneway.lanes.workflow.checks import patched
from laneway.lanes.workflow.conditions import Erred, compiled
from laneway.lanes.workflow.differences import differences
from laneway.lanes.workflow.sentences.find import DraftContext, WorkflowDraft
from laneway.lanes.workflow.sentences.planner import plan_change
from laneway.lanes.workflow.undoing import Undo, undo_of
from laneway.language.refusal import MODEL_HINT, Refusal
from tests.lanes.workflow.documents import flow
from tests.lanes.workflow.sentence_examples import EXAMPLES, NOW, PRICE, SHOP, context_of
from tests.lanes.workflow.stored_documents import CHAIN

PAGE = (Path(__file__).parents[3] / "docs" / "workflows.md").read_text("utf-8")
CORPUS = [json.loads(line) for line in Path(__file__).with_name("sentences.jsonl").read_text("utf-8").splitlines()]
EMPTY: Document = {"nodes": [], "edges": []}
PIPELINE = {"steps": [{"do": "http_request", "url": "https://x.example"}, {"do": "limit", "count": 3}]}


def about(**documents: Document) -> DraftContext:
    tag = next(iter(documents)) if len(documents) == 1 else None
    return DraftContext(NOW, "Europe/Berlin", tag, documents)


def plan(sentence: str, context: DraftContext) -> tuple[WorkflowDraft, Document]:
    """The change, and the workflow after it; it must pass every check."""
    found = plan_change(sentence, context)
    assert isinstance(found, WorkflowDraft), found
    verdict = patched(context.workflows.get(found.tag, EMPTY), found.operations)
    assert verdict.document is not None, verdict.findings
    return found, verdict.document


def refusal(sentence: str, context: DraftContext) -> str:
    found = plan_change(sentence, context)
    assert isinstance(found, Refusal), found
    return found.sentence


def change_in_words(sentence: str, context: DraftContext) -> str:
    found = plan_change(sentence, context)
    if isinstance(found, Refusal):
        return "refused" if found.reason and "\n" not in found.sentence else "refused without a reason"
    before = context.workflows.get(found.tag, EMPTY)
    after = patched(before, found.operations)
    if after.document is None:
        return f"not valid: {after.findings}"
    words = "; ".join(one.words for one in differences(before, after.document) if one.what != "metadata")
    return f"{found.tag}: {words}" + (f" until {found.valid_until:%Y-%m-%d %H:%M}" if found.valid_until else "")


def test_every_sentence_of_the_corpus_is_the_change_that_was_meant_or_refused() -> None:
    failures = [
        f"{case['workflow']} | {case['sentence']}\n  expected {case['expected']}\n  got      {got}"
        for case in CORPUS
        if (got := change_in_words(case["sentence"], context_of(case["workflow"]))) != case["expected"]
    ]
    assert len(CORPUS) <= 200
    assert not failures, "\n".join(failures)


def test_every_row_of_the_page_is_the_change_that_stands_beside_it() -> None:
    [prices] = [json.loads(block) for block in re.findall(r"```json\n(\{.*?)```", PAGE, re.DOTALL)]
    backup = {
        "nodes": [{"id": "dump", "type": "function", "config": {"name": "dump"}},
                  {"id": "upload", "type": "http", "config": {"url": "https://b.example/u"}}],
        "edges": [{"from": "dump", "to": "upload"}],
    }  # fmt: skip
    off = {"type": "event", "event": "news.arrived", "enabled": False}
    digest = {"nodes": [{"id": "news", "type": "transform"}], "edges": [], "triggers": [off]}
    offer = {"plan": PIPELINE, "prompt": "The three cheapest flights"}
    context = DraftContext(
        NOW, "Europe/Berlin", None, {"prices": prices, "backup": backup, "digest": digest}, offer
    )  # fmt: skip
    table = re.search(r"^\| you say \|.*?\n\n", PAGE, re.DOTALL | re.MULTILINE)
    assert table
    rows = [row.strip("| ").split(" | ") for row in table[0].strip().splitlines()[2:]]
    failures = [row for row in rows if _said_of(row[0], context) != row[1]]
    assert len(rows) > 25
    assert not failures, [(row, _said_of(row[0], context)) for row in failures]


def _said_of(sentence: str, context: DraftContext) -> str:
    undo = undo_of(sentence)
    if undo is not None:
        what = f"last change of `{undo.tag}`" if undo.tag else "last change made in this conversation"
        return f"The {what} is taken back."
    draft, _ = plan(sentence, context)
    return draft.description + (" It undoes itself." if draft.valid_until else "")


def test_random_words_are_a_change_that_applies_or_a_refusal_in_one_line() -> None:
    chance = random.Random(7)
    words = sorted(
        {word for case in CORPUS for word in case["sentence"].split()} | {'"', "`", "“", ",", "", "🙂", "the"}
    )
    drafts = 0
    for _ in range(800):
        case, other = chance.choice(CORPUS), chance.choice(CORPUS)["sentence"].split()
        said = case["sentence"].split()
        for _ in range(chance.randrange(4)):
            place = chance.randrange(len(said) + 1)
            said[place : place + chance.randrange(3)] = chance.sample(words, chance.randrange(3))
        said += other[chance.randrange(len(other) + 1) :] if chance.random() < 0.2 else []
        context = context_of(chance.choice(["none", "any", *EXAMPLES]))
        found = plan_change(" ".join(said), context)
        if isinstance(found, Refusal):
            assert found.reason, said
            assert "\n" not in found.sentence, said
        else:
            drafts += 1
            verdict = patched(context.workflows.get(found.tag, EMPTY), found.operations)
            # A step that others refer to is kept by the checks, which say so.
            reasons = {finding.reason for finding in verdict.findings}
            assert verdict.document is not None or reasons == {"reference"}, (said, verdict.findings)
    assert drafts > 40


REFUSED = [
    ("retry fetch 5 times and mail it to Bob", "“and mail it to Bob” is not understood"),
    ("e-mail me when the price drops below 100 and then buy it", "“and then buy it” is not understood"),
    ("make everything better", "“everything better” is not understood"),
    ("remove fetch and process", "There is no step `fetch and process`"),
    ("whenever it feels right, notify slack", "is not understood"),
    ("change the timeout of fetch to soon", "“soon” is not understood"),
    ("change the timeout of fetch", "“change the timeout of fetch” is not complete"),
    ("add a step that computes the margin after keep", "“step that computes the margin after keep”"),
    ("run main every blue moon", "`every blue moon` is not understood as a time"),
    ("never retry fetch 5 times", "“never” is not understood"),
    ("remove the step fetsch", "Did you mean `fetch`?"),
    ("send an e-mail to slack when fetch fails", "`slack` cannot be reached by email"),
]


def test_a_refusal_names_the_part_that_is_not_understood_and_says_that_a_model_would_understand_more() -> None:
    for sentence, part in REFUSED:
        assert part in refusal(sentence, about(main=CHAIN))
    assert refusal("make everything better", about(main=CHAIN)).endswith(MODEL_HINT)
    assert MODEL_HINT not in refusal("remove the step ghost", about(main=CHAIN))


def test_a_long_message_is_refused() -> None:
    for text in ("x" * 100_000, "when " * 80, "send " + "a " * 190, '"' * 400, "change the " + "limit of " * 43 + "to",
                 "e-mail me when " + "the price " * 38, "every day , " * 33, "wait 5 s before " * 25):  # fmt: skip
        assert isinstance(plan_change(text, context_of("any")), Refusal)


def tellings(words: str, numbers: list[float]) -> list[bool]:
    """For each number in turn, whether the rule tells of it; each has the one before it as the run before."""
    _, document = plan(f"notify me when {words}", about())
    condition, told = compiled(document["edges"][0]["condition"]), list[bool]()
    before: dict[str, Any] = {}
    for each in numbers:
        value = condition.value({"price": each}, {"previous": before})
        assert not isinstance(value, Erred), value
        told.append(value)
        before = {"check_price": {"price": each}}
    return told


def test_a_limit_that_is_passed_is_told_once_for_each_time_and_one_that_lasts_as_long_as_it_does() -> None:
    for words in ("drops below 100", "falls under 100", "goes below 100"):
        assert tellings(f"the price {words}", [120, 95, 94, 100, 99]) == [False, True, False, False, True]
    for words in ("rises above 100", "goes over 100", "exceeds 100"):
        assert tellings(f"the price {words}", [101, 140, 100, 100.5, 101]) == [True, False, False, True, False]
    assert tellings("the price is below 100", [120, 95, 94, 130, 99]) == [False, True, True, False, True]
    assert tellings("the price is at least 100", [120, 130, 99]) == [True, True, False]


def test_a_run_before_without_the_number_counts_as_none() -> None:
    _, document = plan("notify me when the price drops below 100", about(shop=SHOP))
    condition = compiled(document["edges"][-1]["condition"])
    for before in ({}, {"fetch_price": {"status": 200}}, {"fetch_price": {"body": {"cost": 3}}}):
        assert condition.value({"body": {"price": 90}}, {"previous": before}) is True
    assert condition.value({"body": {"price": 90}}, {"previous": {"fetch_price": {"body": {"price": 91}}}}) is False
    assert "$nodes.fetch_price.body.price" in document["nodes"][-1]["config"]["message"]


def test_who_is_not_known_is_told_through_the_owner_and_the_question_says_so() -> None:
    draft, document = plan("if an error occurs then alert the ops team", about(main=CHAIN))
    assert {edge["from"] for edge in document["edges"] if edge.get("on") == "error"} == {"fetch", "process", "keep"}
    assert document["nodes"][-1]["config"]["join"] == "any"
    assert "No address of `the ops team` is known here, so it goes to you." in draft.notes[0]


def test_a_renamed_step_is_renamed_wherever_it_is_meant_and_nowhere_else() -> None:
    before = flow(
        "fetch:http show:notify",
        "fetch show if ctx.fetch.ok",
        fetch={"url": "https://x.example", "json": {"id": "fetch"}},
        show={"channel": "owner", "message": "fetch ${$nodes.fetch.body}"},
    )
    _, after = plan("rename fetch to get page", about(main=before))
    assert after["nodes"][0] == {**before["nodes"][0], "id": "get_page"}
    assert after["nodes"][1]["config"]["message"] == "fetch ${$nodes.get_page.body}"
    assert after["edges"] == [{"from": "get_page", "to": "show", "condition": "ctx.get_page.ok"}]


def test_a_schedule_that_is_there_is_replaced_only_by_who_says_so() -> None:
    timed = {**CHAIN, "triggers": [{"type": "cron", "schedule": "0 8 * * *", "input": {"x": 1}}, {"type": "manual"}]}
    assert "runs at times already" in refusal("run main every day at 9", about(main=timed))
    _, moved = plan("change the schedule of main to mondays at 7", about(main=timed))
    changed = {"type": "cron", "schedule": "0 7 * * 1", "timezone": "Europe/Berlin", "input": {"x": 1}}
    assert moved["triggers"] == [changed, {"type": "manual"}]


def test_what_was_paused_is_resumed_as_it_was_and_what_people_start_is_left() -> None:
    draft, paused = plan("pause price-watch until tomorrow at 9", context_of("any"))
    assert draft.valid_until == datetime(2026, 1, 2, 8, tzinfo=UTC)
    assert [one.get("enabled") for one in paused["triggers"]] == [False, None]
    assert plan("resume it", about(**{"price-watch": paused}))[1] == PRICE


def test_what_was_done_once_becomes_a_workflow() -> None:
    offered = DraftContext(NOW, "UTC", offer={"plan": PIPELINE, "prompt": "three flights", "tag": "three-flights"})
    draft, document = plan("make this permanent", offered)
    assert (draft.tag, document["triggers"]) == ("three-flights", [{"type": "manual"}])
    assert document["nodes"][0]["config"] == {"plan": PIPELINE}
    for sentence in ("make it permanent and run it every day at 9", "run this every day at 9"):
        assert plan(sentence, offered)[1]["triggers"][0]["schedule"] == "0 9 * * *"
    assert refusal("make this permanent", about()).startswith("There is nothing here to make permanent.")
    words = DraftContext(NOW, offer={"plan": None, "prompt": "e-mail me when the price drops below 100"})
    assert plan("make this permanent", words)[1]["nodes"][1]["config"]["channel"] == "email"


def test_an_undoing_is_read_and_what_is_more_or_less_than_one_is_none() -> None:
    for sentence, tag in (
        ("undo that change of the workflow", None), ("Please undo the last change.", None),
        ("take that change back", None), ("revert my last change to the workflow", None),
        ("undo the last change of the workflow main", "main"), ("undo that patch in the `shop` workflow", "shop"),
        ("roll that change of the workflow main back", "main"), ("undo the workflow change", None),
    ):  # fmt: skip
        assert undo_of(sentence) == Undo(tag), sentence
    for sentence in (
        "undo that", "don't undo that change", "undo that change and mail me", "undo that change unless it failed",
        "should I undo that change?", "remove the step undo", "undo the change of the price of the lamp", "undo " * 200,
    ):  # fmt: skip
        assert undo_of(sentence) is None, sentence
