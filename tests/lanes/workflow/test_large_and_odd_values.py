"""Large documents and outputs hold up nobody else, and numbers that no column holds stop a node and not the job."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable
from typing import Any

import pytest
from starlette.responses import Response

from laneway.domain.workflow_run import RunStatus
from laneway.lanes.workflow.conditions import ROW_NAMES, compiled
from laneway.lanes.workflow.patches import Patches
from tests.lanes.workflow.running_workflows import Workflows, document, node
from tests.servers.pages import Pages


async def turns_during(work: Awaitable[Any]) -> int:
    """How often another task had its turn while this was done."""
    turns = 0

    async def count() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    other = asyncio.create_task(count())
    await asyncio.sleep(0)
    before = turns
    await work
    other.cancel()
    return turns - before


async def test_checking_a_large_document_lets_others_go_on() -> None:
    nodes = [node(f"n{number}", "conditional") for number in range(150)]
    edges = [{"from": f"n{n}", "to": f"n{n + 1}", "condition": f"$.turns_{n} < {n}"} for n in range(149)]
    whole = [{"op": "replace", "path": "", "value": document(nodes, edges)}]
    assert await turns_during(Patches().proposed(None, "large", whole, "Made.")) > 5


@pytest.mark.alone
async def test_a_condition_over_many_rows_lets_others_go_on(flows: Workflows) -> None:
    rows = [{"n": number} for number in range(60_000)]
    # The loop's own time at a processor: how long others kept it from one says nothing about us.
    condition, began = compiled("item.n % 2 == 0", ROW_NAMES), time.thread_time()
    assert sum(condition.value(row, {}, item=row) is True for row in rows) == 30_000
    at_a_stretch, longest = time.thread_time() - began, 0.0
    made = document([node("keep", "filter", {"condition": condition.text, "input": "$input.rows"})])
    run_id = await flows.start(await flows.store("flow", made), input={"rows": rows})

    async def watch() -> None:
        nonlocal longest
        while True:
            began = time.thread_time()
            await asyncio.sleep(0.005)
            longest = max(longest, time.thread_time() - began)

    watching = asyncio.create_task(watch())
    run = await flows.until(run_id)
    watching.cancel()
    assert run.status is RunStatus.DONE, run.error
    assert longest < at_a_stretch / 2


@pytest.mark.parametrize(
    "number", ["NaN", "1e999", "-Infinity", "123456789012345678901234567890", "[" * 300 + "]" * 300, "[" * 200_000]
)
async def test_numbers_that_no_column_holds_come_through_or_fail_the_node(
    flows: Workflows, pages: Pages, number: str
) -> None:
    pages.pages["/odd"] = Response(f'{{"n": {number}}}', media_type="application/json")
    made = document(
        [node("get", "http", {"url": f"{pages.url}/odd"}), node("end", "transform", {"set": "$nodes.get.n"})]
    )
    made["edges"] = [{"from": "get", "to": "end"}]
    run = await flows.until(await flows.start(await flows.store("flow", made)), seconds=20)
    assert run.status in (RunStatus.DONE, RunStatus.FAILED)
    assert (await flows.nodes(run))["get"].ended
    assert len(pages.visits) == 1


async def test_what_a_node_was_given_is_on_record_once_and_not_again_at_every_node(flows: Workflows) -> None:
    rows = [{"n": number, "text": "x" * 50} for number in range(5_000)]
    pipe = {"plan": {"steps": [{"do": "limit", "count": 4_000}]}, "input": "$input.rows"}
    made = document(
        [node("pipe", "pipeline", pipe), node("end", "transform", {"set": "$nodes.pipe.rows"})], ["pipe end"]
    )
    run = await flows.run(made, input={"rows": rows})
    assert run.status is RunStatus.DONE, run.error
    async with flows.lane.app.db.transaction() as tx:
        found = await tx.execute(
            "SELECT (SELECT max(length(input::text)) FROM workflow_nodes), (SELECT max(length(e::text)) FROM events e)"
        )
        row = await found.fetchone()
    assert row is not None
    assert max(row) < 100_000
    kept = (await flows.nodes(run))["pipe"].input
    assert kept["input"]["row_count"] == 5_000
