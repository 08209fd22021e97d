"""What jobs of programs hand on goes behind people as they do: whatever way a job makes another."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from uuid import UUID

from laneway.domain.job import Job, JobStatus
from laneway.llm.scripted import Asked, Call, Say, ScriptedModel, Turn
from laneway.store import approvals, jobs, workflow_runs
from laneway.store.again import ask_again
from tests.journeys.redis_queue import Producer, until
from tests.journeys.test_redis_ends import selling, shop
from tests.journeys.test_workflow_runs import listening
from tests.journeys.tooling import Start, too_late
from tests.lanes.workflow.running_workflows import Workflows, document, node
from tests.running import Laneway

__all__ = ["shop"]

PATCH = {
    "workflow_tag": "new", "description": "There is one more.",
    "operations": [{"op": "replace", "path": "", "value": document([node("a", "transform", {"set": 1})])}],
}  # fmt: skip
WAYS = [Call("delegate", {"lane": "answer", "text": "what is one?"}), Call("patch_workflow", PATCH)]


async def all_jobs(here: Laneway) -> list[Job]:
    async with here.app.db.transaction() as tx:
        return await jobs.page(tx, limit=50)


async def test_what_a_tool_hands_on_is_a_programs_if_its_job_is(start: Start[Laneway]) -> None:
    def script(asked: Asked) -> Turn:
        handed = next((way for way in WAYS if f"hand it on by {way.tool}" in asked.text), None)
        return handed if handed and asked.turn == 0 else Say("Done.")

    async with start(ScriptedModel(script)) as here:
        for way in WAYS:
            for program in (True, False):
                before = {job.id for job in await all_jobs(here)}
                text, thread = f"what is it? hand it on by {way.tool}", f"{way.tool} {program}"
                first = await here.send(text, thread, lane="tools", program=program)
                await here.until(first.job_id)
                made = [job for job in await all_jobs(here) if job.id not in before | {first.job_id}]
                assert [(job.program, job.first) for job in made] == [(program, not program)], thread


async def test_a_question_of_a_program_that_is_asked_again_is_still_a_programs(
    redis_url: str, database_url: str, tmp_path: Path, shop: Any
) -> None:
    async with selling(redis_url, database_url, tmp_path, shop, redis_role="owner") as (producer, plan):
        await producer.push("asks", "ask the shop", plan=plan)
        job = await until(lambda: producer.job("asks", JobStatus.WAITING))
        assert (await producer.principal(job)).id == producer.home.owner.id
        await too_late(database_url)
        assert (await producer.result("asks"))["error"]["type"] == "expired"
        async with producer.home.app.db.transaction() as tx:
            [question] = await approvals.page(tx)
            again = await ask_again(tx, question.id, producer.home.owner)
        assert (await producer.home.job(again.job_id)).first is False


async def test_a_run_that_a_job_from_redis_leads_to_goes_behind_people_too(
    queue: Start[Producer], database_url: str
) -> None:
    async with queue() as producer:
        flows = Workflows(producer.home)
        made = document([node("a", "transform", {"set": 1})], triggers=[{"type": "event", "event": "job.done"}])
        watcher = await flows.store("watcher", made)
        await flows.until_watched(watcher)
        await listening(database_url)
        await producer.push("j")
        await producer.result("j")
        [run] = await until(lambda: flows.runs_of(watcher))
        assert (await producer.home.job(run.job_id)).program is True


async def test_nodes_of_a_programs_run_hand_their_work_on_as_a_programs(start: Start[Laneway]) -> None:
    script = ScriptedModel(lambda asked: Say("Done."))
    async with start(script) as here:
        flows = Workflows(here)
        agent = node("do", "agent", {"prompt": "Look.", "tools": ["read_file"]})
        await flows.store("child", document([agent]))
        parent = await flows.store("parent", document([node("sub", "subworkflow", {"workflow": "child"})]))
        run = await flows.until(await flows.start(parent, program=True))
        async with here.app.db.transaction() as tx:
            [child] = await until(lambda: workflow_runs.children(tx, run.id))
        record = await until(lambda: _waits(flows, child))
        assert (await here.job(run.job_id)).program is True
        assert (await here.job(child.job_id)).program is True
        assert (await here.job(UUID(record["job"]))).program is True


async def _waits(flows: Workflows, run: Any) -> dict[str, Any]:
    record = (await flows.nodes(run)).get("do")
    return dict(record.waits or {}) if record is not None else {}
