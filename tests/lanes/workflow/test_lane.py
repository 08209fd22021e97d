"""Requests for lasting changes: shown, approved, stored; or refused, rejected, expired, and nothing stored."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from uuid import UUID

from laneway.channels.redis_queue.results import failed_of
from laneway.domain.conversation import Message, Role
from laneway.domain.job import JobStatus
from laneway.domain.judgement import Approval, ApprovalState
from laneway.domain.workflow import Cause, Patch, Workflow
from laneway.llm.offline import OfflineModel
from laneway.llm.scripted import Asked, Call, Say, ScriptedModel, Turn
from laneway.store import approvals, principals, workflow_patches, workflows
from tests.lanes.workflow.running_workflows import eventually
from tests.lanes.workflow.stored_documents import CHAIN
from tests.running import Laneway, laneway

SENTENCE = "always e-mail me when the price drops below 100"
RETRY = [{"op": "add", "path": "/nodes/@fetch/retry", "value": {"max_attempts": 5}}]
PROPOSAL = Call("patch_workflow", {"workflow_tag": "main", "operations": RETRY, "description": "Tried five times."})


async def asked(here: Laneway, job_id: UUID) -> Approval:
    await here.until(job_id, JobStatus.WAITING)
    async with here.app.db.transaction() as tx:
        return next(a for a in await approvals.page(tx) if a.job_id == job_id and a.state is ApprovalState.PENDING)


async def answer(here: Laneway, approval: Approval, state: ApprovalState) -> None:
    async with here.app.db.transaction() as tx:
        await approvals.answer(tx, approval.id, state, here.owner)


async def all_workflows(here: Laneway) -> list[Workflow]:
    async with here.app.db.transaction() as tx:
        return await workflows.page(tx, None)


async def keep(here: Laneway, tag: str = "main", document: dict[str, Any] = CHAIN) -> Workflow:
    """A workflow of the owner's, stored."""
    whole = [{"op": "replace", "path": "", "value": document}]
    proposal = here.app.workflows.patches.propose(None, tag, whole, "Made.")
    async with here.app.db.transaction() as tx:
        made, _ = await here.app.workflows.patches.store(tx, proposal, Cause(here.owner.id))
    return made


async def last_patch(here: Laneway, workflow: Workflow) -> Patch:
    async with here.app.db.transaction() as tx:
        return (await workflow_patches.page(tx, workflow.id, limit=1))[0]


async def last_reply(here: Laneway, message_id: UUID) -> Message:
    return (await here.replies(message_id))[-1]


async def test_a_sentence_becomes_a_workflow_after_a_yes(database_url: str, tmp_path: Path) -> None:
    async with laneway(database_url, tmp_path, OfflineModel()) as here:
        receipt = await here.send(SENTENCE, lane="workflow")
        approval = await asked(here, receipt.job_id)
        question = (await here.replies(receipt.message_id))[-1].text
        assert "An e-mail goes to you when the price drops below 100." in question
        assert "```mermaid" in question
        assert await all_workflows(here) == []
        await answer(here, approval, ApprovalState.APPROVED)
        assert (await here.until(receipt.job_id)).status is JobStatus.DONE
        (made,) = await all_workflows(here)
        patch = await last_patch(here, made)
        reply = await last_reply(here, receipt.message_id)
    assert made.version == 1
    assert {node["id"] for node in made.document["nodes"]} == {"check_price", "send_email"}
    assert (patch.sentence, patch.message_id, patch.approved_by) == (SENTENCE, receipt.message_id, here.owner.id)
    assert reply.meta["result_preview"] == {
        "kind": "new", "patch_id": str(patch.id), "workflow_tag": made.tag, "base_version": 0, "version": 1,
        "description": patch.description,
    }  # fmt: skip
    assert reply.meta["result_ref"].startswith("artifact://sha256/")
    assert reply.meta["metadata"]["tool_calls"] == ["patch_workflow"]


async def test_what_is_refused_rejected_expired_or_asked_by_a_customer_is_not_stored(
    database_url: str, tmp_path: Path
) -> None:
    failed: list[Any] = []
    async with laneway(database_url, tmp_path, OfflineModel(), approval_timeout_seconds=60) as here:
        for words in (SENTENCE, SENTENCE, "make everything a bit nicer", "remove the step nonexistent"):
            receipt = await here.send(words, lane="workflow")
            if words == SENTENCE:
                approval = await asked(here, receipt.job_id)
                if not failed:
                    await answer(here, approval, ApprovalState.REJECTED)
                async with here.app.db.transaction() as tx:
                    await tx.execute("UPDATE approvals SET deadline = now() - interval '1 second'")
                    await approvals.expire(tx)
            job = await here.until(receipt.job_id)
            reply = await last_reply(here, receipt.message_id)
            assert job.result is not None
            assert failed_of(job.result, reply.text, None) == reply.meta["failed"]
            failed.append((reply.meta["failed"]["type"], reply.text))
        assert await all_workflows(here) == []
        async with here.app.db.transaction() as tx:
            customer = await principals.by_address(tx, "http:c", Role.CUSTOMER, "c")
        receipt = await here.send(SENTENCE, "theirs", lane="workflow", principal=customer)
        await here.until(receipt.job_id)
        assert (await last_reply(here, receipt.message_id)).text == "Workflows are changed by their owner only."
    assert [kind for kind, _ in failed] == ["rejected", "expired", "not-understood", "not-understood"]
    assert failed[0][1].startswith("Not done: you said no.")
    assert failed[2][1].startswith("“everything a bit nicer” is not understood.")


