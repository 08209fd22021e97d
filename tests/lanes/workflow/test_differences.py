"""A change is told in words a person can approve."""

from __future__ import annotations

from typing import Any

import pytest

from laneway.lanes.workflow.differences import differences, marks, told
from laneway.lanes.workflow.document import Document
from laneway.lanes.workflow.node_paths import compiled
from laneway.lanes.workflow.patching import applied
from tests.lanes.workflow.documents import PRICES, add, edge, line, node, of


def _after(*operations: dict[str, Any]) -> Document:
    found: Document = applied(PRICES, compiled(PRICES, list(operations)))
    return found


@pytest.mark.parametrize(
    ("operations", "words"),
    [
        ([], "Changes nothing."),
        (
            [add("/nodes/-", node("mail", "notify")), add("/edges/-", edge("check", "mail", "$.price < 50"))],
            "Adds the step mail (notify) after check when $.price < 50.",
        ),
        ([add("/nodes/-", node("side"))], "Adds the step side (function) at the beginning."),
        (
            [{"op": "replace", "path": "/nodes/@fetch/timeout_ms", "value": 10_000}],
            "Changes the timeout of fetch from 5 s to 10 s.",
        ),
        ([{"op": "remove", "path": "/nodes/@fetch/timeout_ms"}], "Removes the timeout of fetch."),
        ([add("/nodes/@fetch/retry", {"max_attempts": 5})], 'Sets the retry of fetch to {"max_attempts": 5}.'),
        ([add("/nodes/@cheap/config/subject", "Cheap!")], "Sets the subject of cheap to Cheap!."),
        (
            [{"op": "replace", "path": "/nodes/@done/type", "value": "wait"}],
            "Changes the type of done from function to wait.",
        ),
        (
            [{"op": "replace", "path": "/edges/@check->cheap/condition", "value": "$.price < 50"}],
            "Changes the condition of check → cheap from $.price < 100 to $.price < 50.",
        ),
        ([add("/edges/-", edge("fetch", "done", on="error"))], "Connects fetch to done if it fails."),
        ([{"op": "remove", "path": "/edges/@cheap->done"}], "Disconnects cheap from done."),
        (
            [{"op": "move", "from": "/edges/2", "path": "/edges/1"}],
            "Changes the order of the branches of check to done, cheap.",
        ),
        (
            [add("/triggers", [{"type": "cron", "schedule": "0 9 * * *", "timezone": "Europe/Berlin"}])],
            "Starts it at 0 9 * * * (Europe/Berlin).",
        ),
        ([add("/metadata", {"name": "Prices"})], "Sets the name of the workflow to Prices."),
    ],
)
def test_a_change_in_words(operations: list[dict[str, Any]], words: str) -> None:
    assert told(PRICES, _after(*operations)) == words


def test_a_removed_step_takes_its_edges_with_it_in_silence() -> None:
    operations = [
        {"op": "remove", "path": "/nodes/@cheap"},
        {"op": "remove", "path": "/edges/@check->cheap"},
        {"op": "remove", "path": "/edges/@cheap->done"},
    ]
    assert told(PRICES, _after(*operations)) == "Removes the step cheap (notify)."


def test_a_new_name_for_the_same_step_is_a_new_name() -> None:
    after = of([node("one"), node("two", "wait", seconds=1)], line("one", "two"))
    before = of([node("one"), node("old", "wait", seconds=1)], line("one", "old"))
    assert [one.words for one in differences(before, after) if one.what == "node"] == ["renames the step old to two"]


def test_a_trigger_that_stays_is_not_told() -> None:
    cron = {"type": "cron", "schedule": "0 9 * * *"}
    before, after = of([node("a")], [], triggers=[cron]), of([node("a")], [], triggers=[{"type": "manual"}, cron])
    assert told(before, after) == "Starts it by hand."
    assert told(after, before) == "No longer starts it by hand."


def test_true_and_one_differ() -> None:
    assert told(of([node("a", x=1)], []), of([node("a", x=True)], [])) == "Changes the x of a from 1 to true."


def test_texts_of_others_stay_on_one_line_and_short() -> None:
    after = _after(add("/nodes/@cheap/config/subject", "line\n\x1b[31m\u202e two " + "x" * 500))
    words = told(PRICES, after)
    assert "\n" not in words
    assert all(sign.isprintable() for sign in words)
    assert len(words) < 200


def test_nodes_are_marked_for_the_diagram() -> None:
    after = _after(
        add("/nodes/-", node("mail")),
        {"op": "remove", "path": "/nodes/@cheap"},
        {"op": "remove", "path": "/nodes/@fetch/timeout_ms"},
    )
    assert marks(PRICES, after) == {"mail": "added", "cheap": "removed", "fetch": "changed"}
