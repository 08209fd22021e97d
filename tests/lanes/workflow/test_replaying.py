"""Recorded runs led through a changed workflow: exactly those that would have ended differently are found."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import Any

from laneway.lanes.workflow.replaying import replayed
from tests.lanes.workflow.stored_documents import CHAIN, CHOICE


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


def test_a_flipped_branch_lists_exactly_the_runs_that_take_another_way() -> None:
    found = replayed(CHOICE, with_condition("output.price < 80"), TEN)
    assert [one.run for one in found if one.differs] == ["r2", "r3", "r4"]
    assert not any(one.unknown for one in found)
    assert found[2].now.nodes == {"buy"}
    assert found[2].then.nodes == {"wait"}


def test_a_change_that_touches_no_way_lists_nothing() -> None:
    after = deepcopy(CHOICE)
    after["nodes"][0]["timeout_ms"] = 5000
    after["nodes"][2]["config"]["message"] = "Buy now."
    assert not any(one.differs or one.unknown for one in replayed(CHOICE, after, TEN))


def test_a_step_more_at_the_end_is_another_end() -> None:
    after = deepcopy(CHAIN)
    after["nodes"].append({"id": "tell", "type": "notify", "config": {"channel": "owner", "message": "x"}})
    after["edges"].append({"from": "keep", "to": "tell"})
    run = Run("r", {"fetch": 1, "process": 1, "keep": 1}, ["keep"])
    (found,) = replayed(CHAIN, after, [run])
    assert found.differs
    assert found.then.nodes == {"tell"}


def test_a_condition_on_what_a_new_step_would_give_cannot_be_told() -> None:
    after = deepcopy(CHAIN)
    after["nodes"].append({"id": "may_it", "type": "hitl", "config": {"message": "May it?"}})
    after["edges"] = [
        {"from": "fetch", "to": "process"}, {"from": "process", "to": "may_it"},
        {"from": "may_it", "to": "keep", "condition": 'output.decision == "approved"'},
    ]  # fmt: skip
    (found,) = replayed(CHAIN, after, [Run("r", {"fetch": 1, "process": 1, "keep": 1}, ["keep"])])
    assert found.unknown
    assert found.then.asks == "may_it"
    assert found.document()["differs"] is None


def test_a_changed_step_is_unknown_only_where_a_condition_asks_for_it() -> None:
    elsewhere = deepcopy(CHOICE)
    elsewhere["nodes"][0]["config"]["url"] = "https://other.example/price"
    # The check hands on what it was given, and nobody knows what that would be now.
    assert {one.then.asks for one in replayed(CHOICE, elsewhere, TEN)} == {"check"}
    assert all(one.unknown for one in replayed(CHOICE, elsewhere, TEN))
    chain = deepcopy(CHAIN)
    chain["nodes"][0]["config"]["url"] = "https://other.example/price"
    (found,) = replayed(CHAIN, chain, [Run("r", {"fetch": 1, "process": 1, "keep": 1}, ["keep"])])
    assert not found.unknown
    assert not found.differs


def test_a_failed_run_would_take_a_new_error_edge() -> None:
    after = deepcopy(CHAIN)
    after["nodes"].append({"id": "alarm", "type": "notify", "config": {"channel": "owner", "message": "x"}})
    after["edges"].append({"from": "process", "to": "alarm", "on": "error"})
    failed = Run("bad", {"fetch": 1}, ["process"], status="failed")
    good = Run("good", {"fetch": 1, "process": 1, "keep": 1}, ["keep"])
    found = replayed(CHAIN, after, [failed, good])
    assert [one.run for one in found if one.differs] == ["bad"]
    assert found[0].now.status == "failed"
    assert (found[0].then.status, found[0].then.nodes) == ("done", frozenset({"alarm"}))


def test_a_node_that_failed_and_was_caught_takes_its_error_edge_again() -> None:
    caught = deepcopy(CHAIN)
    caught["nodes"].append({"id": "alarm", "type": "notify", "config": {"channel": "owner", "message": "x"}})
    caught["edges"].append({"from": "process", "to": "alarm", "on": "error"})
    fault = {"error": {"message": "It broke.", "code": "node-failed", "node": "process"}}
    run = Run("r", {"fetch": 1, "process": fault, "alarm": 1}, ["alarm"])
    without = deepcopy(CHAIN)
    (same,) = replayed(caught, {**caught, "metadata": {"name": "x"}}, [run])
    assert (same.differs, same.then.nodes) == (False, frozenset({"alarm"}))
    (gone,) = replayed(caught, without, [run])
    assert (gone.then.status, gone.then.nodes) == ("failed", frozenset({"process"}))


def test_other_conditions_on_what_was_lost_to_an_error_cannot_be_told() -> None:
    fault = {"error": {"message": "No such key.", "code": "condition", "node": "check"}}
    run = Run("r", {"fetch": {}, "check": fault}, ["check"], status="failed")
    (found,) = replayed(CHOICE, with_condition("has(output.price) && output.price < 80"), [run])
    # A check hands on what it was given, and that is on record.
    assert (found.now.status, found.then.status, found.then.nodes) == ("failed", "done", frozenset({"wait"}))


def test_a_condition_that_errs_is_neither_true_nor_false() -> None:
    run = Run("r", {"fetch": {}, "check": {}, "buy": 1}, ["check"], status="failed")
    guarded = with_condition("has(output.price) && output.price < 100")
    (found,) = replayed(CHOICE, guarded, [run])
    assert found.now.status == "failed"
    assert (found.then.status, found.then.nodes) == ("done", frozenset({"wait"}))


def test_a_new_conditional_hands_on_what_was_recorded_before_it() -> None:
    after = deepcopy(CHAIN)
    after["nodes"].append({"id": "check", "type": "conditional", "config": {}})
    after["edges"] = [
        {"from": "fetch", "to": "process"}, {"from": "process", "to": "check"},
        {"from": "check", "to": "keep", "condition": "output.price > 10"},
    ]  # fmt: skip
    runs = [Run(f"r{p}", {"fetch": 1, "process": {"price": p}, "keep": 1}, ["keep"]) for p in (5, 50)]
    assert [one.run for one in replayed(CHAIN, after, runs) if one.differs] == ["r5"]


def test_runs_that_were_stopped_tell_nothing() -> None:
    assert replayed(CHOICE, with_condition("output.price < 80"), [Run("r", {}, [], status="cancelled")]) == []


DROPS = "output.price < 100 && !(has(ctx.previous.fetch) && ctx.previous.fetch.price < 100)"


def test_a_condition_on_the_run_before_is_judged_by_what_that_run_gave() -> None:
    runs = [
        replace(run, previous=dict(before.outputs)) for run, before in zip(TEN[1:], TEN[:-1], strict=True)
    ]  # each is dearer than the one before
    found = replayed(CHOICE, with_condition(DROPS), [TEN[0], *runs])
    assert [one.run for one in found if one.differs] == ["r1", "r2", "r3", "r4"]
    assert not any(one.unknown for one in found)


def test_what_a_changed_step_would_have_given_before_cannot_be_told() -> None:
    after = with_condition("has(ctx.previous.fetch) && ctx.previous.fetch.price < 100")
    after["nodes"][0] = {**after["nodes"][0], "config": {"url": "https://elsewhere.example/"}}
    run = replace(TEN[0], previous=dict(TEN[1].outputs))
    [found] = replayed(CHOICE, after, [run])
    assert (found.unknown, found.then.asks) == (True, "fetch")


def test_the_input_is_known_to_conditions() -> None:
    run = replace(TEN[9], input={"much": True})
    [found] = replayed(CHOICE, with_condition("ctx.input.much"), [run])
    assert (found.differs, found.then.nodes) == (True, frozenset({"buy"}))
