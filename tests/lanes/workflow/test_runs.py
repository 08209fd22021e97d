"""Runs: the way through the graph, round loops and into joins, and what is on record of it."""

from __future__ import annotations

from typing import Any

from laneway.domain.workflow_run import NodeStatus, RunStatus
from laneway.lanes.workflow.checks import check
from tests.lanes.workflow.documents import steps
from tests.lanes.workflow.running_workflows import Workflows


async def test_a_run_walks_its_nodes_in_order_and_hands_values_on(flows: Workflows) -> None:
    made = steps(
        "first second",
        "first second",
        first={"set": {"price": "$input.price", "text": "now ${$input.price}"}},
        second={"expression": "output.price * 2"},
    )
    run = await flows.run(made, input={"price": 21})
    assert (run.status, run.output, run.ended_at) == (RunStatus.DONE, 42, ["second"])
    nodes = await flows.nodes(run)
    assert nodes["first"].output == {"price": 21, "text": "now 21"}
    assert nodes["first"].input == {"set": {"price": 21, "text": "now 21"}}
    kinds = [event.kind.removeprefix("workflow.") for event in await flows.events(run) if "workflow." in event.kind]
    assert kinds == ["run.started", *["node.started", "node.done"] * 2, "run.done"]
    assert nodes["second"].status is NodeStatus.DONE


async def test_what_runs_are_given_and_give_keeps_its_order(flows: Workflows) -> None:
    rows = [{"flight": "LH 1", "price": 80, "city": "Oslo"}]
    made = steps("all", all={"set": {"rows": "$input.rows", "from": "$input.from"}})
    run = await flows.run(made, input={"rows": rows, "from": "Rome"})
    record = (await flows.nodes(run))["all"]
    for value in (run.input, run.output, record.input["set"], record.output):
        assert (list(value), list(value["rows"][0])) == (["rows", "from"], ["flight", "price", "city"])


def branching(names: str, *ways: str) -> dict[str, Any]:
    """look → pick, and then the nodes named, each of which gives its name."""
    look = {"set": {"price": "$input.price"}}
    return steps(f"look pick:conditional {names}", "look pick", *ways, look=look)


async def test_the_first_true_rule_wins_and_an_edge_without_one_is_the_default(flows: Workflows) -> None:
    ways = ("pick cheap if $.price < 100", "pick fair if $.price < 200", "pick dear")
    made = branching("cheap fair dear after", *ways, "cheap after", "fair after", "dear after")
    workflow = await flows.store("flow", made)
    for price, branch in ((50, "cheap"), (150, "fair"), (500, "dear")):
        run = await flows.until(await flows.start(workflow, input={"price": price}))
        assert await flows.visits(run) == ["look", "pick", branch, "after"], price
        assert run.status is RunStatus.DONE


async def test_an_error_in_a_condition_is_neither_true_nor_false_and_stops_the_run(flows: Workflows) -> None:
    ways = ("pick cheap if $.cost < 100", "pick usual")
    run = await flows.run(branching("cheap usual", *ways), input={"price": 1})
    assert run.status is RunStatus.FAILED
    assert run.error is not None
    assert "`pick`" in run.error["message"]
    assert "$.cost < 100" in run.error["message"]
    assert await flows.visits(run) == ["look", "pick"]
    job = await flows.lane.job(run.job_id)
    assert (job.status, job.error and job.error["code"]) == ("failed", "workflow-stopped")
    caught = await flows.run(branching("cheap usual broken", *ways, "pick broken on error"), "b", input={"price": 1})
    assert (caught.status, caught.output) == (RunStatus.DONE, "broken")
    assert (await flows.nodes(caught))["pick"].error is not None


async def test_a_failed_node_takes_its_edge_for_errors_and_tells_what_happened(flows: Workflows) -> None:
    made = steps(
        "sum well ill",
        "sum well",
        "sum ill on error",
        sum={"expression": "output.missing + 1"},
        ill={"set": "failed: ${$nodes.sum.error.message}"},
    )
    run = await flows.run(made)
    assert run.status is RunStatus.DONE
    assert str(run.output).startswith("failed: The expression `output.missing + 1` failed")
    assert await flows.visits(run) == ["sum", "ill"]


async def test_a_join_waits_for_all_ways_that_can_still_come(flows: Workflows) -> None:
    made = steps(
        "start:parallel left right right2 both",
        "start left both",
        "start right right2 both",
        both={"set": ["$nodes.left", "$nodes.right2"]},
    )
    run = await flows.run(made)
    assert run.output == ["left", "right2"]
    assert (await flows.visits(run)).count("both") == 1


