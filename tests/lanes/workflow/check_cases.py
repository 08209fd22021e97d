"""Workflows that the checks let pass, and such that they refuse: with reason, node and path."""

from __future__ import annotations

from typing import Any

from laneway.lanes.workflow.document import Document
from tests.lanes.workflow.documents import PRICES, edge, line, node, of


def _loop(**config: Any) -> Document:
    return of([node("a"), node("b"), node("again", "loop", **config), node("end")], line("a", "b", "again", "end"))


GOOD_LOOP = {"loop_back_to": "a", "max_iterations": 3}
CRON = {"type": "cron", "schedule": "0 9 * * 1-5", "timezone": "Europe/Berlin"}

ACCEPTED: dict[str, Document] = {
    "one node": of([node("a")], []),
    "branches that meet again": PRICES,
    "every type that asks people or models": of([node("a", "agent"), node("b", "hitl")], line("a", "b")),
    "two nodes without an edge": of([node("a"), node("b")], []),
    "the same edge twice": of([node("a"), node("b")], [edge("a", "b"), edge("a", "b")]),
    "two edges with different conditions": of(
        [node("a"), node("b")], [edge("a", "b", "$.x > 1"), edge("a", "b", "$.y")]
    ),
    "an error edge": of([node("a"), node("b"), node("c")], [edge("a", "b"), edge("a", "c", on="error")]),
    "a loop": _loop(**GOOD_LOOP),
    "a loop with ways on": _loop(**GOOD_LOOP, condition="$.left > 0", break_path=["end"], timeout_path="end"),
    "a drawn loop": {**_loop(**GOOD_LOOP), "edges": [*line("a", "b", "again", "end"), edge("again", "a")]},
    "a loop before its body": of(
        [node("a"), node("again", "loop", loop_back_to="b", max_iterations=2), node("b")],
        line("a", "again", "b", "again"),
    ),
    "a macro in a condition": of([node("a"), node("b")], [edge("a", "b", "has($.l) && $.l.exists(i, i > 1)")]),
    "a branch behind one that is always taken": of(
        [node("a", "conditional"), node("b"), node("c")], [edge("a", "b", "1 < 2"), edge("a", "c")]
    ),
    "any behind branches": of(
        [node("if", "conditional"), node("a"), node("b"), node("end", join="any")],
        [edge("if", "a", "$.x"), edge("if", "b"), edge("a", "end"), edge("b", "end")],
    ),
    "all behind ways that run side by side": of(
        [node("p", "parallel"), node("a"), node("b"), node("end", join="all")],
        [*line("p", "a", "end"), *line("p", "b", "end")],
    ),
    "all behind one of the branches": of(
        [node("if", "conditional"), node("p", "parallel"), node("a"), node("b"), node("end", join="all"), node("no")],
        [edge("if", "p", "$.x"), edge("if", "no"), *line("p", "a", "end"), *line("p", "b", "end")],
    ),
    "a reference to an earlier node": of(
        [node("a"), node("b"), node("c", arguments={"x": ["$nodes.a.rows[0].id", "${$nodes.b.n} of ${ $input.n }"]})],
        line("a", "b", "c"),
    ),
    "prices in dollars": of([node("a", "notify", message="It costs $5, or ${5}.")], []),
    "secrets, input and what went before": of(
        [
            node("a", "http", url="https://a.example", headers={"X": "$secrets.KEY"}, body="$input"),
            node("b", body="$previous"),
        ],
        line("a", "b"),
    ),
    "triggers": of(
        [node("a")],
        [],
        triggers=[
            CRON,
            {"type": "cron", "schedule": "@daily"},
            {"type": "webhook", "secret": "$secrets.HOOK"},
            {"type": "event", "event": "job.done", "condition": "$.status == 'done'"},
            {"type": "manual"},
            {"type": "chat", "phrase": "prices"},
        ],
    ),
}

EXCLUSIVE = [node("if", "conditional"), node("a"), node("b"), node("end", join="all")]

