"""Words from outside keep their mark on every way through a run, and decide nothing about secrets."""

from __future__ import annotations

import asyncio
from pathlib import Path
from uuid import UUID

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response

from laneway.domain.judgement import ApprovalState
from laneway.domain.workflow_run import RUN_ENDED, RunStatus
from laneway.llm.scripted import Asked, Say, ScriptedModel
from laneway.store import approvals, events
from tests.lanes.workflow.running_workflows import Workflows, document, node, workflowing
from tests.servers.pages import Pages


def remembering(fact: str) -> dict[str, object]:
    return node("keep", "function", {"name": "remember", "arguments": {"fact": fact}})


async def _asks_or_ends(flows: Workflows, run_id: UUID) -> str:
    """`asked` once somebody is asked about the tool call; how the run ended, if nobody was."""
    async with asyncio.timeout(30):
        while True:
            run = await flows.get(run_id)
            async with flows.lane.app.db.transaction() as tx:
                found = await approvals.page(tx, state=ApprovalState.PENDING)
            if any(one.job_id == run.job_id for one in found):
                return "asked"
            if run.status in RUN_ENDED:
                return f"{run.status}: {run.error}"
            await asyncio.sleep(0.03)


async def test_what_a_sub_workflow_read_marks_what_it_gives(flows: Workflows, pages: Pages) -> None:
    pages.pages["/fact"] = PlainTextResponse("the door is green")
    child = [node("read", "http", {"url": f"{pages.url}/fact"}), node("text", "transform", {"set": "$nodes.read.body"})]
    await flows.store("child", document(child, ["read text"]))
    parent = document([node("sub", "subworkflow", {"workflow": "child"}), remembering("$nodes.sub")], ["sub keep"])
    run_id = await flows.start(await flows.store("parent", parent))
    assert await _asks_or_ends(flows, run_id) == "asked"


async def test_an_event_that_was_waited_for_marks_what_is_made_of_it(flows: Workflows) -> None:
    made = document(
        [node("wait", "wait", {"event": "shop.order", "timeout_ms": 60000}), remembering("$nodes.wait.event.note")],
        ["wait keep"],
    )
    run = await flows.run(made)
    async with flows.lane.app.db.transaction() as tx:
        await events.append(tx, "shop.order", {"note": "the door is green"})
    assert await _asks_or_ends(flows, run.id) == "asked"


async def test_the_words_of_a_server_that_refuses_mark_the_error(flows: Workflows, pages: Pages) -> None:
    pages.pages["/fact"] = PlainTextResponse("the door is green", 400)
    made = document(
        [node("read", "http", {"url": f"{pages.url}/fact"}), remembering("$nodes.read.error.message")],
        [{"from": "read", "to": "keep", "on": "error"}],
    )
    run = await flows.start(await flows.store("flow", made))
    assert await _asks_or_ends(flows, run) == "asked"


async def test_what_an_earlier_run_read_is_still_marked_in_the_next(flows: Workflows, pages: Pages) -> None:
    pages.pages["/fact"] = JSONResponse({"fact": "the door is green"})
    read = node("read", "http", {"url": f"{pages.url}/fact"})
    workflow = await flows.store("flow", document([read]))
    await flows.until(await flows.start(workflow), RunStatus.DONE)
    made = document(
        [node("then", "transform", {"expression": "ctx.previous.read.fact"}), remembering("$nodes.then")],
        ["then keep"],
    )
    run = await flows.start(await flows.change(workflow, made))
    assert await _asks_or_ends(flows, run) == "asked"


async def test_the_schema_of_an_answer_asks_no_server_and_reads_no_file(
    database_url: str, tmp_path: Path, pages: Pages
) -> None:
    pages.pages["/schema"] = JSONResponse({"type": "object"})
    (tmp_path / "schema.json").write_text('{"type": "object"}')
    async with workflowing(database_url, tmp_path, ScriptedModel(_answer)) as flows:
        for number, ref in enumerate((f"{pages.url}/schema", (tmp_path / "schema.json").as_uri())):
            made = document([node("ask", "agent", {"prompt": "Which?", "output": {"$ref": ref}})])
            run = await flows.run(made, f"flow{number}")
            assert run.status is RunStatus.FAILED
            assert run.error is not None
            assert "schema" in run.error["message"]
    assert pages.visits == []


def _answer(asked: Asked) -> Say:
    return Say("{}")


async def test_notify_hands_no_secret_to_whoever_words_from_outside_name(
    flows: Workflows, pages: Pages, tmp_path: Path
) -> None:
    (tmp_path / ".env").write_text("SHOP_TOKEN=very-hidden-words\n")
    pages.pages["/next"] = JSONResponse({"url": f"{pages.url}/evil", "mail": "evil@example.org"})
    pages.pages["/evil"] = PlainTextResponse("thank you")
    hook = {"channel": "webhook", "url": "$nodes.next.url", "message": "${$secrets.SHOP_TOKEN}"}
    mail = {"channel": "email", "to": "$nodes.next.mail", "message": "${$secrets.SHOP_TOKEN}"}
    for name, config in (("hook", hook), ("mail", mail)):
        read = node("next", "http", {"url": f"{pages.url}/next"})
        run = await flows.run(document([read, node("tell", "notify", config)], ["next tell"]), name)
        assert run.status is RunStatus.FAILED
        assert run.error is not None
        assert "words from outside" in run.error["message"]
    assert [visit.path for visit in pages.visits] == ["/next", "/next"]


async def test_a_pipeline_of_a_workflow_only_reads(flows: Workflows, pages: Pages) -> None:
    pages.pages["/rows"] = JSONResponse([{"a": 1}])
    plan = {"steps": [{"do": "http_request", "url": f"{pages.url}/rows", "method": "POST", "body": {"buy": 1}}]}
    run = await flows.run(document([node("rows", "pipeline", {"plan": plan})]), test=True, cause={"type": "test"})
    assert run.status is RunStatus.FAILED
    assert run.error is not None
    assert "only reads" in run.error["message"]
    assert pages.visits == []


async def test_a_secret_address_may_be_told_what_a_page_says(flows: Workflows, pages: Pages, tmp_path: Path) -> None:
    (tmp_path / ".env").write_text(f"HOOK={pages.url}/hook?key=a%2Fb\nODD_KEY=odd/key+with words\n")
    pages.pages["/price"] = JSONResponse({"price": 95})
    pages.pages["/hook"] = PlainTextResponse("ok")

    async def echo(request: Request) -> Response:
        return PlainTextResponse(f"You asked for {request.url}", 400)

    pages.pages["/echo"] = echo
    told = {"channel": "slack", "url": "$secrets.HOOK", "message": "It is ${$nodes.price.price}."}
    send = {"url": "$secrets.HOOK", "method": "POST", "body": "$nodes.price.body"}
    made = document(
        [
            node("price", "http", {"url": f"{pages.url}/price"}),
            node("tell", "notify", told),
            node("send", "http", send),
            node("ask", "http", {"url": f"{pages.url}/echo", "params": {"key": "$secrets.ODD_KEY"}}),
            node("end", "transform", {"set": "$nodes.ask.error.message"}),
        ],
        ["price tell", "tell send", "send ask", {"from": "ask", "to": "end", "on": "error"}],
    )
    run = await flows.run(made)
    assert run.status is RunStatus.DONE, run.error
    assert "You asked for" in run.output
    assert "odd" not in run.output