async def test_a_join_of_any_runs_once_at_the_first_and_one_of_all_not_behind_a_branch(flows: Workflows) -> None:
    made = steps(
        "start:conditional left right any all",
        "start left if output.way == 'left'",
        "start right any",
        "left any",
        "left all",
        "right all",
        any={"join": "any", "set": 1},
        all={"join": "all", "set": 1},
    )
    run = await flows.run(made, input={"way": "left"})
    assert run.status is RunStatus.DONE
    assert await flows.visits(run) == ["start", "left", "any"]


def working(most: float, *ways: str, **more: Any) -> dict[str, Any]:
    """A loop that counts to three; it sees its own earlier count through the context."""
    return steps(
        "begin work again:loop end" + " late" * ("timeout_path" in more),
        *ways,
        begin={"set": 0},
        work={"expression": "has(ctx.work) ? ctx.work + 1 : 1"},
        again={"loop_back_to": "work", "max_iterations": most, "condition": "!has(ctx.work) || ctx.work < 3", **more},
        end={"set": ["$nodes.work", "$nodes.again"]},
        late={"set": "late"},
    )


BEFORE, BEHIND = ("begin again work again", "again end"), ("begin work again end",)
PATHS = {"break_path": "end", "timeout_path": "late"}
DRAWN = ("begin work again", "again end", "again work if output.none > 1")
NESTED = steps(
    "out ask:loop work outer:loop end",
    "out ask work ask",
    "ask outer end",
    ask={"loop_back_to": "work", "max_iterations": 2},
    outer={"loop_back_to": "out", "max_iterations": 2},
    end={"set": "$nodes.ask.iterations"},
)
ENDED = {"iterations": 3, "value": 3, "again": False, "ended": "condition"}
THRICE, LATE = "begin" + " work again" * 3 + " end", "begin" + " work again" * 2 + " late"
LOOPS: dict[str, tuple[dict[str, Any], Any, str]] = {
    "before its body": (
        working(9, *BEFORE),
        [3, ENDED],
        "begin again" + " work again" * 3 + " end",
    ),
    "behind its body": (working(9, *BEHIND), [3, ENDED], THRICE),
    "to its limit": (working(2, *BEFORE), None, "begin again" + " work again" * 2 + " end"),
    "three rounds": (working(3, *BEHIND, condition="true"), None, "begin" + " work again" * 3 + " end"),
    "to its break path": (working(9, "begin work again", **PATHS), [3, ENDED], THRICE),
    "to its path at the limit": (working(2.0, "begin work again", delay_ms=10.0, **PATHS), "late", LATE),
    "drawn, and gone only as the loop says": (working(9, *DRAWN), [3, ENDED], THRICE),
    "before its body in a loop": (NESTED, 2, "out ask work ask work ask outer " * 2 + "end"),
}


async def test_a_loop_runs_as_it_is_drawn_and_never_beyond_its_limit(flows: Workflows) -> None:
    wrong = []
    for number, (about, (made, output, visits)) in enumerate(LOOPS.items()):
        assert check(made) == []
        run = await flows.end(made, f"flow{number}", input={})
        way = await flows.visits(run)
        if run.status is not RunStatus.DONE or run.output != (output or run.output) or way != visits.split():
            wrong.append(f"{about}: {run.output or run.error} by {way}")
    assert not wrong, "\n".join(wrong)


async def test_what_a_loop_or_a_reference_cannot_work_out_stops_the_run_and_is_named(flows: Workflows) -> None:
    told = await flows.error(working(5, *BEHIND, condition="output.nothing > 1"))
    assert "output.nothing > 1" in told
    nowhere = steps("a", a={"set": "$input.prices[2].x"})
    told = await flows.error(nowhere, "nowhere", input={"prices": [1]})
    assert "`$input.prices[2].x` leads nowhere: there is no `2`" in told


async def test_a_loop_with_a_pinned_output_ends_whatever_that_is(flows: Workflows) -> None:
    workflow = await flows.store("flow", working(3, *BEHIND))
    for pinned, rounds in ((5, 1), (None, 1), ([1], 1), ({}, 1), ({"again": False}, 1), ({"again": True}, 3)):
        order = {"test": True, "pinned": {"again": pinned}, "cause": {"type": "test"}}
        run = await flows.until(await flows.start(workflow, **order))
        assert (run.status, run.ended_at) == (RunStatus.DONE, ["end"]), run.error
        assert (await flows.visits(run)).count("work") == rounds, pinned


async def test_a_large_output_lies_in_an_artifact_and_is_handed_on_whole(flows: Workflows) -> None:
    rows = [{"n": n, "text": "x" * 50} for n in range(3000)]
    made = steps("rows count", "rows count", rows={"set": "$input.rows"}, count={"expression": "size(output)"})
    run = await flows.run(made, input={"rows": rows})
    assert run.output == 3000
    kept = (await flows.nodes(run))["rows"]
    assert kept.output["row_count"] == 3000
    assert kept.ref is not None
    assert (await flows.lane.app.artifacts.read(kept.ref)).content.startswith(b'[{"n":0')
