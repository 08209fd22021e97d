"""A reference that leads to something a node cannot work with fails that node, which says so and can be caught."""

from __future__ import annotations

from typing import Any

import pytest

from laneway.domain.workflow_run import RunStatus
from tests.lanes.workflow.running_workflows import Workflows, document, node

SOURCE = node("s", "transform", {"set": {"text": "abc", "list": [1, 2], "number": 7, "rows": [{"a": 1}]}})
URL = "http://127.0.0.1:1/"


@pytest.mark.parametrize(
    ("kind", "config", "why"),
    [
        (
            "http",
            {"url": URL, "headers": "$nodes.s.text"},
            "`headers` was filled with a text. Let it lead to an object.",
        ),
        ("function", {"name": "server_info", "arguments": "$nodes.s.list"}, "`arguments` was filled with a list."),
        ("hitl", {"message": "?", "deadline_ms": "$nodes.s.text"}, "Let it lead to a whole number."),
        ("hitl", {"message": "?", "approvers": "$nodes.s.list"}, "`1` cannot answer for a workflow."),
        ("aggregate", {"input": "$nodes.s.rows", "values": "$nodes.s.list"}, "`values` was filled with a list."),
        ("notify", {"channel": "email", "message": "m", "to": "$nodes.s.number"}, "Let it lead to a text or a list."),
        ("subworkflow", {"workflow": "other", "version": "$nodes.s.text"}, "`version` was filled with a text."),
        ("pipeline", {"input": "$nodes.s.rows", "plan": "$nodes.s.text"}, "`plan` was filled with a text."),
        ("pipeline", {"tables": "$nodes.s.list", "prompt": "count them"}, "`tables` was filled with a list."),
        ("pipeline", {"input": "$nodes.s.rows", "plan": {"steps": "$nodes.s.list"}}, "Step 1"),
        ("pipeline", {"input": "$nodes.s.rows", "plan": {"steps": "$nodes.s.number"}}, "steps"),
    ],
)
async def test_it_says_which_setting_and_its_error_edge_is_taken(
    flows: Workflows, kind: str, config: dict[str, Any], why: str
) -> None:
    caught = {"from": "x", "to": "caught", "on": "error"}
    made = document(
        [SOURCE, node("x", kind, config), node("caught", "transform", {"set": "$nodes.x.error.message"})],
        ["s x", caught],
    )
    run = await flows.run(made)
    assert (run.status, run.ended_at) == (RunStatus.DONE, ["caught"]), run.error
    assert why in run.output


async def test_a_number_may_come_as_a_text_and_null_is_as_if_left_out(flows: Workflows) -> None:
    made = document(
        [
            node("rest", "wait", {"seconds": "$input.seconds"}),
            node("sum", "aggregate", {"input": "$input.rows", "by": "$input.by", "do": "count"}),
        ],
        ["rest sum"],
    )
    given = {"seconds": "0.1", "by": None, "rows": [{"a": 1}]}
    run = await flows.until(await flows.start(await flows.store("flow", made), input=given), RunStatus.DONE)
    assert run.output["value"] == 1


async def test_a_secret_in_the_wrong_place_is_not_told(flows: Workflows, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOP_TOKEN", "very-hidden-words")
    run = await flows.run(document([node("x", "http", {"url": URL, "headers": "$secrets.SHOP_TOKEN"})]))
    assert run.error is not None
    assert "`headers` was filled with a text." in run.error["message"]
    assert "very-hidden" not in str(run.error)
