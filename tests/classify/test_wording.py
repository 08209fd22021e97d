"""A judgement that no model made has a summary and a plan all the same."""

from __future__ import annotations

from laneway.classify import wording
from laneway.classify.taxonomy import load

HAND = "with the tools at hand and report."
SUMMARIES = {
    ("message", "question", "how full is the disk?"): "The user asks: how full is the disk?",
    ("message", "command", "Could you please restart nginx on web2?"): "The user wants done: restart nginx on web2",
    ("message", "command", "the old logs can go"): "The user wants done: the old logs can go",
    ("message", "other", "  "): "Small talk: (no text)",
    ("route", "workflow", "send me totals"): "Wants a lasting automation: send me totals",
    ("secretary", "appointment_cancel", "I can't come"): "It is appointment cancel: I can't come",
}
PLANS = {
    ("message", "question", "how full is the disk?"): "Look it up with the tools at hand and answer.",
    ("message", "command", "Could you please restart nginx on web2?"): f"Restart nginx on web2 {HAND}",
    ("message", "command", "restart!"): f"Restart {HAND}",
    ("message", "command", "the old logs can go"): f"Do it {HAND}",
    ("message", "other", "hello there"): "Answer briefly.",
    ("route", "tools", "show the last log lines"): f"Show the last log lines {HAND}",
    (
        "route",
        "workflow",
        "send me the totals",
    ): "Draft the change of the stored workflow and show it before it counts.",
    ("secretary", "appointment_cancel", "I can't come"): "Treat it as appointment cancel.",
}


def test_summary_and_plan_tell_label_verb_and_object() -> None:
    assert {case: wording.summary(*case) for case in SUMMARIES} == SUMMARIES
    assert {case: wording.plan(*case) for case in PLANS} == PLANS


def test_every_label_of_every_taxonomy_has_words_for_every_text() -> None:
    for text in ("restart nginx", "{text} {0} %s {label}", "  ", "İstanbul’da ne oldu?", "a\n\tb"):
        for name, taxonomy in load().items():
            for label in taxonomy.names:
                found = (wording.summary(name, label, text), wording.plan(name, label, text))
                assert all(sentence == " ".join(sentence.split()) != "" for sentence in found), found
                assert " ".join(text.split()) in found[0]


def test_long_texts_are_cut_and_stay_on_one_line() -> None:
    text = "delete\nthe files " + "one by one, " * 100
    summary, plan = wording.summary("message", "command", text), wording.plan("message", "command", text)
    assert summary.startswith("The user wants done: delete the files one by one")
    assert (summary[-1], plan[-36:]) == ("…", f"… {HAND}")
    assert (len(summary) < 150, len(plan) < 180, "\n" in summary + plan) == (True, True, False)
