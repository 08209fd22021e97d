"""Workflows that the checks let pass, and such that they refuse: with reason, node and path."""

from __future__ import annotations

from typing import Any

from laneway.lanes.workflow.document import Document
from tests.lanes.workflow.documents import PRICES, flow

GOOD: dict[str, Any] = {"loop_back_to": "a", "max_iterations": 3}
BACK: dict[str, Any] = {"loop_back_to": "poll", "max_iterations": 3, "condition": "$.left > 0"}
BOTH: dict[str, Any] = {**BACK, "break_path": ["done"], "timeout_path": ["late"]}
CRON = {"type": "cron", "schedule": "0 9 * * 1-5", "timezone": "Europe/Berlin"}
ALL, ANY = {"join": "all"}, {"join": "any"}


def _loop(*ways: str, **config: Any) -> Document:
    """a → b → again → end."""
    return flow("a b again:loop end", "a b again end", *ways, again=config)


def _poll(*ways: str, late: bool = False, **config: Any) -> Document:
    """poll → again → done; `late` is a node that only the ways given or the config lead to."""
    return flow("poll again:loop done" + " late" * late, "poll again done", *ways, again=config)


def _before(*ways: str, **config: Any) -> Document:
    """A loop before its body: begin → again → poll → again, and again → done."""
    return flow("begin again:loop poll done", "begin again poll again", "again done", *ways, again={**BACK, **config})


def _meeting(*ways: str, join: dict[str, Any] = ALL, **config: Any) -> Document:
    """A loop with what follows it, and a node `meet` behind both."""
    return flow(
        "poll again:loop done late meet", "poll again", *ways, "done meet", "late meet", again=config, meet=join
    )


def _one(kind: str, /, **config: Any) -> Document:
    return flow(f"a:{kind}", a=config)


def _two(condition: str) -> Document:
    return flow("a b", f"a b if {condition}")


def _started(**trigger: Any) -> Document:
    return flow("a", triggers=[trigger])


ACCEPTED: dict[str, Document] = {
    "branches that meet again": PRICES,
    "a branch behind one that is always taken": flow("a:conditional b c", "a b if 1 < 2", "a c"),
    "any behind branches": flow("pick:conditional a b end", "pick a if $.x", "pick b", "a end", "b end", end=ANY),
    "all behind ways side by side": flow("p:parallel a b end", "p a end", "p b end", end=ALL),
    "all behind one of the branches": flow(
        "pick:conditional p:parallel a b end no", "pick p if $.x", "pick no", "p a end", "p b end", end=ALL
    ),
    "references to earlier nodes": flow(
        "a b c", "a b c", c={"arguments": {"x": ["$nodes.a.rows[0].id", "${$nodes.b.n} of ${ $input.n }"]}}
    ),
    "texts that only look like references": _one(
        "notify", message="It costs $5, or ${5}.", more=["nodes.a", "$env.HOME", "a $nodes.a", "$nodesa"]
    ),
    "secrets, input and what went before": flow(
        "a:http b", "a b", a={"url": "https://a.example", "headers": {"X": "$secrets.KEY"}, "body": "$input"},
        b={"body": "$previous"},
    ),
    "triggers": flow("a", triggers=[
        CRON, {"type": "cron", "schedule": "@daily"}, {"type": "webhook", "secret": "$secrets.HOOK"},
        {"type": "event", "event": "job.done", "condition": "$.status == 'done'"}, {"type": "manual"},
        {"type": "chat", "phrase": "prices"},
    ]),
    "whole numbers with a point": {
        "nodes": [{"id": "a", "type": "wait", "timeout_ms": 5.0, "retry": {"max_attempts": 2.0, "backoff_ms": 10.0}}],
        "edges": [],
    },
    "a filter by its row": _one("filter", condition="item.amount > 3 && $.stock > ctx.input.least"),
    "a loop with ways on": _loop(**GOOD, condition="$.left > 0", break_path=["end"], timeout_path="end"),
    "a loop whose limit is 3.0": _poll(**{**BACK, "max_iterations": 3.0}, delay_ms=10.0),
    "a loop before its body": _before(),
    "a way back that is drawn": _poll("again poll", **BACK),
    "a path at the limit only": _poll(late=True, **BACK, timeout_path="late"),
    "a loop's failure": _poll("again late on error", late=True, **BACK),
    "the two ways out of a loop that meet": _meeting(join={}, **BOTH),
    "the first of the two ways out": _meeting(join=ANY, **BOTH),
    "all behind one way out": _meeting(**BACK, break_path=["done", "late"]),
    "all behind what both ways out lead to": _meeting(
        **BACK, break_path=["done", "late"], timeout_path=["done", "late"]
    ),
}  # fmt: skip

