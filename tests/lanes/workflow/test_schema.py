"""The schema knows every node type, says in sentences what does not fit, and notes what is worth knowing."""

from __future__ import annotations

from typing import Any

import jsonschema_rs

from laneway.lanes.workflow.checks import check
from laneway.lanes.workflow.notes import incomplete, notes
from laneway.lanes.workflow.schema import config_keys, node_types, problems, schema
from tests.lanes.workflow.documents import PRICES, edge, flow, node, of

TYPES = {"function", "http", "conditional", "loop", "parallel", "transform", "aggregate", "filter", "agent", "hitl"}
TYPES |= {"notify", "pipeline", "subworkflow", "wait"}


def test_the_schema_is_a_schema_and_fits_a_workflow() -> None:
    assert jsonschema_rs.meta.is_valid(schema())
    assert problems(PRICES) == []


def test_every_node_type_is_known_and_describes_its_config() -> None:
    assert {*node_types()} == TYPES
    for kind in TYPES:
        assert schema()["$defs"][kind]["description"]
        assert "join" in config_keys(kind)
        assert problems(of([node("a", kind)], [])) == []


def _one(change: dict[str, Any]) -> dict[str, Any]:
    return of([{"id": "a", "type": "http", **change}], [])


UNFIT: list[tuple[Any, str, str]] = [
    (None, "The workflow is null. Make it an object.", ""),
    ([], "The workflow is a list.", ""),
    ({"nodes": [node("a")]}, "has no 'edges'", ""),
    (of([], []), "'nodes' of the workflow is empty", "/nodes"),
    (of([{"type": "http"}], []), "Node 0 has no 'id'.", "/nodes/0"),
    (of([{"id": "a"}], []), "Node 'a' has no 'type'.", "/nodes/0"),
    (of([{"id": "a b", "type": "http"}], []), "Use letters, digits, _ and - only.", "/nodes/0/id"),
    (of([{"id": "a\n", "type": "http"}], []), "not allowed", "/nodes/0/id"),
    (of([node("a", "start")], []), "'type' of node 'a' is 'start', which is unknown.", "/nodes/0/type"),
    (of([node("a", "notfy")], []), "Did you mean 'notify'?", "/nodes/0/type"),
    (_one({"timeout_ms": -1}), "Use at least 0.", "/nodes/0/timeout_ms"),
    (_one({"timeout_ms": "5 s"}), "Make it a whole number.", "/nodes/0/timeout_ms"),
    (_one({"retry": {"max_attempts": 11}}), "Use at most 10.", "/nodes/0/retry/max_attempts"),
    (_one({"retry": {"backoff_multiplier": 0.5}}), "Use at least 1.", "/nodes/0/retry/backoff_multiplier"),
    (of([node("a")], [{"from": "a"}]), "Edge 0 has no 'to'.", "/edges/0"),
    (of([node("a")], [{"from": "a", "to": "a", "condition": 5}]), "Make it a text.", "/edges/0/condition"),
    (of([node("a")], [edge("a", "a", on="success")]), "Use one of: error.", "/edges/0/on"),
    (of([node("a")], [], metadata=[]), "'metadata' of the workflow is a list.", "/metadata"),
    (of([node("a")], [], triggers=[{"type": "cron"}]), "Trigger 0 has no 'schedule'.", "/triggers/0"),
    (of([node("a")], [], triggers=[{"type": "mail"}]), "'mail', which is unknown", "/triggers/0/type"),
]


def test_what_does_not_fit_is_said_with_its_place_and_repair() -> None:
    for document, said, path in UNFIT:
        found = problems(document)
        assert any(said in one.sentence and one.path == path for one in found), (document, found)
        assert all(one.reason == "schema" and one.repair for one in found)


NOT_READY: list[tuple[str, dict[str, Any], str, str]] = [
    ("http", {"url": 5}, "cannot run yet: 'url' is 5. Make it a text.", "url"),
    ("http", {"url": "x", "method": "GTE"}, "Use one of", "method"),
    ("http", {"url": "x", "join": "some"}, "Use one of: all, any.", "join"),
    ("wait", {"seconds": "long"}, "Make it a number, or a reference", "seconds"),
    ("wait", {"seconds": -1}, "Use at least 0.", "seconds"),
    ("pipeline", {"plan": [{"do": "sort"}]}, "Make it an object", "plan"),
    ("filter", {"condition": {"field": "price"}}, "Make it a text.", "condition"),
]


def test_a_config_is_free_and_what_its_type_cannot_work_with_keeps_it_from_running() -> None:
    for kind, config, said, path in NOT_READY:
        document = of([{"id": "a", "type": kind, "config": config}], [])
        assert check(document) == []
        [found] = incomplete(document)
        assert said in found.sentence
        assert (found.node, found.path) == ("a", f"/nodes/0/config/{path}")
    referring = of([node("a", name="x"), node("w", "wait", seconds="$nodes.a.pause")], [edge("a", "w")])
    assert [*incomplete(referring)] == []


SLIPS: list[tuple[Any, str, str]] = [
    (_one({"config": {"URL": "x"}}), "url", "/nodes/0/config/URL"),
    (_one({"config": {"rows-at": "x"}}), "rows_at", "/nodes/0/config/rows-at"),
    (_one({"config": {"heders": {}}}), "headers", "/nodes/0/config/heders"),
    (_one({"timeoutMs": 5}), "timeout_ms", "/nodes/0/timeoutMs"),
    (_one({"retry": {"max_atempts": 3}}), "max_attempts", "/nodes/0/retry/max_atempts"),
    (of([node("a"), node("b")], [edge("a", "b", conditon="x")]), "condition", "/edges/0/conditon"),
    ({**of([node("a")], []), "triger": []}, "triggers", "/triger"),
]


def test_a_slip_in_a_key_is_refused_with_the_right_one_named() -> None:
    for document, meant, path in SLIPS:
        [found] = check(document)
        assert (found.reason, found.path, found.repair) == ("schema", path, f"Did you mean {meant!r}?")


OTHER_KEYS: list[tuple[Any, str]] = [
    ({**of([node("a", name="x")], []), "version": 3}, "/version"),
    (of([{**node("a", name="x"), "colour": "red"}], []), "/nodes/0/colour"),
    (of([{**node("a", name="x"), "timeout": 5}], []), "/nodes/0/timeout"),
    (of([{**node("a", name="x"), "retry": {"attempts": 3}}], []), "/nodes/0/retry/attempts"),
    (of([node("a", name="x"), node("b", name="x")], [edge("a", "b", weight=1)]), "/edges/0/weight"),
    (of([node("a", "wait", duration="x")], []), "/nodes/0/config/duration"),
]


def test_any_other_key_is_kept_and_noted() -> None:
    for document, path in OTHER_KEYS:
        assert check(document) == []
        assert ("unused-key", path) in [(one.reason, one.path) for one in notes(document)], path


def test_what_is_worth_knowing_is_noted() -> None:
    named: dict[str, Any] = {name: {"name": name} for name in "bcd"}
    for document, found in (
        (flow("a b", "a b if ctx.nope.x > 1 && ctx['a'].y > 1", a={"name": "x"}, b=named["b"]), ["no-such-ctx"]),
        (
            flow("a b c", "a b", "a b", a={"name": "x", "colour": "red"}, b=named["b"], c=named["c"]),
            ["unused-key", "starts-alone", "double-edge"],
        ),
        (flow("a:conditional b c d", "a b if $.x > 1", "a c if true", "a d", **named), ["never-taken"]),
    ):
        assert [one.reason for one in notes(document)] == found