async def test_a_workflow_that_changed_meanwhile_is_asked_about_again(database_url: str, tmp_path: Path) -> None:
    async with laneway(database_url, tmp_path, OfflineModel()) as here:
        workflow = await keep(here)
        receipt = await here.send("retry fetch 5 times", lane="workflow")
        first = await asked(here, receipt.job_id)
        patches = here.app.workflows.patches
        slower = [{"op": "add", "path": "/nodes/@fetch/timeout_ms", "value": 9000}]
        async with here.app.db.transaction() as tx:
            await patches.store(tx, patches.propose(workflow, "main", slower, "Slower."), Cause(here.owner.id))
        await answer(here, first, ApprovalState.APPROVED)
        second = await asked(here, receipt.job_id)
        assert (first.action["arguments"]["base_version"], second.action["arguments"]["base_version"]) == (1, 2)
        text = (await last_reply(here, receipt.message_id)).text
        assert "has changed since you were asked (it was at version 1)" in text
        assert (await all_workflows(here))[0].version == 2
        await answer(here, second, ApprovalState.APPROVED)
        await here.until(receipt.job_id)
        (now,) = await all_workflows(here)
    fetch = now.document["nodes"][0]
    assert (now.version, fetch["timeout_ms"], fetch["retry"]) == (3, 9000, {"max_attempts": 5})


async def test_a_model_proposes_by_the_tool_and_repairs_what_is_refused(database_url: str, tmp_path: Path) -> None:
    seen: list[str] = []

    def script(one: Asked) -> Turn:
        if one.turn == 0:
            seen.append(one.text)
            wrong = [{"op": "add", "path": "/edges/-", "value": {"from": "fetch", "to": "nowhere"}}]
            return Call("patch_workflow", {"operations": wrong, "description": "Wrong."})
        return PROPOSAL

    async with laneway(database_url, tmp_path, ScriptedModel(script)) as here:
        await keep(here)
        receipt = await here.send(
            "fetch is flaky, do something lasting", lane="workflow", payload={"runner": {"workflow_tag": "main"}}
        )
        approval = await asked(here, receipt.job_id)
        assert approval.action["arguments"]["operations"] == RETRY
        await answer(here, approval, ApprovalState.APPROVED)
        await here.until(receipt.job_id)
        (now,) = await all_workflows(here)
    assert '"fetch"' in seen[0]
    assert now.document["nodes"][0]["retry"] == {"max_attempts": 5}


async def test_a_model_is_given_the_schema(database_url: str, tmp_path: Path) -> None:
    told: list[str] = []

    def script(one: Asked) -> Turn:
        told.extend(getattr(message, "instructions", None) or "" for message in one.messages)
        return Say("Which step do you mean?")

    async with laneway(database_url, tmp_path, ScriptedModel(script)) as here:
        await keep(here)
        assert await here.ask("make it better", lane="workflow") == "Which step do you mean?"
        assert (await all_workflows(here))[0].version == 1, "who asks back changes nothing"
    assert '"title":"Workflow"' in "".join(told)
    assert "JSON Patch (RFC 6902)" in "".join(told)


async def test_with_approval_off_the_owner_is_not_asked_and_a_sent_workflow_must_be_the_stored_one(
    database_url: str, tmp_path: Path
) -> None:
    by_id = {**CHAIN, "nodes": {one["id"]: {k: v for k, v in one.items() if k != "id"} for one in CHAIN["nodes"]}}
    async with laneway(database_url, tmp_path, OfflineModel(), workflow_approval=False) as here:
        first = {"runner": {"workflow_tag": "main", "current_workflow": by_id}}
        said = await here.ask("retry fetch 5 times", lane="workflow", payload=first)
        assert said.startswith("Done: `fetch` is tried up to 5 times. Workflow `main` is at version 2.")
        (workflow,) = await all_workflows(here)
        async with here.app.db.transaction() as tx:
            imported = (await workflows.version(tx, workflow.id, 1)).document
        assert {one["id"]: one for one in imported["nodes"]} == {one["id"]: one for one in CHAIN["nodes"]}
        old = await here.ask("retry fetch 4 times", lane="workflow", payload=first)
        assert "The workflow sent along is version 1 of `main`; stored is version 2." in old
        other = {"nodes": [{"id": "else", "type": "wait", "config": {"seconds": 1}}], "edges": []}
        strange = {"runner": {"workflow_tag": "main", "current_workflow": other}}
        told = await here.ask("retry else 4 times", lane="workflow", payload=strange)
        assert told.startswith("Done: `else` is tried up to 4 times. Workflow `main` is at version 4.")
        async with here.app.db.transaction() as tx:
            adopted = await workflows.version(tx, workflow.id, 3)
        assert (adopted.document, adopted.kind) == (other, "import")
        tainted = await here.send("retry else 3 times", lane="workflow", meta={"forwarded": True})
        assert (await asked(here, tainted.job_id)).action["tool"] == "patch_workflow"


async def test_the_toolbox_hands_a_patch_to_the_lane_that_asks(database_url: str, tmp_path: Path) -> None:
    async def waiting() -> list[Approval]:
        async with here.app.db.transaction() as tx:
            return await approvals.page(tx)

    model = ScriptedModel(lambda one: Say("You are asked next.") if one.turn else PROPOSAL)
    async with laneway(database_url, tmp_path, model) as here:
        await keep(here)
        await here.ask("make fetch sturdier", lane="tools")
        [approval] = await eventually(waiting)
        await answer(here, approval, ApprovalState.APPROVED)
        await here.until(approval.job_id)
        assert (await all_workflows(here))[0].document["nodes"][0]["retry"] == {"max_attempts": 5}