Refused = tuple[str, Document, str | None, str]
"""The reason, the workflow, and the node and path that the first finding names."""


def _loops(key: str, *configs: dict[str, Any], reason: str = "loop-config") -> dict[str, Refused]:
    path = f"/nodes/2/config/{key}"
    return {f"a loop by {config}": (reason, _loop(**config), "again", path) for config in configs}


def _settings(kind: str, key: str, *texts: str) -> dict[str, Refused]:
    path = f"/nodes/0/config/{key}"
    return {f"a {kind} by {text!r}": ("condition", _one(kind, **{key: text}), "a", path) for text in texts}


def _edges(*texts: str) -> dict[str, Refused]:
    return {f"an edge if {text}": ("condition", _two(text), "a", "/edges/0/condition") for text in texts}


def _references(*texts: str) -> dict[str, Refused]:
    return {text: ("reference", _one("function", input=text), "a", "/nodes/0/config/input") for text in texts}


def _triggers(key: str, *triggers: dict[str, Any], reason: str = "trigger") -> dict[str, Refused]:
    return {f"a trigger by {one}": (reason, _started(**one), None, f"/triggers/0/{key}") for one in triggers}


REJECTED: dict[str, Refused] = {
    "two nodes with one id": ("duplicate-id", flow("a a"), "a", "/nodes/1/id"),
    "an edge to nowhere": ("dangling-edge", flow("a", "a b"), None, "/edges/0/to"),
    "an edge from nowhere": ("dangling-edge", flow("a", "b a"), None, "/edges/0/from"),
    **_loops(
        "loop_back_to", {}, *({"loop_back_to": there, "max_iterations": 3} for there in ("x", "again", "end"))
    ),
    **_loops("max_iterations", {"loop_back_to": "a"}, *({**GOOD, "max_iterations": most} for most in (0, True, 10**6))),
    **_loops("condition", {**GOOD, "condition": 5}),
    **_loops("break_path", {**GOOD, "break_path": "x"}, {**GOOD, "break_path": ["a"]}),
    **_loops("timeout_path", {**GOOD, "timeout_path": ["end", "x"]}, {**GOOD, "timeout_path": "a"}),
    **_loops("condition", {**GOOD, "condition": "left > 0"}, reason="condition"),
    "a loop before its body that breaks into it": (
        "loop-config", _before(break_path=["done", "poll"]), "again", "/nodes/1/config/break_path",
    ),
    **_edges("$.x >", "price > 1", "1 + 1"),
    **_settings("filter", "condition", "item.amount >", "amount > 3", "1 + 1", "", "event.kind == 'x'", "item.n * 2"),
    **_settings("transform", "expression", "output.amount *", "amount * 2", " ", "item.amount"),
    **_settings("wait", "condition", "item.amount > 1", "ctx.a > 1", "price >"),
    **_triggers("condition", {"type": "event", "event": "e", "condition": "x"}, reason="condition"),
    "a circle": ("cycle", flow("a b", "a b a"), "a", "/edges/1"),
    "an edge to itself": ("cycle", flow("a", "a a"), "a", "/edges/0"),
    "a loop's edge to itself": ("cycle", _loop("again again", **GOOD), "again", "/edges/3"),
    "a circle beside a loop": ("cycle", _loop("b a", **GOOD), "a", "/edges/3"),
    "a circle a loop does not name": (
        "cycle", _loop("again a", loop_back_to="b", max_iterations=2), "a", "/edges/3",
    ),
    "a loop that breaks to itself": ("cycle", _poll(**BACK, break_path="again"), "again", "/nodes/1/config/break_path"),
    "a loop that breaks into its body": (
        "cycle", _loop(**GOOD, timeout_path=["b"]), "b", "/nodes/2/config/timeout_path",
    ),
    "an edge into the loop from behind it": ("cycle", _poll("done again", **BACK), "again", "/edges/2"),
    "an edge from behind into a loop before its body": ("cycle", _before("done again"), "again", "/edges/4"),
    "a loop's failure that leads back": ("cycle", _poll("again poll on error", **BACK), "poll", "/edges/2"),
    "a failure into the body of a loop before it": ("cycle", _before("again poll on error"), "again", "/edges/4"),
    "a branch that is never taken": ("unreachable", _two("false"), "b", "/nodes/1"),
    "an edge of a loop beside its break_path": (
        "unreachable", _poll("again late", late=True, **BACK, break_path=["done"]), "late", "/nodes/3",
    ),
    "an edge of a loop beside both of its paths": (
        "unreachable", flow("poll again:loop done late more", "poll again more", again=BOTH), "more", "/nodes/4",
    ),
    "a node between loops that only steps back lead to": (
        "unreachable",
        flow("lost begin inner:loop outer:loop", "begin inner outer", "begin outer", "lost outer",
             inner={"loop_back_to": "lost", "max_iterations": 2}, outer={"loop_back_to": "inner", "max_iterations": 2}),
        "lost", "/nodes/0",
    ),
    "all behind branches": (
        "join", flow("pick:conditional a b end", "pick a if $.x", "pick b", "a end", "b end", end=ALL), "end",
        "/nodes/3/config/join",
    ),
    "all behind a branch and its shortcut": (
        "join", flow("pick:conditional a b end", "pick a if $.x", "pick b if $.y", "a end", "pick end", end=ALL), "end",
        "/nodes/3/config/join",
    ),
    "all behind a node and its failure": (
        "join", flow("a b c end", "a b end", "a c on error", "c end", end=ALL), "end", "/nodes/3/config/join",
    ),
    "all behind success and failure inside a loop": (
        "join",
        flow("begin again:loop poll done meet", "begin again poll again done", "poll meet", "poll meet on error",
             again=BACK, meet=ALL),
        "meet", "/nodes/4/config/join",
    ),
    "all with an edge that is never true": (
        "join", flow("a b meet", "a b", "a meet", "b meet if false", meet=ALL), "meet", "/nodes/2/config/join",
    ),
    **{
        f"all behind {about}": ("join", made, "meet", "/nodes/4/config/join")
        for about, made in (
            ("both ways out of a loop", _meeting(**BOTH)),
            ("a loop's edges and its limit", _meeting("again done", **BACK, timeout_path="late")),
            ("a loop and its failure", _meeting("again late on error", **BACK, break_path="done")),
            ("an edge of a loop beside its break_path", _meeting("again meet", **BACK, break_path=["done", "late"])),
        )
    },
    "a reference to nowhere": (
        "reference", _one("function", arguments={"x": {"y/y": ["$nodes.b.z"]}}), "a",
        "/nodes/0/config/arguments/x/y~1y/0",
    ),
    "a reference inside a text": (
        "reference", _one("notify", message="Hi ${$nodes.b.name}"), "a", "/nodes/0/config/message",
    ),
    "a reference to a later node": (
        "reference", flow("a b", "a b", a={"input": "$nodes.b"}), "a", "/nodes/0/config/input",
    ),
    **_references(
        "$nodes.a.x", "$nodes.b..c", "$secrets", "$nodes.a[x]", "Hi ${$nodes.a", "Hi ${$nope.a}", "$input.a b"
    ),
    **_triggers("schedule", {**CRON, "schedule": "61 * * * *"}, {**CRON, "schedule": "0 0 31 2 *"}),
    **_triggers("timezone", {**CRON, "timezone": "../../etc/passwd"}),
    **_triggers("secret", {"type": "webhook", "secret": "hunter2"}),
    "a key in a header": (
        "secret", _one("http", url="https://a.example", headers={"X-Api-Key": "hunter2"}), "a",
        "/nodes/0/config/headers/X-Api-Key",
    ),
    "a password in an address": (
        "secret", _one("http", url="https://me:hunter2@a.example"), "a", "/nodes/0/config/url",
    ),
    "a key in what starts it": (
        "secret", _started(**CRON, input={"api_key": "hunter2"}), None, "/triggers/0/input/api_key",
    ),
}  # fmt: skip
