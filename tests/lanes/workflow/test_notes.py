"""Notes say what is worth knowing about a workflow that is in order."""

from __future__ import annotations

from laneway.lanes.workflow.checks import check
from laneway.lanes.workflow.notes import incomplete, notes
from tests.lanes.workflow.documents import PRICES, edge, line, node, of


def test_a_complete_workflow_has_no_notes() -> None:
    assert notes(PRICES) == []


def test_a_node_that_cannot_run_yet_is_named_with_what_it_needs() -> None:
    document = of([node("a", "http"), node("b", "agent", task="Sum it up.")], line("a", "b"))
    assert check(document) == []
    assert [(one.node, one.repair) for one in incomplete(document)] == [("a", "Add 'url'.")]


def test_a_node_whose_expression_does_not_compile_is_refused_and_if_it_is_stored_already_cannot_run() -> None:
    document = of(
        [node("a", "transform", expression="price *"), node("b", "filter", condition="price > 1")], line("a", "b")
    )
    assert [(one.reason, one.node) for one in check(document)] == [("condition", "a"), ("condition", "b")]
    assert [one.node for one in incomplete(document)] == ["a", "b"]
    assert "which is unknown" in [*incomplete(document)][1].message
    good = of([node("a", "transform", expression="$.price * 2"), node("b", "filter", condition="item.price > 1")], [])
    assert [*incomplete(good), *check(good)] == []


def test_a_condition_on_a_node_that_does_not_exist_is_noted() -> None:
    document = of([node("a", name="x"), node("b", name="y")], [edge("a", "b", "ctx.nope.x > 1 && ctx['a'].y > 1")])
    assert [(one.reason, one.path) for one in notes(document)] == [("no-such-ctx", "/edges/0/condition")]


def test_keys_nobody_reads_lonely_nodes_and_double_edges_are_noted() -> None:
    document = of(
        [node("a", name="x", colour="red"), node("b", name="y"), node("c", name="z")], [edge("a", "b"), edge("a", "b")]
    )
    assert [(one.reason, one.node) for one in notes(document)] == [
        ("unused-key", "a"),
        ("starts-alone", "c"),
        ("double-edge", "a"),
    ]


def test_a_way_behind_a_rule_that_is_always_true_is_noted() -> None:
    nodes = [node("a", "conditional"), node("b", name="x"), node("c", name="y"), node("d", name="z")]
    document = of(nodes, [edge("a", "b", "$.x > 1"), edge("a", "c", "true"), edge("a", "d")])
    assert [(one.reason, one.path) for one in notes(document)] == [("never-taken", "/edges/2")]
