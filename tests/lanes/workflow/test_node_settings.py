"""What a node is set to and needs: filled from references, limited in time, tried again, and refused where it lacks."""

from __future__ import annotations

from typing import Any

import pytest

from laneway.domain.workflow_run import RunStatus
from laneway.lanes.workflow.refusing import Rejected
from tests.lanes.workflow.documents import flow
from tests.lanes.workflow.running_workflows import Workflows, document, message_of, node

SOURCE = node("s", "transform", {"set": {"text": "abc", "list": [1, 2], "number": 7, "rows": [{"a": 1}]}})
URL, ROWS = "http://127.0.0.1:1/", "$nodes.s.rows"
WRONG: list[tuple[str, dict[str, Any], str]] = [
    ("http", {"url": URL, "headers": "$nodes.s.text"}, "`headers` was filled with a text. Let it lead to an object."),
    ("function", {"name": "server_info", "arguments": "$nodes.s.list"}, "`arguments` was filled with a list."),
    ("hitl", {"message": "?", "deadline_ms": "$nodes.s.text"}, "Let it lead to a whole number."),
    ("hitl", {"message": "?", "approvers": "$nodes.s.list"}, "`1` cannot answer for a workflow."),
    ("aggregate", {"input": ROWS, "values": "$nodes.s.list"}, "`values` was filled with a list."),
    ("notify", {"channel": "email", "message": "m", "to": "$nodes.s.number"}, "Let it lead to a text or a list."),
    ("subworkflow", {"workflow": "other", "version": "$nodes.s.text"}, "`version` was filled with a text."),
    ("pipeline", {"input": ROWS, "plan": "$nodes.s.text"}, "`plan` was filled with a text."),
    ("pipeline", {"tables": "$nodes.s.list", "prompt": "count them"}, "`tables` was filled with a list."),
    ("pipeline", {"input": ROWS, "plan": {"steps": "$nodes.s.list"}}, "Step 1"),
    ("pipeline", {"input": ROWS, "plan": {"steps": "$nodes.s.number"}}, "steps"),
    ("filter", {"input": ROWS, "condition": "item.b < 100"}, "for row 1"),
    ("aggregate", {"input": "$nodes.s.number", "do": "count"}, "rows"),
]


async def test_a_reference_to_what_a_node_cannot_work_with_names_the_setting_and_takes_the_error_edge(
    flows: Workflows,
) -> None:
    caught = {"from": "x", "to": "caught", "on": "error"}
    says = node("caught", "transform", {"set": "$nodes.x.error.message"})
    wrong = []
    for number, (kind, config, why) in enumerate(WRONG):
        run = await flows.run(document([SOURCE, node("x", kind, config), says], ["s x", caught]), f"flow{number}")
        if (run.status, run.ended_at) != (RunStatus.DONE, ["caught"]) or why not in run.output:
            wrong.append(f"{kind} {config}: {run.output or run.error}")
    assert not wrong, "\n".join(wrong)


async def test_a_secret_in_the_wrong_place_is_not_told(flows: Workflows) -> None:
    (flows.home / ".env").write_text("SHOP_TOKEN=very-hidden-words\n")
    run = await flows.run(document([node("x", "http", {"url": URL, "headers": "$secrets.SHOP_TOKEN"})]))
    assert run.error is not None
    assert "`headers` was filled with a text." in run.error["message"]
    assert "very-hidden" not in str(run.error)


LONG = "size(output) > 0"
"""Takes a while over very many numbers, which are all handed to it."""
GIVEN = {"numbers": list(range(50_000)), "rows": [{"n": number} for number in range(20_000)]}
EVEN = {"condition": "item.n % 2 == 0", "input": "$input.rows"}


async def test_a_node_that_computes_too_long_fails_and_says_so(flows: Workflows) -> None:
    loop = {"loop_back_to": "begin", "max_iterations": 2, "condition": LONG, "input": "$input.numbers"}
    begin = node("begin", "transform", {"set": 1})
    for number, made in enumerate((
        document([node("long", "transform", {"expression": LONG, "input": "$input.numbers"}, timeout_ms=3)]),
        document([node("long", "filter", EVEN, timeout_ms=20)]),
        document([node("long", "filter", {"where": {"column": "n", "op": ">", "value": 5}, "input": "$input.rows"},
                       timeout_ms=1)]),
        document([node("long", "aggregate", {"do": "median", "column": "n", "input": "$input.rows"}, timeout_ms=1)]),
        document([begin, node("long", "loop", loop, timeout_ms=3)], ["begin long"]),
    )):  # fmt: skip
        assert "took longer than 0.0" in await flows.error(made, f"flow{number}", input=GIVEN)


async def test_what_takes_too_long_is_tried_again_and_takes_its_edge_for_errors(flows: Workflows) -> None:
    late = node("late", "filter", EVEN, timeout_ms=20, retry={"max_attempts": 3, "backoff_ms": 1})
    caught = node("caught", "transform", {"set": "$nodes.late.error.message"})
    run = await flows.run(document([late, caught], [{"from": "late", "to": "caught", "on": "error"}]), input=GIVEN)
    assert (run.status, run.output) == (RunStatus.DONE, "It took longer than 0.02 seconds.")
    assert (await flows.nodes(run))["late"].attempts == 3


async def test_a_sub_workflow_that_takes_too_long_is_cancelled(flows: Workflows) -> None:
    await flows.store("slow", document([node("sleep", "wait", {"seconds": 3600})]))
    outer = document([node("call", "subworkflow", {"workflow": "slow"}, timeout_ms=300)])
    run = await flows.until(await flows.start(await flows.store("outer", outer)), RunStatus.FAILED)
    assert "took longer than 0.3 seconds" in message_of(run)
    [child] = await flows.children(run.id)
    assert child.status is RunStatus.CANCELLED


