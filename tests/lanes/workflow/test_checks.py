"""Every check refuses what it is there for, in words that name node, path and repair, and lets the rest pass."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from laneway.cli.workflow_check import check_lines
from laneway.lanes.workflow.checks import Verdict, check, patched
from laneway.lanes.workflow.finding import REASONS, Finding
from tests.lanes.workflow.check_cases import ACCEPTED, REJECTED
from tests.lanes.workflow.documents import PRICES, add, edge, flow, node, of, prices, put


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


def test_an_accepted_patch_comes_with_its_document_and_the_old_one_stays() -> None:
    before = prices()
    verdict = patched(before, [put("/nodes/0/timeout_ms", 9000)])
    assert verdict.document is not None
    assert verdict.document["nodes"][0]["timeout_ms"] == 9000
    assert before == PRICES


def test_a_large_graph_is_judged_without_going_deep() -> None:
    nodes = [node(f"n{number}", "conditional", join="all") for number in range(500)]
    edges = [edge(f"n{number + 1}", f"n{number}") for number in range(499)]
    assert check(of(nodes, edges)) == []
    assert [one.reason for one in check(of(nodes, [*edges, edge("n0", "n499")]))] == ["cycle"]


def _refused(document: Any, *operations: dict[str, Any]) -> Finding:
    verdict: Verdict = patched(document, list(operations))
    assert not verdict.accepted
    return verdict.findings[0]


def test_the_advice_about_twins_calls_them_what_they_are_and_leads_to_each_of_them() -> None:
    nodes, edges = flow("log a log"), flow("a b", "a b if $.x", "a b if $.y")
    for document, operation, told in (
        (nodes, put("/nodes/@log/id", "journal"), "There are 2 nodes 'log'."),
        (edges, put("/edges/@a->b/condition", "$.z"), "There are 2 edges 'a->b'."),
    ):
        found = _refused(document, operation)
        assert told in found.message
        advised = re.findall(r"/(?:nodes|edges)/[^\s,]+", found.repair)
        assert len(advised) == 2
        for path in advised:
            assert patched(document, [put(path, operation["value"])]).accepted


WRONG_SOURCES = [
    ("/metadata/none", "(/metadata/none) leads nowhere: There is no 'metadata'."),
    ("/nodes/9", "(/nodes/9) leads nowhere: The list has no index 9."),
    ("/nodes/@ghost/config", "(/nodes/@ghost/config) leads nowhere: There is no node 'ghost'."),
    ("nodes/0", "The from does not begin with a slash."),
    ("/a~2", "The from holds a ~"),
]


def test_a_wrong_from_is_named_and_not_the_path() -> None:
    for kind in ("copy", "move"):
        for source, why in WRONG_SOURCES:
            found = _refused(PRICES, {"op": kind, "from": source, "path": "/nodes/-"})
            assert found.message.startswith("Operation 1 (/nodes/-): ")
            assert why in found.message


def test_too_many_agents_are_named_with_their_places_and_very_many_are_counted() -> None:
    found = _refused(PRICES, *(add("/nodes/-", node(f"ask{number}", "agent")) for number in range(7)))
    assert found.message.startswith("The patch brings in 7 agent nodes: ask0 (/nodes/4), ask1 (/nodes/5), ")
    assert found.repair == "Bring in at most 5 at a time: leave 'ask5', 'ask6' for another patch."
    assert (found.node, found.path) == ("ask5", "/nodes/9")
    found = _refused(PRICES, *(add("/nodes/-", node(f"ask{number}", "agent")) for number in range(40)))
    assert "ask11 (/nodes/15) and 28 more." in found.message
    assert len(found.sentence) < 700


WRONG_LOOPS: list[tuple[str, Any, str]] = [
    ("loop_back_to", 0, "has 0 as its loop_back_to, which is no text. Make it a text"),
    ("loop_back_to", ["a"], "has a list as its loop_back_to, which is no text."),
    ("loop_back_to", None, "does not say where it goes back to."),
    ("max_iterations", "5", "has the limit '5'."),
    ("max_iterations", 2.5, "has the limit 2.5."),
]
LOOP = {"loop_back_to": "a", "max_iterations": 3}


def test_what_is_wrong_in_a_loop_is_shown_in_the_words_of_json() -> None:
    for key, value, said in WRONG_LOOPS:
        found = _refused(flow("a again:loop", "a again", again=LOOP), put(f"/nodes/@again/config/{key}", value))
        assert said in found.sentence
        assert (found.reason, found.path) == ("loop-config", f"/nodes/1/config/{key}")


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


def test_a_node_behind_a_loops_break_path_is_told_where_to_be_named() -> None:
    document = flow("a again:loop end", "a again", again={**LOOP, "break_path": "end"})
    found = _refused(document, add("/nodes/-", node("more")), add("/edges/-", edge("again", "more")))
    assert found.repair == "Name it in the break_path of 'again', which is taken instead of its edges, or remove it."
    mended = [add("/nodes/-", node("more")), put("/nodes/@again/config/break_path", ["end", "more"])]
    assert patched(document, mended).accepted


Line = tuple[str, Any, Any, str | None]
"""What it is about, the workflow, the operations, and the reason for which they are refused."""
ONE = flow("only")


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
    assert {reason for *_, reason in lines} - {None} == {*REASONS}


def test_texts_and_lists_may_be_as_long_as_the_schema_says_and_no_longer() -> None:
    many = [node(f"n{number}", "wait") for number in range(501)]
    wrong = wrongly_judged(
        [
            ("500 nodes", ONE, [put("/nodes", many[:500])], None),
            ("501 nodes", ONE, [put("/nodes", many)], "schema"),
            ("a description of 8000 signs", ONE, [add("/metadata", {"description": "\U0001f642" * 8000})], None),
            ("a description of 8001 signs", ONE, [add("/metadata", {"description": "d" * 8001})], "schema"),
            ("a prompt of 20000", ONE, [add("/nodes/-", node("ask", "agent", prompt="p" * 20_000))], None),
        ]
    )
    assert not wrong, "\n".join(wrong)
