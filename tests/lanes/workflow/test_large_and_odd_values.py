"""Large documents and outputs hold up nobody else, and numbers that no column holds stop a node and not the job."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import Any

from starlette.responses import Response

from laneway.domain.workflow_run import RunStatus
from laneway.lanes.workflow.patches import Patches
from tests.lanes.workflow.documents import flow, put, steps
from tests.lanes.workflow.running_workflows import Workflows
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


async def test_a_large_document_lets_others_go_on() -> None:
    names = [f"n{number}:conditional" for number in range(150)]
    ways = [f"n{n} n{n + 1} if $.turns_{n} < {n}" for n in range(149)]
    whole = [put("", flow(" ".join(names), *ways))]
    assert await turns_during(Patches().proposed(None, "large", whole, "Made.")) > 5


ODD = ("NaN", "1e999", "-Infinity", "123456789012345678901234567890", "[" * 300 + "]" * 300, "[" * 200_000)


async def test_numbers_that_no_column_holds_come_through_or_fail_the_node(flows: Workflows, pages: Pages) -> None:
    made = steps("get:http end", "get end", get={"url": f"{pages.url}/odd"}, end={"set": "$nodes.get.n"})
    workflow = await flows.store("flow", made)
    for number in ODD:
        pages.pages["/odd"] = Response(f'{{"n": {number}}}', media_type="application/json")
        run = await flows.until(await flows.start(workflow), seconds=20)
        assert run.status in (RunStatus.DONE, RunStatus.FAILED), number[:40]
        assert (await flows.nodes(run))["get"].ended
    assert len(pages.visits) == len(ODD)


async def test_what_a_node_was_given_is_on_record_once_and_not_again_at_every_node(flows: Workflows) -> None:
    rows = [{"n": number, "text": "x" * 50} for number in range(5_000)]
    pipe = {"plan": {"steps": [{"do": "limit", "count": 4_000}]}, "input": "$input.rows"}
    made = steps("pipe:pipeline end", "pipe end", pipe=pipe, end={"set": "$nodes.pipe.rows"})
    run = await flows.run(made, input={"rows": rows})
    assert run.status is RunStatus.DONE, run.error
    [lengths] = await flows.query(
        "SELECT (SELECT max(length(input::text)) FROM workflow_nodes), (SELECT max(length(e::text)) FROM events e)"
    )
    assert max(lengths) < 100_000
    kept = (await flows.nodes(run))["pipe"].input
    assert kept["input"]["row_count"] == 5_000
