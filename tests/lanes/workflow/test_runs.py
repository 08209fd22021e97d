"""Runs: the way through the graph, and what is on record of it."""

from __future__ import annotations

from typing import Any

from laneway.domain.workflow_run import RUN_ENDED, NodeStatus, RunStatus
from laneway.lanes.workflow.checks import check
from tests.lanes.workflow.running_workflows import Workflows, document, node


async def test_a_run_walks_its_nodes_in_order_and_hands_values_on(flows: Workflows) -> None:
    made = document(
        [
            node("first", "transform", {"set": {"price": "$input.price", "text": "now ${$input.price}"}}),
            node("second", "transform", {"expression": "output.price * 2"}),
        ],
        ["first second"],
    )
    run = await flows.run(made, input={"price": 21})
    assert (run.status, run.output, run.ended_at) == (RunStatus.DONE, 42, ["second"])
    nodes = await flows.nodes(run)
    assert nodes["first"].output == {"price": 21, "text": "now 21"}
    assert nodes["first"].input == {"set": {"price": 21, "text": "now 21"}}
    kinds = [event.kind for event in await flows.events(run) if event.kind.startswith("workflow.")]
    assert kinds == [
        "workflow.run.started", "workflow.node.started", "workflow.node.done", "workflow.node.started",
        "workflow.node.done", "workflow.run.done",
    ]  # fmt: skip
    assert nodes["second"].status is NodeStatus.DONE


async def test_what_runs_are_given_and_give_keeps_its_order(flows: Workflows) -> None:
    rows = [{"flight": "LH 1", "price": 80, "city": "Oslo"}]
    made = document([node("all", "transform", {"set": {"rows": "$input.rows", "from": "$input.from"}})])
    run = await flows.run(made, input={"rows": rows, "from": "Rome"})
    record = (await flows.nodes(run))["all"]
    for value in (run.input, run.output, record.input["set"], record.output):
        assert (list(value), list(value["rows"][0])) == (["rows", "from"], ["flight", "price", "city"])


def branching(*edges: object) -> dict[str, object]:
    told = str(edges)
    names = [name for name in ("cheap", "usual", "broken", "after") if name in told]
    nodes = [node("look", "transform", {"set": {"price": "$input.price"}}), node("pick", "conditional")]
    nodes += [node(name, "transform", {"set": name}) for name in names]
    return document(nodes, ["look pick", *edges])


async def test_the_first_true_rule_wins_and_an_edge_without_one_is_the_default(flows: Workflows) -> None:
    made = branching(
        {"from": "pick", "to": "cheap", "condition": "$.price < 100"},
        {"from": "pick", "to": "broken", "condition": "$.price < 200"},
        {"from": "pick", "to": "usual"},
        "cheap after", "broken after", "usual after",
    )  # fmt: skip
    workflow = await flows.store("flow", made)
    for price, branch in ((50, "cheap"), (150, "broken"), (500, "usual")):
        run = await flows.until(await flows.start(workflow, input={"price": price}))
        assert await flows.visits(run) == ["look", "pick", branch, "after"], price
        assert run.status is RunStatus.DONE


async def test_an_error_in_a_condition_is_neither_true_nor_false_and_stops_the_run(flows: Workflows) -> None:
    made = branching({"from": "pick", "to": "cheap", "condition": "$.cost < 100"}, {"from": "pick", "to": "usual"})
    run = await flows.run(made, input={"price": 1})
    assert run.status is RunStatus.FAILED
    assert run.error is not None
    assert "`pick`" in run.error["message"]
    assert "$.cost < 100" in run.error["message"]
    assert await flows.visits(run) == ["look", "pick"]
    job = await flows.lane.job(run.job_id)
    assert (job.status, job.error and job.error["code"]) == ("failed", "workflow-stopped")


async def test_an_error_in_a_condition_takes_the_edge_for_errors(flows: Workflows) -> None:
    made = branching(
        {"from": "pick", "to": "cheap", "condition": "$.cost < 100"}, {"from": "pick", "to": "usual"},
        {"from": "pick", "to": "broken", "on": "error"},
    )  # fmt: skip
    run = await flows.run(made, input={"price": 1})
    assert (run.status, run.output) == (RunStatus.DONE, "broken")
    assert (await flows.nodes(run))["pick"].error is not None


async def test_a_failed_node_takes_its_edge_for_errors_and_tells_what_happened(flows: Workflows) -> None:
    made = document(
        [
            node("sum", "transform", {"expression": "output.missing + 1"}),
            node("well", "transform", {"set": "well"}),
            node("ill", "transform", {"set": "failed: ${$nodes.sum.error.message}"}),
        ],
        ["sum well", {"from": "sum", "to": "ill", "on": "error"}],
    )
    run = await flows.run(made)
    assert run.status is RunStatus.DONE
    assert str(run.output).startswith("failed: The expression `output.missing + 1` failed")
    assert await flows.visits(run) == ["sum", "ill"]


