"""Words from outside keep their mark on every way through a run, and decide nothing about secrets."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from uuid import UUID

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response

from laneway.domain.workflow_run import NodeStatus, RunStatus
from laneway.store import events
from tests.lanes.workflow.running_workflows import Workflows, document, message_of, node
from tests.servers.pages import Pages

Start = Callable[[Workflows, Pages], Awaitable[UUID]]


def remembering(fact: str) -> dict[str, object]:
    return node("keep", "function", {"name": "remember", "arguments": {"fact": fact}})


def reading(pages: Pages, status: int = 200) -> dict[str, object]:
    pages.pages["/fact"] = PlainTextResponse("the door is green", status)
    return node("read", "http", {"url": f"{pages.url}/fact"})


async def by_a_node(flows: Workflows, pages: Pages) -> UUID:
    made = document([reading(pages), remembering("$nodes.read.body")], ["read keep"])
    return await flows.start(await flows.store("node", made))


async def by_a_sub_workflow(flows: Workflows, pages: Pages) -> UUID:
    text = node("text", "transform", {"set": "$nodes.read.body"})
    await flows.store("child", document([reading(pages), text], ["read text"]))
    parent = document([node("sub", "subworkflow", {"workflow": "child"}), remembering("$nodes.sub")], ["sub keep"])
    return await flows.start(await flows.store("parent", parent))


async def by_an_event(flows: Workflows, pages: Pages) -> UUID:
    wait = node("wait", "wait", {"event": "shop.order", "timeout_ms": 60_000})
    run = await flows.run(document([wait, remembering("$nodes.wait.event.note")], ["wait keep"]), "event")
    async with flows.lane.app.db.transaction() as tx:
        await events.append(tx, "shop.order", {"note": "the door is green"})
    return run.id


async def by_a_server_that_refuses(flows: Workflows, pages: Pages) -> UUID:
    failed = {"from": "read", "to": "keep", "on": "error"}
    made = document([reading(pages, 400), remembering("$nodes.read.error.message")], [failed])
    return await flows.start(await flows.store("refused", made))


async def by_an_earlier_run(flows: Workflows, pages: Pages) -> UUID:
    workflow = await flows.store("twice", document([reading(pages)]))
    await flows.until(await flows.start(workflow), RunStatus.DONE)
    then = node("then", "transform", {"expression": "ctx.previous.read.body"})
    return await flows.start(await flows.change(workflow, document([then, remembering("$nodes.then")], ["then keep"])))


async def test_words_of_others_make_the_gate_ask_by_whatever_way_they_came(flows: Workflows, pages: Pages) -> None:
    ways: tuple[Start, ...] = (
        by_a_node, by_a_sub_workflow, by_an_event, by_a_server_that_refuses, by_an_earlier_run,
    )  # fmt: skip
    for way in ways:
        asks = "SELECT 1 FROM approvals a JOIN workflow_runs r ON r.job_id = a.job_id WHERE a.state = 'pending'"
        run_id = await way(flows, pages)
        run = await flows.until(run_id, RunStatus.WAITING, RunStatus.DONE, RunStatus.FAILED)
        await flows.until_query(f"{asks} AND r.id = '{run_id}'")
        assert (await flows.nodes(run))["keep"].status is not NodeStatus.DONE, way.__name__


async def test_a_tainted_tool_call_waits_for_a_yes_and_a_no_stops_it(flows: Workflows, pages: Pages) -> None:
    workflow = await flows.store("flow", document([reading(pages), remembering("$nodes.read.body")], ["read keep"]))
    run = await flows.until(await flows.start(workflow))
    assert run.status is RunStatus.WAITING
    assert (await flows.lane.job(run.job_id)).status == "waiting"
    await flows.answer(run, "approved")
    done = await flows.until(run.id, RunStatus.DONE, RunStatus.FAILED)
    assert done.status is RunStatus.DONE, done.error
    refused = await flows.until(await flows.start(workflow), RunStatus.WAITING)
    await flows.answer(refused, "rejected")
    ended = await flows.until(refused.id, RunStatus.FAILED)
    assert "rejected" in message_of(ended)
    assert (await flows.nodes(ended))["keep"].status is NodeStatus.FAILED


async def test_notify_hands_no_secret_to_whoever_words_from_outside_name(flows: Workflows, pages: Pages) -> None:
    (flows.home / ".env").write_text("SHOP_TOKEN=very-hidden-words\n")
    pages.pages["/next"] = JSONResponse({"url": f"{pages.url}/evil", "mail": "evil@example.org"})
    pages.pages["/evil"] = PlainTextResponse("thank you")
    hook = {"channel": "webhook", "url": "$nodes.next.url", "message": "${$secrets.SHOP_TOKEN}"}
    mail = {"channel": "email", "to": "$nodes.next.mail", "message": "${$secrets.SHOP_TOKEN}"}
    for name, config in (("hook", hook), ("mail", mail)):
        read = node("next", "http", {"url": f"{pages.url}/next"})
        told = await flows.error(document([read, node("tell", "notify", config)], ["next tell"]), name)
        assert "words from outside" in told
    assert [visit.path for visit in pages.visits] == ["/next", "/next"]


async def test_a_pipeline_of_a_workflow_only_reads(flows: Workflows, pages: Pages) -> None:
    pages.pages["/rows"] = JSONResponse([{"a": 1}])
    plan = {"steps": [{"do": "http_request", "url": f"{pages.url}/rows", "method": "POST", "body": {"buy": 1}}]}
    made = document([node("rows", "pipeline", {"plan": plan})])
    assert "only reads" in await flows.error(made, test=True, cause={"type": "test"})
    assert pages.visits == []
    plan["steps"] = [{"do": "http_request", "url": f"{pages.url}/rows"}]
    run = await flows.run(document([node("rows", "pipeline", {"plan": plan})]), "reads")
    assert (run.output["rows"], (await flows.nodes(run))["rows"].sources) == (
        [{"a": 1}],
        [f"the page {pages.url}/rows"],
    )


async def test_a_secret_address_may_be_told_what_a_page_says(flows: Workflows, pages: Pages) -> None:
    (flows.home / ".env").write_text(f"HOOK={pages.url}/hook?key=a%2Fb\nODD_KEY=odd/key+with words\n")
    pages.pages["/price"] = JSONResponse({"price": 95})
    pages.pages["/hook"] = PlainTextResponse("ok")

    async def echo(request: Request) -> Response:
        return PlainTextResponse(f"You asked for {request.url}", 400)

    pages.pages["/echo"] = echo
    made = document(
        [
            node("price", "http", {"url": f"{pages.url}/price"}),
            node("tell", "notify", {"channel": "slack", "url": "$secrets.HOOK", "message": "${$nodes.price.price}"}),
            node("send", "http", {"url": "$secrets.HOOK", "method": "POST", "body": "$nodes.price.body"}),
            node("ask", "http", {"url": f"{pages.url}/echo", "params": {"key": "$secrets.ODD_KEY"}}),
            node("end", "transform", {"set": "$nodes.ask.error.message"}),
        ],
        ["price tell", "tell send", "send ask", {"from": "ask", "to": "end", "on": "error"}],
    )
    run = await flows.run(made)
    assert run.status is RunStatus.DONE, run.error
    assert "You asked for" in run.output
    assert "odd" not in run.output
