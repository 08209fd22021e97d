"""Who judges for `laneway classify`, and that both say it in the same words."""

from __future__ import annotations

from typing import Any

import pytest

from laneway.classify.local import LocalClassifier
from laneway.classify.taxonomy import Flag, Label, Taxonomy
from laneway.cli.judging import Asked, InProcess, asked_in
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


def test_a_turn_is_judged_by_what_it_refers_to_and_a_text_stands_alone(judge: InProcess) -> None:
    for said, label, confirm in (
        (("Shall I restart nginx?", "yes please"), "command", True),
        (("Shall I restart nginx?", "no"), "other", False),
        (("restart nginx", "Done, it runs again.", "undo that"), "command", True),
        (("is web1 up?", "Yes.", "and web2?"), "question", False),
    ):
        line = judge.judge(asked_in("message", turns(*said)))
        assert (line["label"], line["needs_confirmation"]) == (label, confirm), said
        assert list(line) == ["label", "needs_confirmation", "confidence", "tier", "unsure", "top", "ms"]
    assert judge.judge(Asked("hello"))["label"] == "other"
    assert judge.judge(asked_in("message", {"text": "restart nginx"}))["needs_confirmation"] is True


@pytest.mark.parametrize(
    "said",
    [[], "yes", [7], [{"author": "user"}], [{"author": "nobody", "text": "yes"}],
     [{"author": "user", "text": "\ud800"}], [{"author": "assistant", "text": "Shall I?"}]],
)  # fmt: skip
def test_turns_that_nobody_can_judge_are_refused(said: Any) -> None:
    with pytest.raises(BadInput):
        asked_in("message", {"turns": said})
    with pytest.raises(BadInput, match="taxonomy message only"):
        asked_in("lane", turns("yes"))
