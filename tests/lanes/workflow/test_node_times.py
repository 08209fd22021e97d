"""`timeout_ms` holds for one attempt of every type of node that works by itself, and `retry` tries it again."""

from __future__ import annotations

from typing import Any

import pytest

from laneway.domain.workflow_run import RunStatus
from laneway.store import workflow_runs
from tests.lanes.workflow.running_workflows import Workflows, document, node

LONG = "size(output) > 0"
"""Takes a while over very many numbers, which are all handed to it."""
ROWS = [{"n": number, "text": "x" * 20} for number in range(30_000)]


def looping(**more: Any) -> dict[str, Any]:
    config = {"loop_back_to": "begin", "max_iterations": 2, "condition": LONG, "input": "$input.numbers"}
    return document([node("begin", "transform", {"set": 1}), node("long", "loop", config, **more)], ["begin long"])


@pytest.mark.parametrize(
    "made",
    [
        document([node("long", "transform", {"expression": LONG, "input": "$input.numbers"}, timeout_ms=5)]),
        document([node("long", "filter", {"condition": "item.n % 2 == 0", "input": "$input.rows"}, timeout_ms=20)]),
        document([node("long", "filter", {"where": {"column": "n", "op": ">", "value": 5}, "input": "$input.rows"},
                       timeout_ms=1)]),
        document([node("long", "aggregate", {"do": "median", "column": "n", "input": "$input.rows"}, timeout_ms=1)]),
        looping(timeout_ms=5),
    ],
    ids=["transform", "filter", "where", "aggregate", "loop"],
)  # fmt: skip
async def test_a_node_that_computes_too_long_fails_and_says_so(flows: Workflows, made: dict[str, Any]) -> None:
    given = {"numbers": list(range(100_000))} if "numbers" in str(made) else {"rows": ROWS[:20_000]}
    run = await flows.run(made, input=given)
    assert run.status is RunStatus.FAILED
    assert run.error is not None
    assert "took longer than 0.0" in run.error["message"]


async def test_it_is_tried_again_and_takes_its_edge_for_errors(flows: Workflows) -> None:
    config = {"condition": "item.n % 2 == 0", "input": "$input.rows"}
    late = node("late", "filter", config, timeout_ms=20, retry={"max_attempts": 3, "backoff_ms": 1})
    made = document([late, node("caught", "transform", {"set": "$nodes.late.error.message"})], [
        {"from": "late", "to": "caught", "on": "error"}
    ])  # fmt: skip
    run = await flows.run(made, input={"rows": ROWS[:20_000]})
    assert (run.status, run.output) == (RunStatus.DONE, "It took longer than 0.02 seconds.")
    assert (await flows.nodes(run))["late"].attempts == 3


async def test_pauses_grow_by_their_factor_and_a_long_one_is_a_row(flows: Workflows) -> None:
    retry = {"max_attempts": 4, "backoff_ms": 50, "backoff_multiplier": 2000}
    config = {"condition": "item.n % 2 == 0", "input": "$input.rows"}
    made = document([node("late", "filter", config, timeout_ms=20, retry=retry)])
    run = await flows.run(made, input={"rows": ROWS[:20_000]})
    assert run.status is RunStatus.WAITING
    told = [event.body["seconds"] for event in await flows.events(run) if event.kind == "workflow.node.retrying"]
    assert told == [0.05, 100.0]


async def test_in_time_it_gives_what_it_gives(flows: Workflows) -> None:
    made = document([node("keep", "filter", {"condition": "item.n < 3", "input": "$input.rows"}, timeout_ms=20_000)])
    run = await flows.run(made, input={"rows": ROWS[:500]})
    assert run.output["count"] == 3


async def test_a_sub_workflow_that_takes_too_long_is_cancelled(flows: Workflows) -> None:
    await flows.store("slow", document([node("sleep", "wait", {"seconds": 3600})]))
    outer = document([node("call", "subworkflow", {"workflow": "slow"}, timeout_ms=700)])
    workflow = await flows.store("outer", outer)
    run = await flows.until(await flows.start(workflow), RunStatus.FAILED)
    assert run.error is not None
    assert "took longer than 0.7 seconds" in run.error["message"]
    async with flows.lane.app.db.transaction() as tx:
        [child] = await workflow_runs.children(tx, run.id)
    assert child.status is RunStatus.CANCELLED


async def test_a_question_expires_and_an_event_does_not_come_in_time(flows: Workflows) -> None:
    asked = document([node("ask", "hitl", {"message": "?"}, timeout_ms=60_000)])
    run = await flows.run(asked)
    question = await flows.asked(run)
    assert 50 <= (question.deadline - question.created_at).total_seconds() <= 70
    waits = document([node("hear", "wait", {"event": "never.comes"}, timeout_ms=500)])
    late = await flows.until(await flows.start(await flows.store("waits", waits)), RunStatus.FAILED)
    assert late.error is not None
    assert "No event `never.comes` came in time." in late.error["message"]


async def test_no_limit_of_its_own_and_a_limit_beyond_all_calendars_let_a_node_wait(flows: Workflows) -> None:
    for number, limit in enumerate((0, 10**15)):
        waits = document([node("hear", "wait", {"event": "never.comes"}, timeout_ms=limit)])
        run = await flows.run(waits, f"waits-{number}")
        assert run.status is RunStatus.WAITING, run.error
        asks = document([node("ask", "hitl", {"message": "?"}, timeout_ms=limit)])
        asked = await flows.run(asks, f"asks-{number}")
        assert asked.status is RunStatus.WAITING, asked.error
        await flows.asked(asked)


async def test_a_wait_that_no_calendar_has_a_day_for_fails_clearly(flows: Workflows) -> None:
    made = document([node("rest", "wait", {"seconds": "$input.seconds"})])
    workflow = await flows.store("flow", made)
    for seconds in (1e13, 1e300):
        run = await flows.until(await flows.start(workflow, input={"seconds": seconds}))
        assert run.status is RunStatus.FAILED
        assert run.error is not None
        assert "more than a year" in run.error["message"]
