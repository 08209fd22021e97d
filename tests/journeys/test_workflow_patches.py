"""From a sentence to a workflow that runs: shown, approved, stored, and undone later; by HTTP and by the console."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

from laneway.store.database import Database
from tests.journeys.console import console
from tests.journeys.tables_asked import offline
from tests.journeys.test_workflow_runs import listening, make
from tests.lanes.workflow.stored_documents import CHAIN
from tests.servers.smtp_server import SmtpServer
from tests.web.conftest import Door, Open


async def asked(door: Door, job_id: str) -> Any:
    await door.until(job_id, "waiting")
    return next(one for one in (await door.get("/approvals", state="pending"))["items"] if one["job_id"] == job_id)


async def decided(door: Door, receipt: Any, answer: str = "approve") -> Any:
    """The message with its replies, once its question was answered so."""
    approval = await asked(door, receipt["job_id"])
    await door.post(f"/approvals/{approval['id']}", json={"answer": answer})
    await door.until(receipt["job_id"])
    return await door.get(f"/messages/{receipt['message_id']}")


async def ended(door: Door, tag: str, number: int) -> None:
    """So many runs of the workflow have ended well."""
    async with asyncio.timeout(60):
        while len((await door.get(f"/workflows/{tag}/runs", status="done"))["items"]) < number:
            await asyncio.sleep(0.05)


async def test_a_price_below_100_is_mailed_until_it_is_undone(opened: Open, database_url: str) -> None:
    with SmtpServer() as smtp:
        mail = {"smtp_url": smtp.url, "mail_from": "laneway@example.org", "mail_to": "owner@example.org"}
        async with opened(offline(), **mail) as door:
            receipt = await door.send("always e-mail me when the price drops below 100", lane="workflow")
            await asked(door, receipt["job_id"])
            assert (await door.get("/workflows"))["items"] == []
            question = (await door.get(f"/messages/{receipt['message_id']}"))["replies"][-1]["text"]
            assert "```mermaid" in question
            await decided(door, receipt)
            (workflow,) = (await door.get("/workflows"))["items"]
            workflow_triggers = (await door.get(f"/workflows/{workflow['tag']}"))["document"]["triggers"]
            await listening(database_url)
            for number, price in enumerate((120, 95, 94, 101, 99), 1):
                await door.post("/workflow-events", 202, json={"event": "price.changed", "data": {"price": price}})
                await ended(door, workflow["tag"], number)
            (patch,) = (await door.get(f"/workflows/{workflow['tag']}/history"))["items"]
            undone = await door.post(f"/workflows/{workflow['tag']}/undo", json={"patch": patch["id"]})
            assert undone["patch"]["undoes"] == patch["id"]
            assert (await door.get("/workflows"))["items"] == []
            await make(
                door, "later", [{"id": "a", "type": "transform", "config": {"set": 1}}], [], triggers=workflow_triggers
            )
            await listening(database_url)
            await door.post("/workflow-events", 202, json={"event": "price.changed", "data": {"price": 10}})
            await ended(door, "later", 1)
    assert patch["sentence"] == "always e-mail me when the price drops below 100"
    assert patch["message_id"] == receipt["message_id"]
    dropped = (("owner@example.org",), "The price drops below 100")
    assert [(one.to, one.subject) for one in smtp.mails] == [dropped, dropped], "once for each drop"
    assert "it is 95 now" in smtp.mails[0].text
    assert "it is 99 now" in smtp.mails[1].text


async def test_by_the_console_patched_listed_drawn_and_undone(opened: Open, tmp_path: Path, db: Database) -> None:
    async with opened(offline()) as door:
        laneway = console(door, tmp_path)
        await door.post("/workflows", 201, json={"tag": "main", "document": CHAIN})
        shown = await laneway("patch", "main", "retry fetch 5 times", "--yes")
        assert "May I change workflow `main`, version 1?" in shown
        assert "Done: `fetch` is tried up to 5 times." in shown
        unanswered = await laneway("patch", "main", "retry fetch 4 times", code=1)
        assert "Not done: you said no." in unanswered
        slower = json.dumps([{"op": "add", "path": "/nodes/@fetch/timeout_ms", "value": 9000}])
        dry = await laneway("patch", "main", "--operations", "-", "--dry-run", given=slower)
        assert "version 2 → 3" in dry
        await laneway("patch", "main", "--operations", "-", "--yes", given=slower)
        assert "main" in await laneway("list")
        assert "fetch (http)" in await laneway("show", "main")
        assert (await laneway("diagram", "main")).startswith("flowchart TD")
        history = json.loads(await laneway("history", "main", "--json"))["items"]
        assert [one["version"] for one in history] == [3, 2, 1]
        assert history[1]["sentence"] == "retry fetch 5 times"
        assert "is at version 4" in await laneway("undo", "main", "--patch", history[1]["id"])
        assert "is at version 5" in await laneway("redo", "main")
        assert "is at version 6" in await laneway("rollback", "main", "1")
        assert "- " in await laneway("diff", "main", "1", "5")
        exported = await laneway("export", "main", "--format", "yaml")
        async with db.transaction() as tx:
            # An import replaces its workflow however many newer ones there are.
            await tx.execute(
                "INSERT INTO workflows (id, principal_id, tag, version, document) SELECT gen_random_uuid(), "
                "principal_id, 'w' || n, 1, document FROM workflows, generate_series(1, 201) AS n"
            )
        named = json.dumps({**CHAIN, "metadata": {"name": "main", "description": "Changed."}})
        assert "is at version 7" in await laneway("import", "-", "--replace", given=named)
        assert "is at version 1" in await laneway("import", "-", "--tag", "copy", given=exported)
        assert (await door.get("/workflows/copy"))["document"] == CHAIN
        assert "Removed copy" in await laneway("remove", "copy")
        assert "copy" in await laneway("list", "--removed")
        assert "copy is back at version 1." in await laneway("restore", "copy")
        assert (await door.get("/workflows/copy"))["document"] == CHAIN
        line = json.dumps({"workflow": CHAIN, "operations": json.loads(slower)})
        assert json.loads(await laneway("patch", "--check", given=line + "\n"))["verdict"] == "accept"


async def test_a_sentence_in_the_conversation_takes_back_its_last_change_after_a_yes(opened: Open) -> None:
    async with opened(offline()) as door:
        await door.post("/workflows", 201, json={"tag": "main", "document": CHAIN})
        await decided(door, await door.send("retry fetch 5 times", lane="workflow", thread="desk"))
        await decided(door, await door.send("retry process 2 times", lane="workflow", thread="elsewhere"))
        nobody = await door.send("undo that change of the workflow", lane="workflow", thread="third")
        await door.until(nobody["job_id"])
        said = await door.get(f"/messages/{nobody['message_id']}")
        assert "There is no change of a workflow in this conversation" in said["replies"][-1]["text"]

        receipt = await door.send("Please undo that change of the workflow.", lane="workflow", thread="desk")
        await asked(door, receipt["job_id"])
        question = (await door.get(f"/messages/{receipt['message_id']}"))["replies"][-1]["text"]
        assert "Undone: " in question
        assert (await door.get("/workflows/main"))["version"] == 3, "nothing is changed before the yes"
        said = await decided(door, receipt)
        assert said["replies"][-1]["text"].startswith("Done: Undone: ")
        nodes = {node["id"]: node for node in (await door.get("/workflows/main"))["document"]["nodes"]}
        assert "retry" not in nodes["fetch"], "the conversation's own change is taken back"
        assert nodes["process"]["retry"] == {"max_attempts": 2}, "the later one of elsewhere stays"
        last = (await door.get("/workflows/main/history"))["items"][0]
        assert (last["kind"], last["message_id"]) == ("undo", receipt["message_id"])

        named = await door.send("undo the last change of the workflow main", lane="workflow", thread="third")
        await decided(door, named, "reject")
        assert (await door.get("/workflows/main"))["version"] == 4
        await decided(door, await door.send("undo the last change of the main workflow", lane="workflow", thread="4"))
        assert "retry" not in (await door.get("/workflows/main"))["document"]["nodes"][1]

        await decided(door, await door.send("retry fetch 5 times", lane="workflow", thread="five"))
        await decided(door, await door.send("retry fetch 7 times", lane="workflow", thread="seven"))
        receipt = await door.send("undo that change", lane="workflow", thread="five")
        await door.until(receipt["job_id"])
        said = (await door.get(f"/messages/{receipt['message_id']}"))["replies"][-1]["text"]
        assert said.startswith("Nothing was changed.")
        assert "cannot be undone" in said


async def test_a_workflow_that_a_sentence_made_is_unmade_by_one(opened: Open) -> None:
    async with opened(offline()) as door:
        sentence = "always e-mail me when the price drops below 100"
        await decided(door, await door.send(sentence, lane="workflow", thread="desk"))
        said = await decided(door, await door.send("take back that change", lane="workflow", thread="desk"))
        assert "is removed" in said["replies"][-1]["text"]
        assert (await door.get("/workflows"))["items"] == []
