"""A judgement that no model made has a summary and a plan all the same."""

from __future__ import annotations

import pytest

from laneway.classify import wording
from laneway.classify.taxonomy import load


@pytest.mark.parametrize(
    ("taxonomy", "label", "text", "summary", "plan"),
    [
        (
            "message", "question", "how full is the disk?",
            "The user asks: how full is the disk?", "Look it up with the tools at hand and answer.",
        ),
        (
            "message", "command", "Could you please restart nginx on web2?",
            "The user wants done: restart nginx on web2", "Restart nginx on web2 with the tools at hand and report.",
        ),
        (
            "message", "command", "restart!",
            "The user wants done: restart", "Restart with the tools at hand and report.",
        ),
        ("message", "other", "  ", "Small talk: (no text)", "Answer briefly."),
        (
            "message", "command", "the old logs can go",
            "The user wants done: the old logs can go", "Do it with the tools at hand and report.",
        ),
        ("message", "other", "hello there", "Small talk: hello there", "Answer briefly."),
        (
            "route", "tools", "show the last log lines",
            "Wants something looked up or done now: show the last log lines",
            "Show the last log lines with the tools at hand and report.",
        ),
        (
            "route", "workflow", "every Monday send me the totals",
            "Wants a lasting automation: every Monday send me the totals",
            "Draft the change of the stored workflow and show it before it counts.",
        ),
        (
            "secretary", "appointment_cancel", "I can't come on Friday",
            "It is appointment cancel: I can't come on Friday", "Treat it as appointment cancel.",
        ),
    ],
)  # fmt: skip
def test_summary_and_plan_tell_label_verb_and_object(
    taxonomy: str, label: str, text: str, summary: str, plan: str
) -> None:
    assert wording.summary(taxonomy, label, text) == summary
    assert wording.plan(taxonomy, label, text) == plan


@pytest.mark.parametrize("text", ["restart nginx", "{text} {0} %s {label}", "  ", "İstanbul’da ne oldu?", "a\n\tb"])
def test_every_label_of_every_taxonomy_has_words_for_every_text(text: str) -> None:
    for name, taxonomy in load().items():
        for label in taxonomy.names:
            found = (wording.summary(name, label, text), wording.plan(name, label, text))
            assert all(sentence == " ".join(sentence.split()) != "" for sentence in found), found
            assert " ".join(text.split()) in found[0]


def test_long_texts_are_cut_and_stay_on_one_line() -> None:
    text = "delete\nthe files " + "one by one, " * 100
    summary, plan = wording.summary("message", "command", text), wording.plan("message", "command", text)
    assert summary.startswith("The user wants done: delete the files one by one")
    assert summary.endswith("…")
    assert plan.endswith("… with the tools at hand and report.")
    assert len(summary) < 150
    assert len(plan) < 180
    assert "\n" not in summary + plan
