"""Workflows that a queue's client sends along, changes by the sentences of seed 001, and edits itself."""

from __future__ import annotations

import asyncio
import json
import shlex
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

from pydantic import SecretStr
from redis.asyncio import Redis

from laneway.domain.judgement import ApprovalState
from laneway.llm.offline import OfflineModel
from laneway.store import approvals, jobs, principals, workflows
from tests.cli.processes import Shell
from tests.journeys.redis_queue import Producer, until
from tests.journeys.tables_asked import offline
from tests.journeys.test_approval import answer
from tests.journeys.tooling import Start
from tests.web.conftest import Open

MAIL, SLACK = "always send email when price drops", "whenever user signs up, notify slack"


def flow(*nodes: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Steps one after the other."""
    names = [str(node["id"]) for node in nodes]
    return {
        "nodes": list(nodes), "edges": [{"from": a, "to": b} for a, b in pairwise(names)], **more,
    }  # fmt: skip


FETCH = {"id": "fetch_price", "type": "http", "config": {"url": "https://shop.example/price"}}
PASS = {"id": "store", "type": "transform", "config": {"set": "$input"}}
CHECK = {"id": "check_price_drop", "type": "conditional", "config": {}}
BRANCHING = {
    "nodes": [PASS, CHECK, {**PASS, "id": "log"}],
    "edges": [{"from": "store", "to": "check_price_drop"},
              {"from": "check_price_drop", "to": "log", "condition": "$.price < $.before"}],
}  # fmt: skip


async def push(producer: Producer, job_id: str, prompt: str, current: Any = None, tag: str | None = "main") -> None:
    await producer.push(
        job_id, prompt, workflow_owner="username", workflow_tag=tag, current_workflow=current,
        run_id="r", node_id="n", context={"session_id": "sess-xyz"},
    )  # fmt: skip


async def waiting(producer: Producer, job_id: str) -> dict[str, Any]:
    """What lies in Redis while the job waits for a yes."""

    [found] = await until(partial(producer.results, job_id))
    assert found["status"] == "waiting", found
    return dict(found)


async def say_yes(producer: Producer, job_id: str) -> dict[str, Any]:
    """The result after the owner's yes."""
    await waiting(producer, job_id)
    async with producer.home.app.db.transaction() as tx:
        pending = await approvals.page(tx, state=ApprovalState.PENDING)
    job = await producer.job(job_id)
    await answer(producer.home, next(one for one in pending if one.job_id == job.id), ApprovalState.APPROVED)
    result = await producer.result(job_id)
    assert result["status"] == "completed", result
    return result


async def stored(producer: Producer, tag: str = "main") -> Any:
    async with producer.home.app.db.transaction() as tx:
        owner = await principals.only_one(tx, "redis:username")
        return await workflows.stored(tx, owner.id, tag)


CASES: dict[str, tuple[str, dict[str, Any], dict[str, Any] | None]] = {
    "a step that gives the price": (MAIL, flow(PASS, FETCH), {
        "from": "fetch_price", "to": "send_email",
        "condition": "has(output.body.price) && has(ctx.previous.fetch_price) && has(ctx.previous.fetch_price.body) && "
        "has(ctx.previous.fetch_price.body.price) && output.body.price < ctx.previous.fetch_price.body.price"}),
    "a step called so": (SLACK, flow(PASS, {**PASS, "id": "on_user_signup"}), {
        "from": "on_user_signup", "to": "notify_slack"}),
    "a way that is taken then": (MAIL, BRANCHING, {
        "from": "check_price_drop", "to": "send_email", "condition": "$.price < $.before"}),
    "a trigger for a price": (MAIL, flow(PASS, triggers=[{"type": "event", "event": "price.dropped"}]), None),
    "a trigger for a user": (SLACK, flow(PASS, triggers=[{"type": "event", "event": "user_signed_up"}]), None),
}  # fmt: skip


async def test_the_two_sentences_change_the_workflow_that_knows_of_it(queue: Start[Producer]) -> None:
    async with queue(OfflineModel(), local_classifier=True) as producer:
        wrong = []
        for number, (about, (sentence, current, edge)) in enumerate(CASES.items()):
            tag, job_id = f"flow{number}", f"j{number}"
            await push(producer, job_id, sentence, current, tag)
            preview = (await say_yes(producer, job_id))["result_preview"]
            now = await stored(producer, tag)
            new = [node["type"] for node in now.document["nodes"] if node not in current["nodes"]]
            edges = [one for one in now.document["edges"] if one not in current["edges"]]
            if (new, edges) != (["notify"], [edge] if edge else []):
                wrong.append(f"{about}: {new} {edges}")
            told = [preview[key] for key in ("kind", "workflow_tag", "base_version", "version")]
            if told != ["patch", tag, 1, 2] or any(one["path"] == "" for one in preview["operations"]):
                wrong.append(f"{about}: {preview}")
        assert not wrong, "\n".join(wrong)


async def test_where_nothing_in_it_knows_of_it_the_answer_asks(queue: Start[Producer]) -> None:
    async with queue(OfflineModel(), local_classifier=True) as producer:
        for number, sentence in enumerate((MAIL, SLACK)):
            await push(producer, f"j{number}", sentence, flow(PASS))
            error = (await producer.result(f"j{number}"))["error"]
            assert error["type"] == "not-understood"
            assert "Nothing in `main` tells when" in error["message"]
            assert "After which step shall it happen?" in error["message"]
        assert (await stored(producer)).version == 1


async def test_a_new_workflow_is_said_to_be_one_and_replaces_none(queue: Start[Producer]) -> None:
    async with queue(OfflineModel(), local_classifier=True) as producer:
        await push(producer, "j", MAIL, tag=None)
        result = await say_yes(producer, "j")
        preview, data = result["result_preview"], result["result_data"]
        assert (preview["kind"], preview["base_version"], preview["version"]) == ("new", 0, 1)
        assert "operations" not in {**preview, **data}
        assert data["document"] == (await stored(producer, preview["workflow_tag"])).document


async def test_an_edit_of_the_orchestrators_own_is_a_new_version_and_no_conflict(queue: Start[Producer]) -> None:
    first, second = flow(PASS), flow(PASS, {**PASS, "id": "send_report"})
    async with queue(OfflineModel(), local_classifier=True) as producer:
        await push(producer, "one", "retry store 5 times", first)
        await say_yes(producer, "one")
        await push(producer, "two", "add a notification step after send_report", second)
        preview = (await say_yes(producer, "two"))["result_preview"]
        assert (preview["base_version"], preview["version"]) == (3, 4)
        async with producer.home.app.db.transaction() as tx:
            adopted = await workflows.version(tx, (await stored(producer)).id, 3)
        assert (adopted.document, adopted.kind) == (second, "import")
        await push(producer, "old", "retry store 4 times", first)
        error = (await producer.result("old"))["error"]
        assert (error["type"], "is version 1 of `main`" in error["message"]) == ("conflict", True)


UNCLEAR = ("make upload more robust", "put the upload before store", "please let upload report errors")


async def test_a_workflow_sent_along_tells_what_an_unclear_sentence_is_about(queue: Start[Producer]) -> None:
    async with queue(OfflineModel(), local_classifier=True) as producer:
        lanes = {}
        for number, sentence in enumerate((*UNCLEAR, "upload the ten cheapest")):
            await push(producer, f"j{number}", sentence, flow(PASS, {**PASS, "id": "upload"}), f"flow{number}")
            await producer.result(f"j{number}")
            job = await producer.job(f"j{number}")
            async with producer.home.app.db.transaction() as tx:
                judged = await jobs.classification_of(tx, job.id)
            assert judged is not None
            lanes[sentence] = judged.lane
        assert lanes == dict.fromkeys(UNCLEAR, "workflow") | {"upload the ten cheapest": "pipeline"}


async def test_the_next_job_of_a_session_leaves_a_waiting_change_of_another_workflow(queue: Start[Producer]) -> None:
    async with queue(OfflineModel(), local_classifier=True) as producer:
        await push(producer, "one", "retry store 5 times", flow(PASS))
        await waiting(producer, "one")
        await push(producer, "other", "retry store 4 times", flow(PASS), "second")
        await waiting(producer, "other")
        assert [one["status"] for one in await producer.results("one")] == ["waiting"]
        await push(producer, "same", "retry store 3 times", flow(PASS))
        await waiting(producer, "same")
        assert (await producer.result("one"))["error"]["type"] == "superseded"
        await say_yes(producer, "other")
        assert [one["status"] for one in await producer.results("same")] == ["waiting"]


async def test_the_owner_sees_runs_changes_and_takes_back_what_a_queue_made(
    opened: Open, redis_url: str, tmp_path: Path
) -> None:
    """By the commands that are printed, as they are printed."""
    settings: dict[str, Any] = {"redis_url": SecretStr(redis_url), "local_classifier": True}
    async with opened(offline(), **settings) as door, Redis.from_url(redis_url) as client:
        shell = Shell(tmp_path, {"LANEWAY_URL": door.url, "LANEWAY_KEY": door.key})

        async def run(*words: str, code: int = 0) -> str:
            return await asyncio.to_thread(partial(shell.run, *words, code=code))

        async def result() -> Any:
            found = [json.loads(raw) for raw in await client.lrange("agent:results:j", 0, -1)]
            return found[0] if found and found[0]["status"] == "completed" else None

        job = {"job_id": "j", "prompt": "retry store 5 times", "workflow_owner": "username", "workflow_tag": "main",
               "current_workflow": flow(PASS)}  # fmt: skip
        await client.rpush("agent:jobs", json.dumps(job))

        async def pending() -> Any:
            return (await door.get("/approvals", state="pending"))["items"]

        [approval] = await until(pending)
        await run("approve", approval["id"])
        await until(result)
        said = (await door.get(f"/jobs/{approval['job_id']}"))["result"]["reply"]
        undo = shlex.split(said.partition("`laneway ")[2].partition("`")[0])
        assert undo[:3] == ["workflow", "undo", "main"]
        assert undo[-2:] == ["--owner", "redis:username"]
        whose = ("--owner", "redis:username")
        assert "main" not in await run("workflow", "list")
        assert "main" in await run("workflow", "list", *whose)
        assert "5 times" in await run("workflow", "history", "main", *whose)
        assert "retry" in await run("workflow", "export", "main", *whose)
        slower = partial(shell.run, "workflow", "patch", "main", "change the timeout of store to 9 s", *whose)
        assert "Not done" in await asyncio.to_thread(partial(slower, typed="n\n", code=1))
        changed = await asyncio.to_thread(partial(slower, typed="y\n"))
        assert "is at version 3" in changed
        assert "is at version 4" in await run(*undo)
        assert "store" in await run("workflow", "run", "main", *whose)
        [ran] = (await door.get("/workflows/main/runs", owner="redis:username"))["items"]
        assert door.rows("SELECT p.name FROM workflow_runs r JOIN principals p ON p.id = r.principal_id") == [
            ("redis:username",)
        ], "with the rights of whoever wrote it, not of the owner who starts it"
        assert ran["id"] in await run("workflow", "runs", "main", *whose)
        gone = await asyncio.to_thread(partial(shell.ended, "workflow", "remove", "main", *whose))
        back = shlex.split(gone.stderr.partition("`laneway ")[2].partition("`")[0])
        assert "main is back" in await run(*back)
