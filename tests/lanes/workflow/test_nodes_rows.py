"""The nodes that work on rows: pipeline, filter, aggregate, transform. Each over real rows."""

from __future__ import annotations

from starlette.responses import JSONResponse

from laneway.domain.workflow_run import RunStatus
from tests.lanes.workflow.running_workflows import Workflows, document, node
from tests.servers.pages import Pages

ROWS = [
    {"name": "A", "city": "Rome", "price": 120},
    {"name": "B", "city": "Oslo", "price": 80},
    {"name": "C", "city": "Rome", "price": 60.5},
]


async def test_rows_are_fetched_filtered_and_aggregated(flows: Workflows, pages: Pages) -> None:
    pages.pages["/rows"] = JSONResponse({"items": ROWS})
    fetch, by_price = {"do": "http_request", "url": f"{pages.url}/rows", "rows_at": "items"}, {"column": "price"}
    top = {"steps": [fetch, {"do": "sort", "by": [by_price]}, {"do": "limit", "count": 2}]}
    made = document(
        [
            node("cheap", "pipeline", {"plan": top}),
            node("rome", "filter", {"where": {"column": "city", "is": "==", "value": "Rome"}}),
            node("oslo", "filter", {"condition": "item.city == 'Oslo' && item.price < 100"}),
            node("sum", "aggregate", {"input": "$nodes.cheap", "do": "sum", "column": "price"}),
            node("by", "aggregate", {"input": "$nodes.cheap.rows", "by": "city", "values": {"n": {"do": "count"}}}),
            node("told", "transform", {"set": {"sum": "$nodes.sum.value", "by": "$nodes.by.rows",
                                               "rome": "$nodes.rome.rows[0].name", "oslo": "$nodes.oslo.count"}}),
        ],
        ["cheap rome", "cheap oslo", "cheap sum", "cheap by", "rome told", "oslo told", "sum told", "by told"],
    )  # fmt: skip
    run = await flows.run(made)
    assert run.status is RunStatus.DONE, run.error
    assert run.output == {
        "sum": 140.5, "by": [{"city": "Rome", "n": 1}, {"city": "Oslo", "n": 1}], "rome": "C", "oslo": 1,
    }  # fmt: skip
    nodes = await flows.nodes(run)
    assert nodes["cheap"].output["sentence"]
    assert nodes["sum"].sources == [f"the page {pages.url}/rows"]


async def test_a_pipeline_from_words_is_planned_when_it_runs(flows: Workflows) -> None:
    run = await flows.run(document([node("p", "pipeline", {"prompt": "top 2 by price", "input": "$input.rows"})]),
                          input={"rows": ROWS})  # fmt: skip
    assert run.status is RunStatus.DONE, run.error
    assert [row["name"] for row in run.output["rows"]] == ["A", "B"]


async def test_a_row_that_a_condition_cannot_judge_fails_the_filter(flows: Workflows) -> None:
    run = await flows.run(document([node("f", "filter", {"condition": "item.price < 100", "input": "$input.rows"})]),
                          input={"rows": [{"price": 1}, {"cost": 2}]})  # fmt: skip
    assert run.error is not None
    assert "for row 2" in run.error["message"]


async def test_a_node_without_rows_says_so(flows: Workflows) -> None:
    run = await flows.run(document([node("f", "aggregate", {"do": "count"})]), input={"price": 1})
    assert run.error is not None
    assert "has no rows to work on" in run.error["message"]
