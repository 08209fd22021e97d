"""Every check refuses what it is there for, names node, path and repair, and lets the rest pass."""

from __future__ import annotations

from typing import Any

import pytest

from laneway.lanes.workflow.checks import check, patched
from laneway.lanes.workflow.finding import REASONS
from tests.lanes.workflow import check_cases
from tests.lanes.workflow.documents import PRICES, add, edge, node, of, prices
from tests.lanes.workflow.way_cases import ACCEPTED_WAYS, REJECTED_WAYS

ACCEPTED = check_cases.ACCEPTED | ACCEPTED_WAYS
REJECTED = check_cases.REJECTED | REJECTED_WAYS


@pytest.mark.parametrize("name", ACCEPTED)
def test_accepted(name: str) -> None:
    assert check(ACCEPTED[name]) == []


@pytest.mark.parametrize("name", REJECTED)
def test_rejected(name: str) -> None:
    reason, document, at, path = REJECTED[name]
    found = check(document)
    assert [(one.reason, one.node, one.path) for one in found][:1] == [(reason, at, path)], found
    assert all(one.message and one.repair for one in found)


def test_every_reason_that_a_document_can_have_is_tested() -> None:
    tested = {reason for reason, *_ in REJECTED.values()}
    assert tested == set(REASONS) - {"json-patch", "schema", "agent-limit"}


def test_the_most_basic_reason_comes_first() -> None:
    document = of([node("a"), node("a")], [edge("a", "x", "1 + 1")], triggers=[{"type": "cron", "schedule": "x"}])
    assert [one.reason for one in check(document)] == ["duplicate-id", "dangling-edge"]
    assert check({**document, "metadata": 1})[0].reason == "schema"
    later = of(
        [node("a"), node("b")], [edge("a", "b", "x"), edge("b", "a")], triggers=[{"type": "cron", "schedule": "x"}]
    )
    assert [one.reason for one in check(later)] == ["condition", "cycle", "trigger"]


def test_a_refused_secret_is_not_repeated_in_the_message() -> None:
    _, document, _, _ = REJECTED["a secret that is written out"]
    assert "hunter2" not in check(document)[0].sentence


def _agents(count: int) -> list[dict[str, Any]]:
    return [add("/nodes/-", node(f"ask{number}", "agent")) for number in range(count)]


def test_a_patch_brings_in_five_agents_and_not_six() -> None:
    assert patched(PRICES, _agents(5)).accepted
    verdict = patched(PRICES, _agents(6))
    assert (verdict.reason, verdict.document) == ("agent-limit", None)
    full = patched(PRICES, _agents(5)).document
    assert patched(full, [add("/nodes/-", node("sixth", "agent"))]).accepted


def test_agents_count_however_they_come_in() -> None:
    many = of([node(f"n{number}") for number in range(6)], [])
    turned = [{"op": "replace", "path": f"/nodes/{number}/type", "value": "agent"} for number in range(6)]
    assert patched(many, turned).reason == "agent-limit"
    assert patched(many, turned[:5]).accepted
    whole = [{"op": "replace", "path": "/nodes", "value": [node(f"a{number}", "agent") for number in range(6)]}]
    assert patched(many, whole).reason == "agent-limit"
    rid = [*_agents(6), {"op": "remove", "path": "/nodes/4"}]
    assert patched(PRICES, rid).reason == "agent-limit"


def test_agents_that_were_there_do_not_count_when_all_nodes_are_written_anew() -> None:
    many = of([node(f"a{number}", "agent") for number in range(9)], [])
    assert patched(many, [{"op": "replace", "path": "/nodes", "value": many["nodes"][1:]}]).accepted


def test_a_patch_that_cannot_be_applied_is_rejected_before_anything_else() -> None:
    verdict = patched({"nodes": "no"}, [{"op": "test", "path": "/nodes", "value": "yes"}])
    assert (verdict.reason, verdict.document) == ("json-patch", None)
    assert "Operation 1 (/nodes)" in verdict.message


def test_an_accepted_patch_comes_with_its_document_and_the_old_one_stays() -> None:
    before = prices()
    verdict = patched(before, [{"op": "replace", "path": "/nodes/0/timeout_ms", "value": 9000}])
    assert verdict.document is not None
    assert verdict.document["nodes"][0]["timeout_ms"] == 9000
    assert before == PRICES


def test_a_patch_may_mend_a_document_that_was_wrong() -> None:
    assert patched(of([node("a")], [edge("a", "x")]), [{"op": "remove", "path": "/edges/0"}]).accepted


def test_a_large_graph_is_judged_without_going_deep() -> None:
    nodes = [node(f"n{number}", "conditional", join="all") for number in range(500)]
    edges = [edge(f"n{number + 1}", f"n{number}") for number in range(499)]
    assert check(of(nodes, edges)) == []
    assert [one.reason for one in check(of(nodes, [*edges, edge("n0", "n499")]))] == ["cycle"]
