"""What a refusal says is true, short and helps: it names the thing that is wrong, and its advice works."""

from __future__ import annotations

import re
from typing import Any

import pytest

from laneway.lanes.workflow.checks import Verdict, patched
from laneway.lanes.workflow.finding import Finding
from tests.lanes.workflow.documents import PRICES, add, edge, line, node, of

TWINS = of([node("log"), node("a"), node("log")], [])


def _put(path: str, value: Any) -> dict[str, Any]:
    return {"op": "replace", "path": path, "value": value}


def _refused(document: Any, *operations: dict[str, Any]) -> Finding:
    verdict: Verdict = patched(document, list(operations))
    assert not verdict.accepted
    return verdict.findings[0]


def test_two_nodes_of_one_id_are_called_nodes_and_the_advice_leads_to_each_of_them() -> None:
    found = _refused(TWINS, _put("/nodes/@log/id", "journal"))
    assert "There are 2 nodes 'log'." in found.message
    advised = re.findall(r"Write (\S+) for the first, (\S+) for the second", found.repair)
    assert advised == [("/nodes/0/id", "/nodes/2/id")]
    for path in advised[0]:
        assert patched(TWINS, [_put(path, "journal")]).accepted


def test_the_advice_about_two_edges_between_the_same_nodes_leads_to_each_of_them() -> None:
    document = of([node("a"), node("b")], [edge("a", "b", "$.x"), edge("a", "b", "$.y")])
    found = _refused(document, _put("/edges/@a->b/condition", "$.z"))
    assert "There are 2 edges 'a->b'." in found.message
    for path in re.findall(r"/edges/\S+", found.repair):
        assert patched(document, [_put(path, "$.z")]).accepted


@pytest.mark.parametrize("kind", ["copy", "move"])
@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("/metadata/none", "(/metadata/none) leads nowhere: There is no 'metadata'."),
        ("/nodes/9", "(/nodes/9) leads nowhere: The list has no index 9."),
        ("/nodes/@ghost/config", "(/nodes/@ghost/config) leads nowhere: There is no node 'ghost'."),
        ("nodes/0", "The from does not begin with a slash."),
        ("/a~2", "The from holds a ~"),
    ],
)
def test_a_wrong_from_is_named_and_not_the_path(kind: str, source: str, why: str) -> None:
    found = _refused(PRICES, {"op": kind, "from": source, "path": "/nodes/-"})
    assert found.message.startswith("Operation 1 (/nodes/-): ")
    assert why in found.message


def test_a_path_by_id_is_shown_as_it_was_written() -> None:
    found = _refused(PRICES, {"op": "remove", "path": "/nodes/@check/timeout_ms"})
    assert found.message == "Operation 1 (/nodes/@check/timeout_ms): There is no 'timeout_ms'."


def test_too_many_agents_are_named_with_their_places_and_those_to_leave_out() -> None:
    found = _refused(PRICES, *(add("/nodes/-", node(f"ask{number}", "agent")) for number in range(7)))
    assert found.message.startswith("The patch brings in 7 agent nodes: ask0 (/nodes/4), ask1 (/nodes/5), ")
    assert found.repair == "Bring in at most 5 at a time: leave 'ask5', 'ask6' for another patch."
    assert (found.node, found.path) == ("ask5", "/nodes/9")


def test_of_very_many_agents_some_are_named_and_the_rest_counted() -> None:
    found = _refused(PRICES, *(add("/nodes/-", node(f"ask{number}", "agent")) for number in range(40)))
    assert "ask11 (/nodes/15) and 28 more." in found.message
    assert len(found.sentence) < 700


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("loop_back_to", 0, "has 0 as its loop_back_to, which is no text. Make it a text"),
        ("loop_back_to", ["a"], "has a list as its loop_back_to, which is no text."),
        ("loop_back_to", None, "does not say where it goes back to."),
        ("max_iterations", True, "has the limit true."),
        ("max_iterations", "5", "has the limit '5'."),
        ("max_iterations", 2.5, "has the limit 2.5."),
        ("max_iterations", [3], "has the limit a list."),
    ],
)
def test_what_is_wrong_in_a_loop_is_shown_in_the_words_of_json(key: str, value: Any, said: str) -> None:
    loop = node("again", "loop", loop_back_to="a", max_iterations=3)
    found = _refused(of([node("a"), loop], line("a", "again")), _put(f"/nodes/@again/config/{key}", value))
    assert said in found.sentence
    assert (found.reason, found.path) == ("loop-config", f"/nodes/1/config/{key}")


@pytest.mark.parametrize(
    ("operation", "said"),
    [
        (_put("/nodes", [node(f"n{number}") for number in range(501)]), "has 501 entries. Keep at most 500."),
        (_put("/nodes/0/id", "x" * 129), "has 129 characters. Use at most 128 characters."),
        (_put("/nodes/0/timeout_ms", -1), "is -1, which is too small. Use at least 0."),
        (_put("/nodes/0/type", "t" * 200), f"is '{'t' * 77}…', which is unknown."),
        (_put("/edges/0/from", True), "of edge 0 (true → check) is true. Make it a text."),
        ({"op": "test", "path": "/nodes/0/id", "value": "y" * 99}, f'not "{"y" * 76}…".'),
        ({"op": "remove", "path": "/" + "z" * 99}, f"There is no '{'z' * 77}…'."),
    ],
)
def test_a_long_value_is_counted_or_cut_inside_its_quotes(operation: dict[str, Any], said: str) -> None:
    found = _refused(PRICES, operation)
    assert said in found.sentence
    assert len(found.sentence) < 500


def test_a_node_behind_a_loops_break_path_is_told_where_to_be_named() -> None:
    loop = node("again", "loop", loop_back_to="a", max_iterations=3, break_path="end")
    document = of([node("a"), loop, node("end")], line("a", "again"))
    found = _refused(document, add("/nodes/-", node("more")), add("/edges/-", edge("again", "more")))
    assert found.repair == "Name it in the break_path of 'again', which is taken instead of its edges, or remove it."
    mended = [add("/nodes/-", node("more")), _put("/nodes/@again/config/break_path", ["end", "more"])]
    assert patched(document, mended).accepted