REJECTED: dict[str, tuple[str, Document, str | None, str]] = {
    "two nodes with one id": ("duplicate-id", of([node("a"), node("a")], []), "a", "/nodes/1/id"),
    "an edge to nowhere": ("dangling-edge", of([node("a")], [edge("a", "b")]), None, "/edges/0/to"),
    "an edge from nowhere": ("dangling-edge", of([node("a")], [edge("b", "a")]), None, "/edges/0/from"),
    "a loop without config": ("loop-config", _loop(), "again", "/nodes/2/config/loop_back_to"),
    "a loop back to nowhere": (
        "loop-config",
        _loop(loop_back_to="x", max_iterations=3),
        "again",
        "/nodes/2/config/loop_back_to",
    ),
    "a loop back to itself": (
        "loop-config",
        _loop(loop_back_to="again", max_iterations=3),
        "again",
        "/nodes/2/config/loop_back_to",
    ),
    "a loop forward": (
        "loop-config",
        _loop(loop_back_to="end", max_iterations=3),
        "again",
        "/nodes/2/config/loop_back_to",
    ),
    "a loop without limit": ("loop-config", _loop(loop_back_to="a"), "again", "/nodes/2/config/max_iterations"),
    "a loop of no rounds": (
        "loop-config",
        _loop(loop_back_to="a", max_iterations=0),
        "again",
        "/nodes/2/config/max_iterations",
    ),
    "a loop of true rounds": (
        "loop-config",
        _loop(loop_back_to="a", max_iterations=True),
        "again",
        "/nodes/2/config/max_iterations",
    ),
    "a loop of too many rounds": (
        "loop-config",
        _loop(loop_back_to="a", max_iterations=10**6),
        "again",
        "/nodes/2/config/max_iterations",
    ),
    "a loop with a number as condition": (
        "loop-config",
        _loop(**GOOD_LOOP, condition=5),
        "again",
        "/nodes/2/config/condition",
    ),
    "a loop that breaks to nowhere": (
        "loop-config",
        _loop(**GOOD_LOOP, break_path="x"),
        "again",
        "/nodes/2/config/break_path",
    ),
    "a loop that times out to nowhere": (
        "loop-config",
        _loop(**GOOD_LOOP, timeout_path=["end", "x"]),
        "again",
        "/nodes/2/config/timeout_path",
    ),
    "a loop with a wrong condition": (
        "condition",
        _loop(**GOOD_LOOP, condition="left > 0"),
        "again",
        "/nodes/2/config/condition",
    ),
    "a condition that is no CEL": (
        "condition",
        of([node("a"), node("b")], [edge("a", "b", "$.x >")]),
        "a",
        "/edges/0/condition",
    ),
    "a condition of unknown names": (
        "condition",
        of([node("a"), node("b")], [edge("a", "b", "price > 1")]),
        "a",
        "/edges/0/condition",
    ),
    "a wait's condition": (
        "condition",
        of([node("a", "wait", event="e", condition="price >")], []),
        "a",
        "/nodes/0/config/condition",
    ),
    "a condition that is a number": (
        "condition",
        of([node("a"), node("b")], [edge("a", "b", "1 + 1")]),
        "a",
        "/edges/0/condition",
    ),
    "an event's condition": (
        "condition",
        of([node("a")], [], triggers=[{"type": "event", "event": "e", "condition": "x"}]),
        None,
        "/triggers/0/condition",
    ),
    "a circle": ("cycle", of([node("a"), node("b")], line("a", "b", "a")), "a", "/edges/1"),
    "an edge to itself": ("cycle", of([node("a")], [edge("a", "a")]), "a", "/edges/0"),
    "a loop's edge to itself": (
        "cycle",
        {**_loop(**GOOD_LOOP), "edges": [*line("a", "b", "again"), edge("again", "again")]},
        "again",
        "/edges/2",
    ),
    "a circle beside a loop": (
        "cycle",
        {**_loop(**GOOD_LOOP), "edges": [*line("a", "b", "again", "end"), edge("b", "a")]},
        "a",
        "/edges/3",
    ),
    "a circle a loop node does not name": (
        "cycle",
        {**_loop(loop_back_to="b", max_iterations=2), "edges": [*line("a", "b", "again"), edge("again", "a")]},
        "a",
        "/edges/2",
    ),
    "a branch that is never taken": (
        "unreachable",
        of([node("a"), node("b")], [edge("a", "b", "false")]),
        "b",
        "/nodes/1",
    ),
    "all behind branches": (
        "join",
        of(EXCLUSIVE, [edge("if", "a", "$.x"), edge("if", "b"), edge("a", "end"), edge("b", "end")]),
        "end",
        "/nodes/3/config/join",
    ),
    "all behind a branch and its shortcut": (
        "join",
        of(EXCLUSIVE, [edge("if", "a", "$.x"), edge("if", "b", "$.y"), edge("a", "end"), edge("if", "end")]),
        "end",
        "/nodes/3/config/join",
    ),
    "all behind a node and its failure": (
        "join",
        of(
            [node("a"), node("b"), node("c"), node("end", join="all")],
            [edge("a", "b"), edge("a", "c", on="error"), edge("b", "end"), edge("c", "end")],
        ),
        "end",
        "/nodes/3/config/join",
    ),
    "a reference to nowhere": (
        "reference",
        of([node("a", arguments={"x": {"y": ["$nodes.b.z"]}})], []),
        "a",
        "/nodes/0/config/arguments/x/y/0",
    ),
    "a reference inside a text": (
        "reference",
        of([node("a", "notify", message="Hi ${$nodes.b.name}")], []),
        "a",
        "/nodes/0/config/message",
    ),
    "a reference to a later node": (
        "reference",
        of([node("a", input="$nodes.b"), node("b")], line("a", "b")),
        "a",
        "/nodes/0/config/input",
    ),
    "a reference to itself": ("reference", of([node("a", input="$nodes.a.x")], []), "a", "/nodes/0/config/input"),
    "a reference that cannot be read": (
        "reference",
        of([node("a", input="$nodes.b..c")], []),
        "a",
        "/nodes/0/config/input",
    ),
    "a secret without name": ("reference", of([node("a", input="$secrets")], []), "a", "/nodes/0/config/input"),
    "a schedule that cannot be read": (
        "trigger",
        of([node("a")], [], triggers=[{**CRON, "schedule": "61 * * * *"}]),
        None,
        "/triggers/0/schedule",
    ),
    "a schedule that never comes": (
        "trigger",
        of([node("a")], [], triggers=[{**CRON, "schedule": "0 0 31 2 *"}]),
        None,
        "/triggers/0/schedule",
    ),
    "an unknown time zone": (
        "trigger",
        of([node("a")], [], triggers=[{**CRON, "timezone": "../../etc/passwd"}]),
        None,
        "/triggers/0/timezone",
    ),
    "a secret that is written out": (
        "trigger",
        of([node("a")], [], triggers=[{"type": "webhook", "secret": "hunter2"}]),
        None,
        "/triggers/0/secret",
    ),
}