async def test_a_join_waits_for_all_ways_that_can_still_come(flows: Workflows) -> None:
    made = document(
        [
            node("start", "parallel"),
            node("left", "transform", {"set": "l"}),
            node("right", "transform", {"set": "r"}),
            node("right2", "transform", {"set": "r2"}),
            node("both", "transform", {"set": ["$nodes.left", "$nodes.right2"]}),
        ],
        ["start left", "start right", "right right2", "left both", "right2 both"],
    )
    run = await flows.run(made)
    assert run.output == ["l", "r2"]
    assert (await flows.visits(run)).count("both") == 1


async def test_a_join_of_any_runs_once_at_the_first_and_one_of_all_not_behind_a_branch(flows: Workflows) -> None:
    made = document(
        [
            node("start", "conditional"),
            node("left", "transform", {"set": "l"}),
            node("right", "transform", {"set": "r"}),
            node("any", "transform", {"join": "any", "set": "any"}),
            node("all", "transform", {"join": "all", "set": "all"}),
        ],
        [
            {"from": "start", "to": "left", "condition": "output.way == 'left'"},
            {"from": "start", "to": "right"},
            "left any", "right any", "left all", "right all",
        ],
    )  # fmt: skip
    run = await flows.run(made, input={"way": "left"})
    assert run.status is RunStatus.DONE
    assert await flows.visits(run) == ["start", "left", "any"]


def counting(most: int, **more: object) -> dict[str, Any]:
    """A loop that counts up; it sees its own earlier count through the context."""
    limit = [node("limit", "transform", {"set": "limit at ${$nodes.count.n}"})] if "timeout_path" in more else []
    return document(
        [
            node("begin", "transform", {"set": {"n": 0}}),
            node("count", "transform", {"expression": "has(ctx.again) ? {'n': ctx.again.value.n + 1} : {'n': 1}"}),
            node("again", "loop", {"loop_back_to": "count", "max_iterations": most, **more}),
            node("broke", "transform", {"set": "broke at ${$nodes.count.n}"}),
            *limit,
        ],
        ["begin count", "count again"],
    )


async def test_a_loop_goes_back_while_its_condition_is_true(flows: Workflows) -> None:
    made = counting(10, condition="output.n < 4", break_path=["broke"], timeout_path=["limit"])
    run = await flows.run(made)
    assert (run.status, run.output) == (RunStatus.DONE, "broke at 4")
    assert (await flows.visits(run)).count("count") == 4
    assert (await flows.nodes(run))["again"].output["ended"] == "condition"
    assert (await flows.nodes(run))["again"].output["iterations"] == 3


async def test_a_loop_that_reaches_its_limit_takes_the_path_for_that(flows: Workflows) -> None:
    run = await flows.run(counting(2, condition="output.n < 100", break_path="broke", timeout_path="limit"))
    assert (run.output, (await flows.visits(run)).count("count")) == ("limit at 3", 3)
    assert (await flows.nodes(run))["again"].output["iterations"] == 2, "never more than max_iterations"


async def test_a_limit_of_2_0_is_one_of_2(flows: Workflows) -> None:
    made = counting(2, condition="output.n < 100", break_path="broke", timeout_path="limit")
    made["nodes"][2]["config"] |= {"max_iterations": 2.0, "delay_ms": 10.0}
    run = await flows.until(await flows.start(await flows.store("flow", made)), *RUN_ENDED)
    assert (run.output, (await flows.visits(run)).count("count")) == ("limit at 3", 3)


async def test_the_way_back_of_a_loop_may_be_drawn_and_is_gone_only_as_the_loop_says(flows: Workflows) -> None:
    made = counting(10, condition="output.n < 4")
    made["edges"] += [
        {"from": "again", "to": "broke"},
        {"from": "again", "to": "count", "condition": "output.none > 1"},
    ]
    assert check(made) == []
    run = await flows.run(made)
    assert (run.status, run.output) == (RunStatus.DONE, "broke at 4"), run.error


async def test_a_loop_whose_condition_fails_stops_the_run(flows: Workflows) -> None:
    run = await flows.run(counting(5, condition="output.nothing > 1", break_path="broke"))
    assert run.status is RunStatus.FAILED
    assert run.error is not None
    assert "output.nothing > 1" in run.error["message"]


async def test_a_reference_that_leads_nowhere_is_named(flows: Workflows) -> None:
    run = await flows.run(document([node("a", "transform", {"set": "$input.prices[2].x"})]), input={"prices": [1]})
    assert run.error is not None
    assert "`$input.prices[2].x` leads nowhere: there is no `2`" in run.error["message"]


async def test_a_large_output_lies_in_an_artifact_and_is_handed_on_whole(flows: Workflows) -> None:
    rows = [{"n": n, "text": "x" * 50} for n in range(3000)]
    made = document(
        [node("rows", "transform", {"set": "$input.rows"}), node("count", "transform", {"expression": "size(output)"})],
        ["rows count"],
    )
    run = await flows.run(made, input={"rows": rows})
    assert run.output == 3000
    kept = (await flows.nodes(run))["rows"]
    assert kept.output["row_count"] == 3000
    assert kept.ref is not None
    assert (await flows.lane.app.artifacts.read(kept.ref)).content.startswith(b'[{"n":0')
