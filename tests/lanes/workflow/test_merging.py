"""A change is taken back alone, or not at all: what later changes made of the same thing stands in the way."""

from __future__ import annotations

from laneway.domain.workflow import Document
from laneway.lanes.workflow.merging import merged


def rule(condition: str, *, last: str = "b", seconds: int = 1, cron: str = "1 * * * *") -> Document:
    return {
        "nodes": [{"id": "a", "type": "conditional"}, {"id": last, "type": "wait", "config": {"seconds": seconds}}],
        "edges": [{"from": "a", "to": last, "condition": condition}],
        "triggers": [{"type": "cron", "schedule": cron}],
    }


X85, X100 = rule("$.x < 85"), rule("$.x < 100")
CONFLICTS = [
    (rule("$.x < 70"), X85, X100, "`a` → `b` if $.x < 85 has been changed or removed"),
    ({**X85, "edges": []}, X85, X100, "has been changed or removed since"),
    (rule("$.x", last="d"), rule("$.x", last="c"), rule("$.x"), "node `c` has been changed or removed"),
    (rule("$.y", last="c"), rule("$.x", last="c"), rule("$.x"), ""),
    (rule("$.x", cron="3 * * * *"), rule("$.x", cron="2 * * * *"), rule("$.x"), "trigger `cron` has been changed"),
    (rule("$.x < 70"), {**rule(""), "edges": []}, X100, "there is another edge `a` → `b` now"),
    (rule("$.x", seconds=9), rule("$.x", seconds=5), rule("$.x"), "node `b`.config.seconds has been changed since"),
]


def test_what_was_changed_again_since_is_a_conflict_and_never_doubled() -> None:
    for now, left, wanted, told in CONFLICTS:
        found = merged(now, left, wanted)
        assert any(told in one for one in found.conflicts), found


def test_what_lies_elsewhere_stays_as_later_changes_left_it() -> None:
    two = "2 * * * *"
    for now, left, wanted, after in (
        (rule("$.x < 85", seconds=9), X85, X100, rule("$.x < 100", seconds=9)),
        (rule("$.x < 85", cron=two), X85, X100, rule("$.x < 100", cron=two)),
        (rule("$.x", last="c", cron=two), rule("$.x", last="c"), rule("$.x"), rule("$.x", cron=two)),
    ):
        found = merged(now, left, wanted)
        assert (found.document, found.conflicts) == (after, [])


def test_an_addition_that_is_gone_since_is_no_conflict() -> None:
    more: Document = {"nodes": [{"id": "a"}, {"id": "b"}], "edges": [{"from": "a", "to": "b"}]}
    one: Document = {"nodes": [{"id": "a", "name": "x"}], "edges": []}
    assert merged(one, more, {"nodes": [{"id": "a"}], "edges": []}).conflicts == []
