"""The graph says what comes first, what excludes what, and where ways meet."""

from __future__ import annotations

from laneway.lanes.workflow.graph import Graph
from tests.lanes.workflow.documents import PRICES, edge, line, node, of


def test_entries_exits_and_order_of_a_branching_workflow() -> None:
    graph = Graph(PRICES)
    assert (graph.entries, graph.exits) == (["fetch"], ["done"])
    assert graph.order == ["fetch", "check", "cheap", "done"]
    assert list(graph.joins) == ["done"]


def test_the_order_does_not_depend_on_where_nodes_stand() -> None:
    graph = Graph(of([node("c"), node("b"), node("a")], line("a", "b", "c")))
    assert graph.order == ["a", "b", "c"]


def test_branches_stand_in_the_order_of_their_edges_and_the_default_comes_last() -> None:
    nodes = [node("if", "conditional"), node("a"), node("b"), node("c")]
    edges = [edge("if", "c"), edge("if", "a", "$.x > 2"), edge("if", "b", "$.x > 1"), edge("if", "c", "$.x > 2")]
    branches = Graph(of(nodes, edges)).branches("if")
    assert [(b.condition, [e.target for e in b.edges]) for b in branches] == [
        ("$.x > 2", ["a", "c"]),
        ("$.x > 1", ["b"]),
        (None, ["c"]),
    ]


def test_an_error_edge_is_no_branch() -> None:
    graph = Graph(of([node("a"), node("b"), node("c")], [edge("a", "b"), edge("a", "c", on="error")]))
    assert [branch.condition for branch in graph.branches("a")] == [None]
    assert [one.target for one in graph.error_edges("a")] == ["c"]


def test_a_loop_that_goes_back_makes_no_join() -> None:
    nodes = [node("begin"), node("work"), node("again", "loop", loop_back_to="work", max_iterations=3), node("end")]
    for drawn in ([], [edge("again", "work")]):
        graph = Graph(of(nodes, [*line("begin", "work", "again", "end"), *drawn]))
        assert graph.back == {("again", "work")}
        assert graph.joins == {}
        assert graph.order == ["begin", "work", "again", "end"]


def test_a_loop_before_its_body_makes_no_join_either() -> None:
    nodes = [node("begin"), node("again", "loop", loop_back_to="work", max_iterations=3), node("work"), node("end")]
    graph = Graph(of(nodes, [*line("begin", "again", "work", "again"), edge("again", "end")]))
    assert graph.back == {("work", "again")}
    assert graph.joins == {}
    assert graph.entries == ["begin"]


def test_a_loop_back_to_the_first_node_leaves_it_the_entry() -> None:
    graph = Graph(
        of([node("work"), node("again", "loop", loop_back_to="work", max_iterations=3)], line("work", "again"))
    )
    assert graph.entries == ["work"]
    assert graph.order == ["work", "again"]


def test_a_circle_that_nothing_leads_into_begins_at_its_loop_when_that_is_drawn_first() -> None:
    loop = node("again", "loop", loop_back_to="work", max_iterations=3)
    graph = Graph(of([loop, node("work")], line("again", "work", "again")))
    assert (graph.entries, graph.back) == (["again"], {("work", "again")})
    behind = Graph(of([loop, node("work")], line("work", "again")))
    assert (behind.entries, behind.back) == (["work"], {("again", "work")})


def test_ways_of_a_loop_that_are_not_drawn_are_edges() -> None:
    loop = node("again", "loop", loop_back_to="work", max_iterations=3, break_path="good", timeout_path=["bad"])
    graph = Graph(of([node("work"), loop, node("good"), node("bad")], line("work", "again")))
    assert graph.entries == ["work"]
    assert graph.after("work") == {"work", "again", "good", "bad"}
    assert [jump.target for jump in graph.jumps] == ["work", "good", "bad"]


def test_several_entries_run_side_by_side() -> None:
    graph = Graph(of([node("a"), node("b"), node("c")], [edge("a", "c"), edge("b", "c")]))
    assert graph.entries == ["a", "b"]
    assert graph.before("c") == {"a", "b"}
    assert graph.order[-1] == "c"
