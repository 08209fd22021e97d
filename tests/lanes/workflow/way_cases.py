"""Workflows that differ in the ways a run can go: round a loop and out of it, into joins, and over CEL in settings."""

from __future__ import annotations

from typing import Any

from laneway.lanes.workflow.document import Document
from tests.lanes.workflow.documents import edge, line, node, of

BACK: dict[str, Any] = {"loop_back_to": "poll", "max_iterations": 3, "condition": "$.left > 0"}
BOTH: dict[str, Any] = {**BACK, "break_path": ["done"], "timeout_path": ["late"]}


def loop(*edges: dict[str, Any], late: bool = False, **config: Any) -> Document:
    """poll → again → done, and edges of one's own; `late` is a node that only they or the config lead to."""
    nodes = [node("poll"), node("again", "loop", **config), node("done"), *([node("late")] if late else [])]
    return of(nodes, [*line("poll", "again", "done"), *edges])


def before_its_body(*edges: dict[str, Any], **config: Any) -> Document:
    """begin → again → poll → again, and again → done."""
    nodes = [node("begin"), node("again", "loop", **BACK, **config), node("poll"), node("done")]
    return of(nodes, [*line("begin", "again", "poll", "again"), edge("again", "done"), *edges])


def meeting(*edges: dict[str, Any], join: str | None = "all", **config: Any) -> Document:
    """A loop with what follows it, and a node `meet` that the edges given lead into."""
    nodes = [node("poll"), node("again", "loop", **config), node("done"), node("late")]
    return of([*nodes, node("meet", **({"join": join} if join else {}))], [*line("poll", "again"), *edges])


MEET = (edge("done", "meet"), edge("late", "meet"))

ACCEPTED_WAYS: dict[str, Document] = {
    "a way back that is drawn, which is the loop's own": loop(edge("again", "poll"), **BACK),
    "a loop whose limit is 3.0": loop(**{**BACK, "max_iterations": 3.0}, delay_ms=10.0),
    "whole numbers with a point": of(
        [{**node("a"), "timeout_ms": 5000.0, "retry": {"max_attempts": 2.0, "backoff_ms": 10.0}}], []
    ),
    "a loop's edges where only the limit has a path": loop(late=True, **BACK, timeout_path="late"),
    "an empty break_path is none": loop(**BACK, break_path=[]),
    "two nodes on the break_path": loop(late=True, **BACK, break_path=["late", "done"]),
    "a loop's failure": loop(edge("again", "late", on="error"), late=True, **BACK),
    "a loop that is entered again from its body": before_its_body(),
    "the two ways out of a loop that meet": meeting(*MEET, join=None, **BOTH),
    "the first of the two ways out": meeting(*MEET, join="any", **BOTH),
    "all behind one way out": meeting(*MEET, **BACK, break_path=["done", "late"]),
    "all behind what both ways out lead to": meeting(
        *MEET, **BACK, break_path=["done", "late"], timeout_path=["done", "late"]
    ),
    "a filter by its row": of([node("keep", "filter", condition="item.amount > 3 && $.stock > ctx.input.least")], []),
    "a transform that reckons": of([node("sum", "transform", expression="$.price * 2 + ctx.input.fee")], []),
    "a filter without a condition": of([node("keep", "filter", condition=None, where={})], []),
}


def _settings(kind: str, key: str, *texts: str) -> dict[str, tuple[str, Document, str | None, str]]:
    path = f"/nodes/0/config/{key}"
    return {
        f"a {kind} by {text!r}": ("condition", of([node("a", kind, **{key: text})], []), "a", path) for text in texts
    }


