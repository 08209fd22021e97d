"""Jobs through Redis, end to end: a producer, a real Redis, a whole Laneway."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from laneway.domain.conversation import Role
from laneway.domain.job import JobStatus
from laneway.domain.judgement import ApprovalState
from laneway.llm.scripted import Asked, Delay, Fail, Say, ScriptedModel, Turn
from laneway.store import jobs, principals
from tests.journeys.redis_queue import Producer, producing, until
from tests.journeys.test_approval import Switch, answer, asked


async def test_a_job_in_the_list_has_its_result_in_the_seeds_shape(
    redis_url: str, database_url: str, tmp_path: Path
) -> None:
    async with producing(redis_url, database_url, tmp_path) as producer:
        await producer.push("job-1", "what is two and two?")
        result = await producer.result("job-1")
        assert list(result) == ["version", "job_id", "status", "result_ref", "result_preview", "metadata"]
        assert (result["version"], result["job_id"], result["status"]) == ("1.0", "job-1", "completed")
        assert result["result_preview"] == {"kind": "text", "text": "You said: what is two and two?"}
        assert set(result["metadata"]) == {
            "tool_calls", "tokens_used", "cache_hit", "cache_kind", "execution_time_ms", "llm_model",
        }  # fmt: skip
        assert result["metadata"]["llm_model"] == "scripted"
        assert result["metadata"]["tokens_used"] > 0
        assert result["metadata"]["execution_time_ms"] > 0
        original = await producer.home.app.artifacts.read(result["result_ref"])
        assert original.content.decode() == "You said: what is two and two?"
        assert 0 < await producer.redis.ttl("agent:results:job-1") <= 86_400
        await producer.settled()


async def test_a_result_lies_in_redis_as_long_as_the_setting_says(
    redis_url: str, database_url: str, tmp_path: Path
) -> None:
    async with producing(redis_url, database_url, tmp_path, redis_result_seconds=1) as producer:
        await producer.push("short")
        await producer.result("short")

        async def expired() -> bool:
            return not await producer.redis.exists("agent:results:short")

        await until(expired)


async def test_task_is_as_good_as_prompt_and_what_nobody_knows_is_kept(
    redis_url: str, database_url: str, tmp_path: Path
) -> None:
    async with producing(redis_url, database_url, tmp_path) as producer:
        context = {"previous_results": [{"rows": [1]}], "workflow_state": {"a": 1}}
        await producer.push("j", None, task="say it", run_id="r", node_id="n", retry_count=2, context=context)
        result = await producer.result("j")
        assert result["result_preview"]["text"] == "You said: say it"
        [job] = await producer.jobs()
        assert job.payload["runner"] == {
            "door": "agent:jobs", "source": "list", "job_id": "j", "run_id": "r", "node_id": "n",
            "previous_results": [{"rows": [1]}], "context": {"workflow_state": {"a": 1}}, "more": {"retry_count": 2},
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


async def test_a_failed_job_says_of_what_kind_the_failure_is_and_whether_to_try_again(
    redis_url: str, database_url: str, tmp_path: Path
) -> None:
    def script(asked: Asked) -> Turn:
        return Fail("transient" if "transient" in asked.text else "permanent")

    async with producing(redis_url, database_url, tmp_path, ScriptedModel(script), job_attempts=1) as producer:
        await producer.push("t", "what is transient?")
        await producer.push("p", "what is permanent?")
        passing, lasting = await producer.result("t"), await producer.result("p")
        assert passing["status"] == lasting["status"] == "failed"
        assert passing["error"]["type"] == "model-transient"
        assert passing["error"]["retryable"] is True
        assert lasting["error"]["type"] == "model-permanent"
        assert lasting["error"]["retryable"] is False
        assert "The script says" in lasting["error"]["message"]


@pytest.mark.parametrize(
    ("state", "error"), [(ApprovalState.APPROVED, None), (ApprovalState.REJECTED, "rejected")], ids=["yes", "no"]
)
async def test_a_job_that_asks_publishes_nothing_until_it_is_decided(
    state: ApprovalState, error: str | None, redis_url: str, database_url: str, tmp_path: Path
) -> None:
    switch = Switch()
    model = ScriptedModel(switch.script)
    async with producing(redis_url, database_url, tmp_path, model, tools=[switch.entry]) as producer:
        here = producer.home
        await here.send("hello", "mine")
        await producer.push("asks", "restart the lights")
        job = await until(lambda: _job(producer, "asks"))
        question = await asked(here, job.id)
        [told] = await until(lambda: _notices(producer))
        assert "The job asks from Redis asks" in told
        assert str(question.id) in told
        assert await producer.results("asks") == []
        await answer(here, question, state)
        result = await producer.result("asks")
        assert result["status"] == ("failed" if error else "completed")
        assert result.get("error", {}).get("type") == error
        assert switch.flipped == ([] if error else ["lights"])


async def test_a_question_that_nobody_answers_is_a_failed_result_of_the_type_expired(
    redis_url: str, database_url: str, tmp_path: Path
) -> None:
    switch = Switch()
    model = ScriptedModel(switch.script)
    async with producing(
        redis_url, database_url, tmp_path, model, tools=[switch.entry], approval_timeout_seconds=1
    ) as producer:
        await producer.push("asks", "restart the lights")
        result = await producer.result("asks", 40)
        assert result["error"]["type"] == "expired"
        assert result["error"]["retryable"] is False


@pytest.mark.parametrize("when", [JobStatus.RUNNING, JobStatus.QUEUED, JobStatus.WAITING])
async def test_a_cancelled_job_is_a_failed_result_whenever_it_was_cancelled(
    when: JobStatus, redis_url: str, database_url: str, tmp_path: Path
) -> None:
    switch = Switch()

    def script(asked: Asked) -> Turn:
        return Delay(Say("late"), 60) if "slow" in asked.text else switch.script(asked)

    async with producing(redis_url, database_url, tmp_path, ScriptedModel(script), tools=[switch.entry]) as producer:
        session = {"session_id": "s"}
        await producer.push("first", "what is slow?", context=session)
        if when is JobStatus.QUEUED:
            await producer.push("second", "what is next?", context=session)
        if when is JobStatus.WAITING:
            await producer.push("third", "restart the lights")
        wanted = {JobStatus.RUNNING: "first", JobStatus.QUEUED: "second", JobStatus.WAITING: "third"}[when]
        job = await until(lambda: _job(producer, wanted, when))
        async with producer.home.app.db.transaction() as tx:
            await jobs.request_cancel(tx, job.id)
        result = await producer.result(wanted)
        assert result["status"] == "failed"
        assert result["error"]["type"] == "cancelled"
        if wanted != "first":
            async with producer.home.app.db.transaction() as tx:
                await jobs.request_cancel(tx, (await _job(producer, "first")).id)


async def test_a_job_that_takes_longer_than_its_time_fails_and_ends(
    redis_url: str, database_url: str, tmp_path: Path
) -> None:
    model = ScriptedModel(lambda asked: Delay(Say("late"), 60))
    async with producing(redis_url, database_url, tmp_path, model) as producer:
        await producer.push("slow", "how long does this take?", timeout_sec=0.7)
        result = await producer.result("slow")
        assert result["error"]["type"] == "timeout"
        assert result["error"]["retryable"] is True
        [job] = await producer.jobs()
        assert job.status is JobStatus.FAILED


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
        who = {
            job.payload["runner"]["job_id"]: await _principal(producer, job.message_id) for job in await _all(producer)
        }
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
        assert (await _principal(producer, job.message_id)).id == producer.home.owner.id


BAD: list[tuple[str, bytes, str | None, str]] = [
    ("not JSON", b'{"job_id": "a", oops', "a", "malformed"),
    ("no object", b'["job_id", "b"]', None, "malformed"),
    ("no id", b'{"prompt": "hello?"}', None, "malformed"),
    ("no prompt", b'{"job_id": "c"}', "c", "malformed"),
    ("a number as prompt", b'{"job_id": "d", "prompt": 4}', "d", "malformed"),
    ("a list as context", b'{"job_id": "e", "prompt": "x", "context": []}', "e", "malformed"),
    ("no UTF-8", b'{"job_id": "f", "prompt": "\xff\xfe"}', "f", "malformed"),
    ("nested too deep", b'{"job_id": "g", "prompt": "x", "m": ' + b"[" * 500 + b"]" * 500 + b"}", "g", "malformed"),
    (
        "nested beyond all",
        b'{"job_id": "h", "prompt": "x", "m": ' + b"[" * 90_000 + b"]" * 90_000 + b"}",
        "h",
        "malformed",
    ),
    ("version 2", b'{"version": "2.0", "job_id": "i", "prompt": "x"}', "i", "unsupported-version"),
    ("ten megabytes", b'{"job_id": "j", "prompt": "' + b"x" * 10_000_000 + b'"}', "j", "too-large"),
    ("a long prompt", b'{"job_id": "k", "prompt": "' + b"x" * 300_000 + b'"}', "k", "too-large"),
    ("an endless time", b'{"job_id": "l", "prompt": "x", "timeout_sec": 1e99}', "l", "malformed"),
]


async def test_what_is_no_job_lies_with_the_dead_and_has_a_failed_result_where_that_is_possible(
    redis_url: str, database_url: str, tmp_path: Path
) -> None:
    async with producing(redis_url, database_url, tmp_path) as producer:
        for _, raw, _, _ in BAD:
            await producer.redis.rpush("agent:jobs", raw)
        await producer.push("good")
        assert (await producer.result("good"))["status"] == "completed"
        await producer.settled()
        dead = await producer.dead()
        assert [one["type"] for one in dead] == [kind for _, _, _, kind in BAD]
        assert [one["job_id"] for one in dead] == [job_id for _, _, job_id, _ in BAD]
        assert all(one["reason"] for one in dead)
        assert [one["bytes"] for one in dead] == [len(raw) for _, raw, _, _ in BAD]
        for name, _, job_id, kind in BAD:
            if job_id is not None:
                result = await producer.result(job_id)
                assert (result["status"], result["error"]["type"]) == ("failed", kind), name
        assert len(await producer.jobs()) == 1


async def test_a_broken_copy_of_a_good_job_takes_nothing_from_it(
    redis_url: str, database_url: str, tmp_path: Path
) -> None:
    async with producing(redis_url, database_url, tmp_path) as producer:
        await producer.push("j")
        await producer.redis.rpush("agent:jobs", b'{"job_id": "j", "prompt": 5}')
        assert (await producer.result("j"))["status"] == "completed"
        await until(producer.dead)
        await producer.push("next")
        await producer.result("next")
        assert len(await producer.results("j")) == 1


async def test_only_the_final_answer_is_a_result(redis_url: str, database_url: str, tmp_path: Path) -> None:
    async with producing(redis_url, database_url, tmp_path) as producer:
        await producer.push("j", context={"session_id": "s"})
        await producer.result("j")
        [job] = await producer.jobs()
        from laneway.store import outbox

        async with producer.home.app.db.transaction() as tx:
            for meta in ({"notice": "late-edit"}, {"schedule": "x"}, {}):
                await outbox.write(tx, job.thread_id, "Remember!", external_id=f"n{meta}", pulled=(), meta=meta)

        async def all_sent() -> bool:
            async with producer.home.app.db.transaction() as tx:
                return all(row.state == "sent" for row in await outbox.page(tx))

        await until(all_sent)
        assert len(await producer.results("j")) == 1
        assert [key async for key in producer.redis.scan_iter("agent:results:*")] == [b"agent:results:j"]


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
        # Several looks later it is still so.
        await asyncio.sleep(0.6)
        assert len(await producer.jobs()) == 3
        assert await producer.lying_about() == 5
        gate.set()
        for number in range(8):
            await producer.result(f"j{number}")


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
        assert await producer.lying_about() == 3, "those too many are kept by Redis"
        async with producer.home.app.db.transaction() as tx:
            # As if the minute were over.
            await tx.execute("UPDATE messages SET created_at = created_at - interval '2 minutes'")
        for number in range(3, 6):
            await producer.result(f"f{number}", 40)


async def test_the_stream_is_read_by_a_group_and_acknowledged(
    redis_url: str, database_url: str, tmp_path: Path
) -> None:
    async with producing(redis_url, database_url, tmp_path, redis_stream="agent:stream") as producer:
        await producer.redis.xadd("agent:stream", {"job": json.dumps({"job_id": "whole", "prompt": "what is one?"})})
        session = json.dumps({"session_id": "s"})
        await producer.redis.xadd("agent:stream", {"job_id": "flat", "task": "what is two?", "context": session})
        await producer.redis.xadd("agent:stream", {"job_id": "bad", "prompt": b"\xff"})
        await producer.redis.xadd("agent:stream", {"nothing": "here"})
        assert (await producer.result("whole"))["result_preview"]["text"] == "You said: what is one?"
        assert (await producer.result("flat"))["result_preview"]["text"] == "You said: what is two?"
        assert (await producer.result("bad"))["error"]["type"] == "malformed"

        async def two_dead() -> bool:
            return len(await producer.dead()) == 2

        await until(two_dead)

        async def none_pending() -> bool:
            return bool((await producer.redis.xpending("agent:stream", "agent_workers"))["pending"] == 0)

        await until(none_pending)


async def test_tokens_are_jobs_of_a_run_and_whoever_runs_it_is_told(
    redis_url: str, database_url: str, tmp_path: Path
) -> None:
    workflow = {"nodes": [{"id": "n", "type": "agent", "config": {}}], "edges": []}
    token = {
        "id": "t1", "run_id": "r1", "from_node": "a", "to_node": "n", "payload_ref": "cas:1", "config": {}, "hop": 3,
        "created_at": "2026-01-01T00:00:00Z",
        "metadata": {"task": "what is two and two?", "context": {"session_id": "s"}, "workflow_tag": "main"},
    }  # fmt: skip
    async with producing(redis_url, database_url, tmp_path, redis_tokens=True) as producer:
        await producer.redis.set("ir:r1", json.dumps(workflow))
        await producer.redis.xadd("wf.tasks.agent", {"token": json.dumps(token)})
        await producer.redis.xadd("wf.tasks.agent", {"token": json.dumps({**token, "id": "t2", "metadata": {}})})
        assert (await producer.result("t1"))["status"] == "completed"
        assert (await producer.result("t2"))["status"] == "failed"
        signals = [json.loads(raw) for raw in await producer.redis.lrange("completion_signals", 0, -1)]
        good, bad = sorted(signals, key=lambda one: str(one["job_id"]))
        assert (good["version"], good["run_id"], good["node_id"], good["status"]) == ("1.0", "r1", "n", "completed")
        assert good["result_data"] == "You said: what is two and two?"
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


async def _all(producer: Producer) -> list[Any]:
    return await producer.jobs()


async def _job(producer: Producer, job_id: str, status: JobStatus | None = None) -> Any:
    for job in await producer.jobs():
        if job.payload.get("runner", {}).get("job_id") == job_id and status in (None, job.status):
            return job
    return None


async def _principal(producer: Producer, message_id: Any) -> Any:
    from laneway.store import conversations

    async with producer.home.app.db.transaction() as tx:
        message = await conversations.message(tx, message_id)
        assert message is not None
        return await principals.by_id(tx, message.principal_id)


async def _notices(producer: Producer) -> list[str]:
    async with producer.home.app.db.transaction() as tx:
        cursor = await tx.execute("SELECT text FROM messages WHERE meta->>'notice' = 'redis.asks'")
        return [row[0] for row in await cursor.fetchall()]
