"""Jobs through Redis, end to end: a producer, a real Redis, a whole Laneway."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from laneway.domain.conversation import Role
from laneway.llm.offline import OfflineModel
from laneway.llm.scripted import Say, ScriptedModel
from tests.journeys.redis_queue import Producer
from tests.journeys.tooling import Start

FOUR = ScriptedModel([Say("Four.")])


async def test_a_job_in_the_list_has_its_result_in_the_seeds_shape(queue: Start[Producer]) -> None:
    async with queue(FOUR) as producer:
        await producer.push("job-1", "what is two and two?")
        result = await producer.result("job-1")
        assert list(result) == [
            "version", "job_id", "status", "result_ref", "result_preview", "metadata", "result_data",
        ]  # fmt: skip
        assert (result["version"], result["job_id"], result["status"]) == ("1.0", "job-1", "completed")
        assert result["result_preview"] == {"kind": "text", "text": "Four."}
        assert result["result_data"] == "Four."
        assert set(result["metadata"]) == {
            "tool_calls", "tokens_used", "cache_hit", "cache_kind", "execution_time_ms", "llm_model",
        }  # fmt: skip
        assert result["metadata"]["llm_model"] == "scripted"
        assert result["metadata"]["tokens_used"] > 0
        assert result["metadata"]["execution_time_ms"] > 0
        original = await producer.home.app.artifacts.read(result["result_ref"])
        assert original.content.decode() == "Four."
        assert 0 < await producer.redis.ttl("agent:results:job-1") <= 86_400
        await producer.settled()


async def test_task_is_as_good_as_prompt_and_what_nobody_knows_is_kept(queue: Start[Producer]) -> None:
    async with queue() as producer:
        context = {"previous_results": [{"rows": [{"a": 1}]}], "workflow_state": {"a": 1}}
        await producer.push("j", None, task="sort by a", run_id="r", node_id="n", retry_count=2, context=context)
        result = await producer.result("j")
        assert result["result_preview"]["kind"] == "dataset"
        assert not await producer.redis.exists("completion_signals"), "nobody asked for tokens"
        [job] = await producer.jobs()
        assert job.payload["runner"] == {
            "door": "agent:jobs", "source": "list", "job_id": "j", "run_id": "r", "node_id": "n",
            "previous_results": [{"rows": [{"a": 1}]}], "context": {"workflow_state": {"a": 1}},
            "more": {"retry_count": 2},
        }  # fmt: skip


async def test_a_duplicate_runs_nothing_and_brings_the_result_back_that_was_taken(queue: Start[Producer]) -> None:
    async with queue() as producer:
        await producer.push("twice")
        await producer.push("twice")
        first = await producer.result("twice")
        for _ in range(2):
            await producer.redis.delete("agent:results:twice")
            await producer.push("twice", "something else?")
            assert await producer.result("twice") == first
        await producer.push("after")
        await producer.result("after")
        await producer.settled()
        assert await producer.results("twice") == [first]
        assert len(await producer.jobs()) == 2


async def test_a_session_continues_its_conversation_and_is_nobody_elses(queue: Start[Producer]) -> None:
    model = ScriptedModel(lambda asked: Say(f"{len(asked.messages)} messages"))
    owners = {"ann": "Ann", "bob": "Bob"}
    async with queue(model, redis_owners=owners) as producer:
        await producer.operators(*owners.values())
        for number, who in enumerate(["ann", "ann", "bob"]):
            context = {"session_id": "s"}
            await producer.push(f"j{number}", f"what about {number}?", context=context, workflow_owner=who)
            await producer.result(f"j{number}")
        counts = [(await producer.result(f"j{n}"))["result_preview"]["text"].split()[0] for n in range(3)]
        assert counts[1] > counts[0], "the second job sees what the first one said"
        assert counts[2] == counts[0], "the same name of another owner is another session"


async def test_a_job_acts_as_the_channels_principal_or_as_the_owner_it_names(queue: Start[Producer]) -> None:
    owners = {"ann": "Ann", "boss": "owner", "gone": "Nobody"}
    async with queue(redis_owners=owners) as producer:
        [ann] = await producer.operators("Ann")
        await producer.push("own")
        await producer.push("anns", workflow_owner="ann")
        for name in ("stranger", "boss", "gone"):
            await producer.push(name, workflow_owner=name)
        assert (await producer.result("own"))["status"] == "completed"
        assert (await producer.result("anns"))["status"] == "completed"
        who = {job.payload["runner"]["job_id"]: await producer.principal(job) for job in await producer.jobs()}
        assert who["anns"].id == ann.id
        assert (who["own"].role, who["own"].name) == (Role.OPERATOR, "redis")
        for name, says in (("stranger", "LANEWAY_REDIS_OWNERS"), ("boss", "LANEWAY_REDIS_ROLE"), ("gone", "nobody")):
            error = (await producer.result(name))["error"]
            assert error["type"] == "unknown-owner"
            assert says in error["message"]
        assert len(await producer.jobs()) == 2


async def test_not_more_is_taken_than_may_be_unfinished(queue: Start[Producer]) -> None:
    gate = asyncio.Event()

    async def held(call: dict[str, Any]) -> None:
        await gate.wait()

    model = ScriptedModel(on_call=held)
    async with queue(model, redis_unfinished=3) as producer:
        for number in range(8):
            await producer.push(f"j{number}", f"what about {number}?")

        await producer.settled(left=5)
        # A moment later it is still so.
        await asyncio.sleep(0.15)
        assert len(await producer.jobs()) == 3
        assert await producer.lying_about() == 5
        gate.set()
        for number in range(8):
            await producer.result(f"j{number}")


async def test_whoever_sends_too_fast_waits_and_keeps_nobody_else_waiting(queue: Start[Producer]) -> None:
    owners = {"fast": "Fast", "slow": "Slow"}
    async with queue(redis_owners=owners, redis_jobs_per_minute=3) as producer:
        await producer.operators(*owners.values())
        for number in range(6):
            await producer.push(f"f{number}", f"what about {number}?", workflow_owner="fast")
        await producer.push("s", workflow_owner="slow")
        await producer.result("s")
        for number in range(3):
            await producer.result(f"f{number}")
        assert len(await producer.jobs()) == 4
        # Those too many are kept by Redis.
        await producer.settled(left=3)
        async with producer.home.app.db.transaction() as tx:
            # As if the minute were over.
            await tx.execute("UPDATE messages SET created_at = created_at - interval '2 minutes'")
        for number in range(3, 6):
            await producer.result(f"f{number}", 40)


async def test_tokens_are_jobs_of_a_run_and_whoever_runs_it_is_told(queue: Start[Producer]) -> None:
    workflow = {"nodes": [{"id": "n", "type": "agent", "config": {}}], "edges": []}
    token = {
        "id": "t1", "run_id": "r1", "from_node": "a", "to_node": "n", "payload_ref": "cas:1", "config": {}, "hop": 3,
        "created_at": "2026-01-01T00:00:00Z",
        "metadata": {"task": "what is two and two?", "context": {"session_id": "s"}, "workflow_tag": "main"},
    }  # fmt: skip
    async with queue(FOUR, redis_tokens=True) as producer:
        await producer.redis.set("ir:r1", json.dumps(workflow))
        await producer.redis.xadd("wf.tasks.agent", {"token": json.dumps(token)})
        await producer.redis.xadd("wf.tasks.agent", {"token": json.dumps({**token, "id": "t2", "metadata": {}})})
        assert (await producer.result("t1"))["status"] == "completed"
        assert (await producer.result("t2"))["status"] == "failed"
        signals = [json.loads(raw) for raw in await producer.redis.lrange("completion_signals", 0, -1)]
        good, bad = sorted(signals, key=lambda one: str(one["job_id"]))
        assert (good["version"], good["run_id"], good["node_id"], good["status"]) == ("1.0", "r1", "n", "completed")
        assert good["result_data"] == "Four."
        assert good["metadata"]["llm_model"] == "scripted"
        assert (bad["status"], bad["result_ref"], bad["run_id"]) == ("failed", "", "r1")
        assert set(bad["metadata"]) == {"error_type", "error_message", "retryable", "metrics"}
        [job] = await producer.jobs()
        runner = job.payload["runner"]
        assert runner["current_workflow"] == workflow
        assert (runner["source"], runner["workflow_tag"], runner["session_id"]) == ("token", "main", "s")
        assert runner["more"]["hop"] == 3


FLIGHTS = [{"price": price, "flight": f"F{number}"} for number, price in enumerate([300, 120, 99, 450, 210])]


async def test_a_table_request_of_the_seed_is_answered_offline_with_rows_or_refused(queue: Start[Producer]) -> None:
    async with queue(OfflineModel(), redis_tokens=True, redis_result_seconds=90) as producer:
        given = {"context": {"previous_results": [{"rows": FLIGHTS}]}, "run_id": "r", "node_id": "n"}
        prompt = "show me top 3 flights sorted by price"
        await producer.push("first", prompt, **given)
        first = await producer.result("first")
        assert first["status"] == "completed", first
        assert (first["result_preview"]["kind"], first["result_preview"]["row_count"]) == ("dataset", 3)
        assert first["metadata"]["cache_hit"] is False
        assert 0 < await producer.redis.ttl("agent:results:first") <= 90
        stored = json.loads((await producer.home.app.artifacts.read(first["result_ref"])).content)
        [raw] = await producer.redis.lrange("completion_signals", 0, -1)
        told = json.loads(raw)["result_data"]
        assert [row["price"] for row in told] == [99, 120, 210]
        for row in (*told, *stored, *first["result_preview"]["sample"]):
            assert list(row) == ["price", "flight"], "columns keep the order in which they were sent"
        await producer.push("second", prompt, **given)
        second = await producer.result("second")
        assert second["result_ref"] == first["result_ref"]
        assert (second["metadata"]["cache_hit"], second["metadata"]["cache_kind"]) == (True, "plan")
        await producer.push("odd", "show the flights with the best karma", tables={"flights": FLIGHTS})
        odd = await producer.result("odd")
        assert odd["status"] == "failed", odd
        assert odd["error"]["message"]