REJECTED_WAYS: dict[str, tuple[str, Document, str | None, str]] = {
    **_settings("filter", "condition", "item.amount >", "amount > 3", "1 + 1", "", "event.kind == 'x'", "item.n * 2"),
    **_settings("transform", "expression", "output.amount *", "amount * 2", " ", "item.amount"),
    **_settings("wait", "condition", "item.amount > 1", "ctx.a > 1"),
    "a loop that breaks to where it goes back to": (
        "loop-config", loop(**BACK, break_path=["poll"]), "again", "/nodes/1/config/break_path",
    ),
    "a loop that goes on at its limit": (
        "loop-config", loop(**BACK, timeout_path="poll"), "again", "/nodes/1/config/timeout_path",
    ),
    "a loop before its body that breaks into it": (
        "loop-config", before_its_body(break_path=["done", "poll"]), "again", "/nodes/1/config/break_path",
    ),
    "a loop that breaks to itself": ("cycle", loop(**BACK, break_path="again"), "again", "/nodes/1/config/break_path"),
    "a loop that breaks into its body": (
        "cycle",
        of(
            [node("poll"), node("look"), node("again", "loop", **BACK, timeout_path=["look"]), node("done")],
            line("poll", "look", "again", "done"),
        ),
        "look",
        "/nodes/2/config/timeout_path",
    ),
    "an edge into the loop from behind it": ("cycle", loop(edge("done", "again"), **BACK), "again", "/edges/2"),
    "an edge from behind into a loop before its body": (
        "cycle", before_its_body(edge("done", "again")), "again", "/edges/4",
    ),
    "a loop's failure that leads back": ("cycle", loop(edge("again", "poll", on="error"), **BACK), "poll", "/edges/2"),
    "a failure into the body of a loop before it": (
        "cycle", before_its_body(edge("again", "poll", on="error")), "again", "/edges/4",
    ),
    "an edge of a loop beside its break_path": (
        "unreachable", loop(edge("again", "late"), late=True, **BACK, break_path=["done"]), "late", "/nodes/3",
    ),
    "an edge of a loop beside both of its paths": (
        "unreachable",
        of(
            [node("poll"), node("again", "loop", **BOTH), node("done"), node("late"), node("more")],
            line("poll", "again", "more"),
        ),
        "more",
        "/nodes/4",
    ),
    "a node between loops that only steps back lead to": (
        "unreachable",
        of(
            [
                node("lost"),
                node("begin"),
                node("inner", "loop", loop_back_to="lost", max_iterations=2),
                node("outer", "loop", loop_back_to="inner", max_iterations=2),
            ],
            [*line("begin", "inner", "outer"), edge("begin", "outer"), edge("lost", "outer")],
        ),
        "lost",
        "/nodes/0",
    ),
    "all behind success and failure inside a loop": (
        "join",
        of(
            [node("begin"), node("again", "loop", **BACK), node("poll"), node("done"), node("meet", join="all")],
            [
                *line("begin", "again", "poll", "again", "done"),
                edge("poll", "meet"),
                edge("poll", "meet", on="error"),
            ],
        ),
        "meet",
        "/nodes/4/config/join",
    ),
    "all behind both ways out of a loop": ("join", meeting(*MEET, **BOTH), "meet", "/nodes/4/config/join"),
    "all behind a loop's edges and its limit": (
        "join", meeting(edge("again", "done"), *MEET, **BACK, timeout_path="late"), "meet", "/nodes/4/config/join",
    ),
    "all behind a loop and its failure": (
        "join",
        meeting(edge("again", "late", on="error"), *MEET, **BACK, break_path="done"),
        "meet",
        "/nodes/4/config/join",
    ),
    "all with an edge that is never true": (
        "join",
        of(
            [node("a"), node("b"), node("meet", join="all")],
            [*line("a", "b"), edge("a", "meet"), edge("b", "meet", "false")],
        ),
        "meet",
        "/nodes/2/config/join",
    ),
    "all with an edge of a loop beside its break_path": (
        "join",
        meeting(*MEET, edge("again", "meet"), **BACK, break_path=["done", "late"]),
        "meet",
        "/nodes/4/config/join",
    ),
}  # fmt: skip