async def test_a_question_expires_and_an_event_does_not_come_in_time(flows: Workflows) -> None:
    run = await flows.run(document([node("ask", "hitl", {"message": "?"}, timeout_ms=60_000)]))
    question = await flows.asked(run)
    assert 50 <= (question.deadline - question.created_at).total_seconds() <= 70
    waits = document([node("hear", "wait", {"event": "never.comes"}, timeout_ms=100)])
    late = await flows.until(await flows.start(await flows.store("waits", waits)), RunStatus.FAILED)
    assert "No event `never.comes` came in time." in message_of(late)


async def test_no_limit_of_its_own_and_a_limit_beyond_all_calendars_let_a_node_wait(flows: Workflows) -> None:
    for number, limit in enumerate((0, 10**15)):
        for kind, config in (("wait", {"event": "never.comes"}), ("hitl", {"message": "?"})):
            run = await flows.run(document([node("here", kind, config, timeout_ms=limit)]), f"{kind}-{number}")
            assert run.status is RunStatus.WAITING, run.error
    made = document([node("rest", "wait", {"seconds": "$input.seconds"})])
    for seconds in (1e13, 1e300):
        assert "more than a year" in await flows.error(made, f"rest-{seconds}", input={"seconds": seconds})


ITEMS = [
    {"name": "A", "city": "Rome", "price": 120},
    {"name": "B", "city": "Oslo", "price": 80},
    {"name": "C", "city": "Rome", "price": 60.5},
]


async def test_rows_are_sorted_filtered_and_aggregated(flows: Workflows) -> None:
    top = {"steps": [{"do": "sort", "by": [{"column": "price"}]}, {"do": "limit", "count": 2}]}
    made = document(
        [
            node("cheap", "pipeline", {"plan": top, "input": "$input.rows"}),
            node("words", "pipeline", {"prompt": "top 2 by price", "input": "$input.rows"}),
            node("rome", "filter", {"where": {"column": "city", "is": "==", "value": "Rome"}}),
            node("oslo", "filter", {"condition": "item.city == 'Oslo' && item.price < 100"}, timeout_ms=20_000),
            node("sum", "aggregate", {"input": "$nodes.cheap", "do": "sum", "column": "price"}),
            node("by", "aggregate", {"input": "$nodes.cheap.rows", "by": "city", "values": {"n": {"do": "count"}}}),
            node("told", "transform", {"set": {"sum": "$nodes.sum.value", "by": "$nodes.by.rows",
                                               "rome": "$nodes.rome.rows[0].name", "oslo": "$nodes.oslo.count",
                                               "words": "$nodes.words.rows"}}),
        ],
        ["cheap rome", "cheap oslo", "cheap sum", "cheap by", "rome told", "oslo told", "sum told", "by told",
         "words told"],
    )  # fmt: skip
    run = await flows.run(made, input={"rows": ITEMS})
    assert run.status is RunStatus.DONE, run.error
    assert [row["name"] for row in run.output.pop("words")] == ["A", "B"]
    by_city = [{"city": "Rome", "n": 1}, {"city": "Oslo", "n": 1}]
    assert run.output == {"sum": 140.5, "by": by_city, "rome": "C", "oslo": 1}
    assert (await flows.nodes(run))["cheap"].output["sentence"]


HALF = flow(
    "mail:notify fetch:http sum:transform", "mail fetch sum", mail={"message": "It begins."}, sum={"expression": "x +"}
)


async def test_a_start_is_refused_with_node_path_and_repair_and_nothing_of_it_happens(flows: Workflows) -> None:
    workflow = await flows.store("half", HALF)
    with pytest.raises(Rejected) as refused:
        await flows.start(workflow)
    first, second = refused.value.findings
    assert (first["node"], first["path"], first["repair"]) == ("fetch", "/nodes/1/config", "Add 'url'.")
    assert (second["node"], second["path"]) == ("sum", "/nodes/2/config/expression")
    assert second["repair"]
    assert await flows.runs_of(workflow) == []
    # A method that is never sent is no matter for the middle of a run either.
    asks = await flows.store("asks", flow("ask:http", ask={"url": "https://example.org/", "method": "OPTIONS"}))
    with pytest.raises(Rejected) as refused:
        await flows.start(asks)
    assert refused.value.findings[0]["path"] == "/nodes/0/config/method"


async def test_nodes_with_pinned_outputs_need_nothing(flows: Workflows) -> None:
    run = await flows.run(HALF, test=True, pinned={"fetch": {"price": 1}, "sum": 2})
    assert (run.status, run.ended_at) == (RunStatus.DONE, ["sum"])


async def test_a_phrase_or_a_parent_of_a_workflow_that_cannot_run_is_told_what_is_missing_before_any_node(
    flows: Workflows,
) -> None:
    workflow = await flows.store("half", {**HALF, "triggers": [{"type": "chat", "phrase": "do half of it"}]})
    await flows.until_watched(workflow)
    told = await flows.lane.ask("do half of it")
    assert "The node 'fetch' (http) cannot run yet: its config has no 'url'" in told
    [run] = await flows.runs_of(workflow)
    assert run.status is RunStatus.FAILED
    assert await flows.visits(run) == []
    assert "Add 'url'" in await flows.error(flow("call:subworkflow", call={"workflow": "half"}), "outer")
