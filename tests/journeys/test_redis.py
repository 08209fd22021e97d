"""Jobs through Redis, end to end: a producer, a real Redis, a whole Laneway."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

from laneway.domain.conversation import Role
from laneway.domain.job import JobStatus
from laneway.llm.offline import OfflineModel
from laneway.llm.scripted import Say, ScriptedModel
from laneway.store import principals
from tests.journeys.redis_queue import producing, until

FOUR = ScriptedModel([Say("Four.")])


async def test_a_job_in_the_list_has_its_result_in_the_seeds_shape(
    redis_url: str, database_url: str, tmp_path: Path
) -> None:
    async with producing(redis_url, database_url, tmp_path, FOUR) as producer:
        await producer.push("job-1", "what is two and two?")
        result = await producer.result("job-1")
        assert list(result) == ["version", "job_id", "status", "result_ref", "result_preview", "metadata"]
        assert (result["version"], result["job_id"], result["status"]) == ("1.0", "job-1", "completed")
        assert result["result_preview"] == {"kind": "text", "text": "Four."}
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


async def test_a_result_lies_in_redis_as_long_as_the_setting_says(
    redis_url: str, database_url: str, tmp_path: Path
) -> None:
    async with producing(redis_url, database_url, tmp_path, redis_result_seconds=90) as producer:
        await producer.push("short")
        await producer.result("short")
        assert 0 < await producer.redis.ttl("agent:results:short") <= 90


async def test_task_is_as_good_as_prompt_and_what_nobody_knows_is_kept(
    redis_url: str, database_url: str, tmp_path: Path
) -> None:
    async with producing(redis_url, database_url, tmp_path) as producer:
        context = {"previous_results": [{"rows": [{"a": 1}]}], "workflow_state": {"a": 1}}
        await producer.push("j", None, task="sort by a", run_id="r", node_id="n", retry_count=2, context=context)
        result = await producer.result("j")
        assert result["result_preview"]["kind"] == "dataset"
        [job] = await producer.jobs()
        assert job.payload["runner"] == {
            "door": "agent:jobs", "source": "list", "job_id": "j", "run_id": "r", "node_id": "n",
            "previous_results": [{"rows": [{"a": 1}]}], "context": {"workflow_state": {"a": 1}},
            "more": {"retry_count": 2},
        }  # fmt: skip


async def test_a_duplicate_runs_nothing_and_publishes_nothing_even_after_the_end(
    redis_url: str, database_url: str, tmp_path: Path
) -> None:
    async with producing(redis_url, database_url, tmp_path) as producer:
        await producer.push("twice")
        await producer.push("twice")
        await producer.result("twice")
        await producer.redis.delete("agent:results:twice")
        await producer.push("twice", "something else?")
        await producer.push("after")
        await producer.result("after")
        await producer.settled()
        assert await producer.results("twice") == []
        assert len(await producer.jobs()) == 2


async def test_a_session_continues_its_conversation_and_is_nobody_elses(
    redis_url: str, database_url: str, tmp_path: Path
) -> None:
    model = ScriptedModel(lambda asked: Say(f"{len(asked.messages)} messages"))
    owners = {"ann": "Ann", "bob": "Bob"}
    async with producing(redis_url, database_url, tmp_path, model, redis_owners=owners) as producer:
        async with producer.home.app.db.transaction() as tx:
            for name in owners.values():
                await principals.make(tx, Role.OPERATOR, name)
        for number, who in enumerate(["ann", "ann", "bob"]):
            context = {"session_id": "s"}
            await producer.push(f"j{number}", f"what about {number}?", context=context, workflow_owner=who)
            await producer.result(f"j{number}")
        counts = [(await producer.result(f"j{n}"))["result_preview"]["text"].split()[0] for n in range(3)]
        assert counts[1] > counts[0], "the second job sees what the first one said"
        assert counts[2] == counts[0], "the same name of another owner is another session"


async def test_a_job_acts_as_the_channels_principal_or_as_the_owner_it_names(
    redis_url: str, database_url: str, tmp_path: Path
) -> None:
    owners = {"ann": "Ann", "boss": "owner", "gone": "Nobody"}
    async with producing(redis_url, database_url, tmp_path, redis_owners=owners) as producer:
        async with producer.home.app.db.transaction() as tx:
            ann = await principals.make(tx, Role.OPERATOR, "Ann")
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


async def test_with_the_role_of_the_owner_a_job_acts_as_the_owner(
    redis_url: str, database_url: str, tmp_path: Path
) -> None:
    async with producing(redis_url, database_url, tmp_path, redis_role="owner") as producer:
        await producer.push("own")
        await producer.result("own")
        [job] = await producer.jobs()
        assert (await producer.principal(job)).id == producer.home.owner.id


async def test_not_more_is_taken_than_may_be_unfinished(redis_url: str, database_url: str, tmp_path: Path) -> None:
    gate = asyncio.Event()

    async def held(call: dict[str, Any]) -> None:
        await gate.wait()

    model = ScriptedModel(on_call=held)
    async with producing(redis_url, database_url, tmp_path, model, redis_unfinished=3) as producer:
        for number in range(8):
            await producer.push(f"j{number}", f"what about {number}?")

        async def three_taken() -> bool:
            return len(await producer.jobs()) == 3

        await until(three_taken)
        await producer.settled(left=5)
        # Several looks later it is still so.
        await asyncio.sleep(0.6)
        assert len(await producer.jobs()) == 3
        assert await producer.lying_about() == 5
        gate.set()
        for number in range(8):
            await producer.result(f"j{number}")


async def test_as_many_jobs_run_at_once_as_the_setting_says(redis_url: str, database_url: str, tmp_path: Path) -> None:
    gate, at_once, most = asyncio.Event(), 0, 0

    async def held(call: dict[str, Any]) -> None:
        nonlocal at_once, most
        at_once += 1
        most = max(most, at_once)
        await gate.wait()
        at_once -= 1

    async def calls(count: int) -> bool:
        return at_once == count

    async with producing(redis_url, database_url, tmp_path, ScriptedModel(on_call=held), workers=2) as producer:
        for number in range(6):
            await producer.push(f"j{number}", f"what about {number}?")

        async def all_stored() -> bool:
            return len(await producer.jobs()) == 6

        await until(all_stored)
        await until(lambda: calls(2))
        # The four others are ready and would start in a moment if they were let.
        await asyncio.sleep(1)
        assert [job.status for job in await producer.jobs()].count(JobStatus.RUNNING) == 2
        # People do not wait for programs: the owner's slots are theirs.
        asked = await producer.home.send("and you?", "desk")
        await until(lambda: calls(3))
        gate.set()
        for number in range(6):
            await producer.result(f"j{number}")
        await producer.home.until(asked.job_id)
    assert most == 3


async def test_whoever_sends_too_fast_waits_and_keeps_nobody_else_waiting(
    redis_url: str, database_url: str, tmp_path: Path
) -> None:
    owners = {"fast": "Fast", "slow": "Slow"}
    async with producing(redis_url, database_url, tmp_path, redis_owners=owners, redis_jobs_per_minute=3) as producer:
        async with producer.home.app.db.transaction() as tx:
            for name in owners.values():
                await principals.make(tx, Role.OPERATOR, name)
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


async def test_the_stream_is_read_by_a_group_and_acknowledged(
    redis_url: str, database_url: str, tmp_path: Path
) -> None:
    async with producing(redis_url, database_url, tmp_path, FOUR, redis_stream="agent:stream") as producer:
        await producer.redis.xadd("agent:stream", {"job": json.dumps({"job_id": "whole", "prompt": "what is one?"})})
        session = json.dumps({"session_id": "s"})
        await producer.redis.xadd("agent:stream", {"job_id": "flat", "task": "what is two?", "context": session})
        await producer.redis.xadd("agent:stream", {"job_id": "bad", "prompt": b"\xff"})
        await producer.redis.xadd("agent:stream", {"nothing": "here"})
        assert (await producer.result("whole"))["status"] == "completed"
        assert (await producer.result("flat"))["status"] == "completed"
        assert (await producer.job("flat")).payload["runner"]["session_id"] == "s"
        assert (await producer.result("bad"))["error"]["type"] == "malformed"

        async def two_dead() -> bool:
            return len(await producer.dead()) == 2

        await until(two_dead)

        async def none_pending() -> bool:
            return bool((await producer.redis.xpending("agent:stream", "agent_workers"))["pending"] == 0)

        await until(none_pending)


async def test_an_entry_of_the_stream_may_have_a_field_for_each_of_the_jobs(
    redis_url: str, database_url: str, tmp_path: Path
) -> None:
    crates = [{"crate": "A", "weight": 30}, {"crate": "B", "weight": 12}, {"crate": "C", "weight": 21}]
    async with producing(redis_url, database_url, tmp_path, OfflineModel(), redis_stream="agent:stream") as producer:
        fields: dict[Any, Any] = {
            "job_id": "st2",
            "task": "the lightest crate",
            "tables": json.dumps({"crates": crates}),
        }
        await producer.redis.xadd("agent:stream", fields)
        result = await producer.result("st2")
        assert result["status"] == "completed", result
        assert result["result_preview"]["sample"] == [{"crate": "B", "weight": 12}]


async def test_tokens_are_jobs_of_a_run_and_whoever_runs_it_is_told(
    redis_url: str, database_url: str, tmp_path: Path
) -> None:
    workflow = {"nodes": [{"id": "n", "type": "agent", "config": {}}], "edges": []}
    token = {
        "id": "t1", "run_id": "r1", "from_node": "a", "to_node": "n", "payload_ref": "cas:1", "config": {}, "hop": 3,
        "created_at": "2026-01-01T00:00:00Z",
        "metadata": {"task": "what is two and two?", "context": {"session_id": "s"}, "workflow_tag": "main"},
    }  # fmt: skip
    async with producing(redis_url, database_url, tmp_path, FOUR, redis_tokens=True) as producer:
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


async def test_without_tokens_the_streams_of_an_orchestrator_are_left_alone(
    redis_url: str, database_url: str, tmp_path: Path
) -> None:
    async with producing(redis_url, database_url, tmp_path) as producer:
        await producer.redis.xadd("wf.tasks.agent", {"token": "{}"})
        await producer.push("j", run_id="r", node_id="n")
        await producer.result("j")
        assert await producer.redis.xinfo_groups("wf.tasks.agent") == []
        assert not await producer.redis.exists("completion_signals")


FLIGHTS = [{"flight": f"F{number}", "price": price} for number, price in enumerate([300, 120, 99, 450, 210])]


async def test_a_table_request_of_the_seed_is_answered_offline_with_rows(
    redis_url: str, database_url: str, tmp_path: Path
) -> None:
    async with producing(redis_url, database_url, tmp_path, OfflineModel(), redis_tokens=True) as producer:
        given = {"context": {"previous_results": [{"rows": FLIGHTS}]}, "run_id": "r", "node_id": "n"}
        prompt = "show me top 3 flights sorted by price"
        await producer.push("first", prompt, **given)
        first = await producer.result("first")
        assert first["status"] == "completed", first
        assert first["result_preview"]["kind"] == "dataset"
        assert first["result_preview"]["row_count"] == 3
        assert first["metadata"]["cache_hit"] is False
        rows = await producer.home.app.artifacts.read(first["result_ref"])
        assert rows.content
        [raw] = await producer.redis.lrange("completion_signals", 0, -1)
        assert [row["price"] for row in json.loads(raw)["result_data"]] == [99, 120, 210]
        await producer.push("second", prompt, **given)
        second = await producer.result("second")
        assert second["result_ref"] == first["result_ref"]
        assert (second["metadata"]["cache_hit"], second["metadata"]["cache_kind"]) == (True, "plan")


async def test_columns_of_a_job_keep_the_order_in_which_they_were_sent(
    redis_url: str, database_url: str, tmp_path: Path
) -> None:
    rows = [{"flight": f"LH {n}", "price": 100 - n, "city": "Oslo"} for n in range(4)]
    async with producing(redis_url, database_url, tmp_path, OfflineModel(), redis_tokens=True) as producer:
        ways: list[dict[str, Any]] = [{"tables": {"flights": rows}}, {"context": {"previous_results": [rows]}}]
        for number, given in enumerate(ways):
            await producer.push(f"j{number}", "show the 2 cheapest flights", run_id="r", node_id="n", **given)
            found = await producer.result(f"j{number}")
            stored = json.loads((await producer.home.app.artifacts.read(found["result_ref"])).content)
            told = json.loads((await producer.redis.lrange("completion_signals", -1, -1))[0])["result_data"]
            seen = [*found["result_preview"]["sample"], *stored, *told]
            assert [list(row) for row in seen] == [["flight", "price", "city"]] * 6


async def test_what_the_planner_does_not_understand_is_a_failed_result(
    redis_url: str, database_url: str, tmp_path: Path
) -> None:
    async with producing(redis_url, database_url, tmp_path, OfflineModel()) as producer:
        await producer.push("j", "show the flights with the best karma", tables={"flights": FLIGHTS})
        result = await producer.result("j")
        assert result["status"] == "failed", result
        assert result["error"]["message"]


async def test_a_table_of_many_rows_is_stored_before_its_small_job_is(
    redis_url: str, database_url: str, tmp_path: Path
) -> None:
    rows = [{"flight": f"LH {n}", "price": 1000 - n} for n in range(300)]
    async with producing(redis_url, database_url, tmp_path, OfflineModel(), redis_stream="agent:stream") as producer:
        await producer.push("list", "show the 2 cheapest flights", tables={"flights": rows})
        fields: dict[Any, Any] = {"task": "show the 2 cheapest flights", "tables": json.dumps({"flights": rows})}
        await producer.redis.xadd("agent:stream", {"job_id": "stream", **fields})
        for name in ("list", "stream"):
            result = await producer.result(name)
            assert [row["price"] for row in result["result_preview"]["sample"]] == [701, 702], result
            runner = (await producer.job(name)).payload["runner"]
            assert runner["laid"] == [runner["more"]["tables"]["flights"]]
            stored = await producer.home.app.artifacts.read(runner["laid"][0])
            assert [json.loads(line) for line in stored.content.splitlines()] == rows
