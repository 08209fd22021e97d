"""Recorded runs led through a changed workflow, and what a person sees of it before saying yes."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any
from uuid import UUID

from laneway.domain.job import JobStatus
from laneway.domain.workflow import Workflow
from laneway.domain.workflow_run import RunStatus
from laneway.lanes.workflow.patches import Patches
from laneway.lanes.workflow.preview import preview
from laneway.lanes.workflow.replaying import replayed
from tests.lanes.workflow.documents import add, edge, node, put
from tests.lanes.workflow.running_workflows import Workflows
from tests.lanes.workflow.stored_documents import CHAIN, CHOICE, SHOP


@dataclass(frozen=True)
class Run:
    """A run as the store records it."""

    id: str
    outputs: dict[str, Any]
    ended_at_nodes: list[str]
    status: str = "done"
    input: dict[str, Any] = field(default_factory=dict)
    version: int = 1
    previous: dict[str, Any] = field(default_factory=dict)


def priced(number: int, price: float) -> Run:
    came_to = "buy" if price < 100 else "wait"
    outputs = {"fetch": {"price": price}, "check": {"price": price}, came_to: {"ok": True}}
    return Run(f"r{number}", outputs, [came_to])


TEN = [priced(number, price) for number, price in enumerate((50, 79, 80, 85, 99, 100, 101, 150, 200, 500))]


def with_condition(text: str) -> dict[str, Any]:
    after = deepcopy(CHOICE)
    after["edges"][1]["condition"] = text
    return after


def chain(more: dict[str, Any], *ways: dict[str, Any], keep: bool = True) -> dict[str, Any]:
    """The chain with a node more, and its edges beside the old ones or instead of the last."""
    return {"nodes": [*CHAIN["nodes"], more], "edges": [*(CHAIN["edges"] if keep else CHAIN["edges"][:1]), *ways]}


def elsewhere(document: dict[str, Any]) -> dict[str, Any]:
    """The same, but its first step asks another address."""
    first = {**document["nodes"][0], "config": {"url": "https://other.example/price"}}
    return {**document, "nodes": [first, *document["nodes"][1:]]}


def ends(before: dict[str, Any], after: dict[str, Any], runs: list[Run]) -> list[str]:
    """How each run would end: as before, elsewhere, or nobody knows because of a step."""
    return [
        f"? {one.then.asks}" if one.unknown
        else f"{one.then.status} {'+'.join(sorted(one.then.nodes))}" if one.differs
        else "same"
        for one in replayed(before, after, runs)
    ]  # fmt: skip


WHOLE = Run("r", {"fetch": 1, "process": 1, "keep": 1}, ["keep"])
PRICED = [Run(f"r{p}", {"fetch": 1, "process": {"price": p}, "keep": 1}, ["keep"]) for p in (5, 50)]
ALARM = chain(node("alarm", "notify", channel="owner", message="x"), edge("process", "alarm", on="error"))
ASKED = (edge("process", "may_it"), edge("may_it", "keep", 'output.decision == "approved"'))
CHECKED = (edge("process", "check"), edge("check", "keep", "output.price > 10"))
BROKE = {"error": {"message": "It broke.", "code": "node-failed", "node": "process"}}
CAUGHT = Run("r", {"fetch": 1, "process": BROKE, "alarm": 1}, ["alarm"])
NO_KEY = {"error": {"message": "No such key.", "code": "condition", "node": "check"}}
ERRED = [Run("r", {"fetch": {}, "check": it}, ["check"], status="failed") for it in ({}, NO_KEY)]
DROPS = "output.price < 100 && !(has(ctx.previous.fetch) && ctx.previous.fetch.price < 100)"
WAS_CHEAP = "has(ctx.previous.fetch) && ctx.previous.fetch.price < 100"
# Each of these is dearer than the one before it.
AFTER_ANOTHER = [replace(run, previous=dict(last.outputs)) for last, run in pairwise(TEN)]
BEFORE_AND_AFTER: dict[str, tuple[dict[str, Any], dict[str, Any], list[Run], list[str]]] = {
    "a flipped branch": (
        CHOICE, with_condition("output.price < 80"), TEN, ["same"] * 2 + ["done wait"] * 3 + ["same"] * 5,
    ),
    "a change that touches no way": (
        CHAIN, {**CHAIN, "nodes": [*CHAIN["nodes"][:2], {**CHAIN["nodes"][2], "timeout_ms": 5000}]}, [WHOLE], ["same"],
    ),
    "a step more at the end": (CHAIN, chain(node("tell", "notify"), edge("keep", "tell")), [WHOLE], ["done tell"]),
    "a condition on what a new step would give": (
        CHAIN, chain(node("may_it", "hitl", message="May it?"), *ASKED, keep=False), [WHOLE], ["? may_it"],
    ),
    # A check hands on what it was given, and nobody knows what that would be now.
    "a changed step that a condition asks for": (CHOICE, elsewhere(CHOICE), TEN, ["? check"] * 10),
    "a changed step that no condition asks for": (CHAIN, elsewhere(CHAIN), [WHOLE], ["same"]),
    "a new error edge": (
        CHAIN, ALARM, [Run("bad", {"fetch": 1}, ["process"], status="failed"), WHOLE], ["done alarm", "same"],
    ),
    "a failure that was caught": (ALARM, {**ALARM, "metadata": {"name": "x"}}, [CAUGHT], ["same"]),
    "an error edge that is gone": (ALARM, CHAIN, [CAUGHT], ["failed process"]),
    # It is neither true nor false; what the check was given is on record where the rest was lost to an error, too.
    "a condition that erred": (
        CHOICE, with_condition("has(output.price) && output.price < 100"), ERRED, ["done wait"] * 2,
    ),
    "a new conditional": (
        CHAIN, chain(node("check", "conditional"), *CHECKED, keep=False), PRICED, ["done check", "same"],
    ),
    "runs that were stopped": (CHOICE, with_condition("false"), [Run("r", {}, [], status="cancelled")], []),
    "a condition on the run before": (
        CHOICE, with_condition(DROPS), [TEN[0], *AFTER_ANOTHER], ["same"] + ["done wait"] * 4 + ["same"] * 5,
    ),
    "what a changed step gave before": (
        elsewhere(CHOICE), {**with_condition(WAS_CHEAP), "nodes": CHOICE["nodes"]}, AFTER_ANOTHER[:1], ["? fetch"],
    ),
    "the input": (CHOICE, with_condition("ctx.input.much"), [replace(TEN[9], input={"much": True})], ["done buy"]),
}  # fmt: skip


def test_exactly_the_runs_that_would_have_ended_differently_are_found() -> None:
    wrong = [
        f"{about}: {found} and not {wanted}"
        for about, (before, after, runs, wanted) in BEFORE_AND_AFTER.items()
        if (found := ends(before, after, runs)) != wanted
    ]
    assert not wrong, "\n".join(wrong)


NOW = datetime(2026, 1, 1, tzinfo=UTC)
CHEAPER = [put("/edges/@check->buy/condition", "output.price < 80")]


def stored(document: dict[str, Any]) -> Workflow:
    return Workflow(UUID(int=1), 1, UUID(int=2), "shop", 4, deepcopy(document), NOW, NOW)


def test_what_cannot_be_told_is_said_to_be_so() -> None:
    ask = [
        add("/nodes/-", node("may_i", "hitl", message="May I?")),
        put("/edges/@check->buy/to", "may_i"),
        add("/edges/-", edge("may_i", "buy", 'output.decision == "approved"')),
    ]
    found = preview(Patches().propose(stored(CHOICE), "shop", ask, "You are asked."), TEN)
    assert [one.document()["differs"] for one in found.replays if one.unknown] == [None] * 5
    text = found.text(valid_until=NOW)
    assert "It is undone by itself on 2026-01-01 at 00:00 UTC." in text
    assert "Of 5 it cannot be told from here: it depends on `may_i`." in text


async def test_ten_real_runs_and_a_patch_that_flips_three_of_them(flows: Workflows) -> None:
    """The question names exactly the three runs of ten that would have ended elsewhere, before anything is stored."""
    workflow = await flows.store("shop", SHOP)
    prices = (50, 79, 80, 85, 99, 100, 101, 150, 200, 500)
    runs = [await flows.until(await flows.start(workflow, input={"price": one}), RunStatus.DONE) for one in prices]
    change = {"patch": {"workflow_tag": "shop", "operations": CHEAPER, "description": "Only below 80 is bought."}}
    receipt = await flows.lane.send("only below 80", lane="workflow", payload=change)
    await flows.lane.until(receipt.job_id, JobStatus.WAITING)
    text = (await flows.lane.replies(receipt.message_id))[-1].text
    for part in (
        "May I change workflow `shop`, version 1?", "Only below 80 is bought.", "output.price < 80",
        "Of the last 10 runs, 3 would have ended differently.", "```mermaid\nflowchart TD",
    ):  # fmt: skip
        assert part in text
    named = [line.split()[2].rstrip(":") for line in text.splitlines() if line.startswith("- run")]
    assert sorted(named) == sorted(str(runs[number].id) for number in (2, 3, 4))
