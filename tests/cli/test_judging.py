"""Who judges for `laneway classify`, and that both say it in the same words."""

from __future__ import annotations

from typing import Any

import pytest

from laneway.classify.local import LocalClassifier
from laneway.classify.taxonomy import Flag, Label, Taxonomy
from laneway.cli.judging import Asked, InProcess, asked_in, line_from
from laneway.errors import BadInput

ORDERS = ("show the logs", "list the users", "count the files", "restart nginx", "drop the table", "reboot the box")
MESSAGES = Taxonomy(
    "message",
    (
        Label("question", examples=("how full is the disk?", "is it up?", "why so slow?", "who is there?")),
        Label("command", examples=ORDERS),
        Label("other", examples=("hello", "thanks", "good day", "never mind")),
    ),
    (Flag("needs_confirmation", "command", yes=ORDERS[3:], no=ORDERS[:3]),),
    "question",
)


@pytest.fixture(scope="module")
def judge() -> InProcess:
    """A judge by words and grammar, trained in a moment."""
    return InProcess(MESSAGES, LocalClassifier({"message": MESSAGES}, encoders=[]))


def turns(*said: str) -> dict[str, Any]:
    """A line whose turns are by the user and the assistant in turn, the last one by the user."""
    authors = ["user", "assistant"] * len(said)
    told = zip(said[::-1], authors[: len(said)], strict=True)
    return {"turns": [{"author": author, "text": text} for text, author in told][::-1]}


@pytest.mark.parametrize(
    ("said", "label", "confirm"),
    [
        (("Shall I restart nginx?", "yes please"), "command", True),
        (("Shall I restart nginx?", "no"), "other", False),
        (("restart nginx", "Done, it runs again.", "undo that"), "command", True),
        (("is web1 up?", "Yes.", "and web2?"), "question", False),
    ],
)
def test_a_turn_is_judged_by_what_it_refers_to(
    judge: InProcess, said: tuple[str, ...], label: str, confirm: bool
) -> None:
    line = judge.judge(asked_in("message", turns(*said)))
    assert (line["label"], line["needs_confirmation"]) == (label, confirm)
    assert list(line) == ["label", "needs_confirmation", "confidence", "tier", "unsure", "top", "ms"]


def test_a_text_stands_alone(judge: InProcess) -> None:
    assert judge.judge(Asked("hello"))["label"] == "other"
    assert judge.judge(asked_in("message", {"text": "restart nginx"}))["needs_confirmation"] is True


@pytest.mark.parametrize(
    "line",
    [
        {"turns": []},
        {"turns": "yes"},
        {"turns": [7]},
        {"turns": [{"author": "user"}]},
        {"turns": [{"author": "nobody", "text": "yes"}]},
        {"turns": [{"author": "user", "text": "\ud800"}]},
        {"turns": [{"author": "assistant", "text": "Shall I?"}]},
    ],
)
def test_turns_that_nobody_can_judge_are_refused(line: dict[str, Any]) -> None:
    with pytest.raises(BadInput):
        asked_in("message", line)


def test_only_messages_have_turns() -> None:
    with pytest.raises(BadInput, match="taxonomy message only"):
        asked_in("lane", turns("yes"))


@pytest.mark.parametrize(
    ("decided_by", "tier"),
    [("rules", 0), ("local tier 1", 1), ("local tier 2", 2), ("model", "model"), ("memory", "memory"),
     ("default", "default")],
)  # fmt: skip
def test_the_servers_word_for_who_decided_becomes_the_tier(decided_by: str, tier: int | str) -> None:
    answer = {
        "label": "command", "flags": {"needs_confirmation": True}, "summary": "…", "plan": "…", "confidence": 0.7,
        "decided_by": decided_by, "unsure": False, "safe": "command", "top": [], "ms": 1.5,
    }  # fmt: skip
    assert line_from(answer) == {
        "label": "command", "needs_confirmation": True, "confidence": 0.7, "tier": tier, "unsure": False,
        "top": [["command", 0.7]], "ms": 1.5,
    }  # fmt: skip
