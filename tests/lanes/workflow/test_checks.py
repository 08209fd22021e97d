"""Every check refuses what it is there for, in words that name node, path and repair, and lets the rest pass."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from laneway.cli.workflow_check import check_lines
from laneway.lanes.workflow.checks import Verdict, check, patched
from laneway.lanes.workflow.finding import REASONS, Finding
from tests.lanes.workflow.check_cases import ACCEPTED, REJECTED
from tests.lanes.workflow.documents import PRICES, add, edge, flow, node, of, put


def test_what_is_in_order_is_accepted() -> None:
    wrong = [f"{about}: {found}" for about, document in ACCEPTED.items() if (found := check(document))]
    assert not wrong, "\n".join(wrong)


def test_what_is_wrong_is_refused_with_its_reason_node_path_and_a_repair() -> None:
    wrong = []
    for about, (reason, document, at, path) in REJECTED.items():
        found = check(document)
        first = found[0] if found else None
        if first is None or (first.reason, first.node, first.path) != (reason, at, path):
            wrong.append(f"{about}: {first}")
        wrong += [f"{about} without a repair" for one in found if not (one.message and one.repair)]
        wrong += [f"{about} tells the secret" for one in found if "hunter2" in one.sentence]
    assert not wrong, "\n".join(wrong)
    assert {reason for reason, *_ in REJECTED.values()} == set(REASONS) - {"json-patch", "schema", "agent-limit"}


def test_the_most_basic_reason_comes_first() -> None:
    document = flow("a a", "a x if 1 + 1", triggers=[{"type": "cron", "schedule": "x"}])
    assert [one.reason for one in check(document)] == ["duplicate-id", "dangling-edge"]
    assert check({**document, "metadata": 1})[0].reason == "schema"
    later = flow("a b", "a b if x", "b a", triggers=[{"type": "cron", "schedule": "x"}])
    assert [one.reason for one in check(later)] == ["condition", "cycle", "trigger"]


def _agents(count: int) -> list[dict[str, Any]]:
    return [add("/nodes/-", node(f"ask{number}", "agent")) for number in range(count)]


def test_a_patch_brings_in_five_agents_and_not_six_however_they_come() -> None:
    verdict = patched(PRICES, _agents(6))
    assert (verdict.reason, verdict.document) == ("agent-limit", None)
    full = patched(PRICES, _agents(5)).document
    assert patched(full, [add("/nodes/-", node("sixth", "agent"))]).accepted
    assert patched(PRICES, [*_agents(6), {"op": "remove", "path": "/nodes/4"}]).reason == "agent-limit"
    many = of([node(f"n{number}") for number in range(6)], [])
    turned = [put(f"/nodes/{number}/type", "agent") for number in range(6)]
    assert patched(many, turned).reason == "agent-limit"
    assert patched(many, turned[:5]).accepted
    nine = [node(f"a{number}", "agent") for number in range(9)]
    assert patched(many, [put("/nodes", nine[:6])]).reason == "agent-limit"
    assert patched(of(nine, []), [put("/nodes", nine[1:])]).accepted, "those that were there do not count"


def test_a_patch_that_cannot_be_applied_is_rejected_before_anything_else() -> None:
    verdict = patched({"nodes": "no"}, [{"op": "test", "path": "/nodes", "value": "yes"}])
    assert (verdict.reason, verdict.document) == ("json-patch", None)
    assert "Operation 1 (/nodes)" in verdict.message


def test_a_large_graph_is_judged_without_going_deep() -> None:
    nodes = [node(f"n{number}", "conditional", join="all") for number in range(500)]
    edges = [edge(f"n{number + 1}", f"n{number}") for number in range(499)]
    assert check(of(nodes, edges)) == []
    assert [one.reason for one in check(of(nodes, [*edges, edge("n0", "n499")]))] == ["cycle"]


def _refused(document: Any, *operations: dict[str, Any]) -> Finding:
    verdict: Verdict = patched(document, list(operations))
    assert not verdict.accepted
    return verdict.findings[0]


LONG = [
    (put("/nodes", [node(f"n{number}") for number in range(501)]), "has 501 entries. Keep at most 500."),
    (put("/nodes/0/id", "x" * 129), "has 129 characters. Use at most 128 characters."),
    (put("/nodes/0/timeout_ms", -1), "is -1, which is too small. Use at least 0."),
    (put("/nodes/0/type", "t" * 200), f"is '{'t' * 77}…', which is unknown."),
    (put("/edges/0/from", True), "of edge 0 (true → check) is true. Make it a text."),
    ({"op": "test", "path": "/nodes/0/id", "value": "y" * 99}, f'not "{"y" * 76}…".'),
    ({"op": "remove", "path": "/" + "z" * 99}, f"There is no '{'z' * 77}…'."),
]


def test_a_long_value_is_counted_or_cut_inside_its_quotes() -> None:
    for operation, said in LONG:
        found = _refused(PRICES, operation)
        assert said in found.sentence
        assert len(found.sentence) < 500


Line = tuple[str, Any, Any, str | None]
"""What it is about, the workflow, the operations, and the reason for which they are refused."""


def wrongly_judged(lines: Sequence[Line]) -> list[str]:
    """What is said of the lines that get another verdict than the expected one."""
    told = io.BytesIO()
    asked = [{"workflow": workflow, "operations": operations} for _, workflow, operations, _ in lines]
    check_lines(io.BytesIO("".join(json.dumps(line) + "\n" for line in asked).encode()), told)
    found = [json.loads(line) for line in told.getvalue().splitlines()]
    return [
        f"{about}: {one['reason']} and not {reason}: {one['message']}"
        for (about, _, _, reason), one in zip(lines, found, strict=True)
        if (one["verdict"], one["reason"]) != ("reject" if reason else "accept", reason)
        or (one["document"] is None) is not (reason is not None)
    ]


def lines_of(name: str) -> list[Line]:
    told = json.loads((Path(__file__).parent / name).read_text(encoding="utf-8"))
    return [
        (one["why"], told["workflows"][one["workflow"]], one["operations"], one["reason"]) for one in told["patches"]
    ]


def test_every_line_by_two_who_knew_only_the_rules_gets_the_verdict_they_expected() -> None:
    lines = lines_of("stranger_patches.json") + lines_of("stranger_patches_by_another.json")
    wrong = wrongly_judged(lines)
    assert len(lines) == 689
    assert not wrong, "\n".join(wrong)
    assert {reason for *_, reason in lines} - {None} == {*REASONS} - {"secret"}, "a rule that came later"
