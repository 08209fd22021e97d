"""A message goes in, is written down, classified, executed and answered."""

from __future__ import annotations

import asyncio

import pytest

from laneway.domain.job import JobStatus
from laneway.errors import BadInput, TooLarge
from laneway.llm.scripted import Asked, Call, Fail, Say, ScriptedModel, Turn
from laneway.store import jobs, ledger
from tests.journeys.tooling import Counter, Start
from tests.running import Laneway, text_file


async def test_a_message_is_answered_by_the_model_and_every_step_leaves_its_event(start: Start[Laneway]) -> None:
    async with start() as here:
        receipt = await here.send("what is new?")
        job = await here.until(receipt.job_id)
        assert job.status is JobStatus.DONE
        assert [reply.text for reply in await here.replies(receipt.message_id)] == ["You said: what is new?"]
        kinds = "message.received job.classified model.started model.finished reply.written job.done"
        assert await here.kinds(receipt.job_id) == kinds.split()


async def test_the_same_message_twice_is_one_job_and_one_reply(start: Start[Laneway]) -> None:
    async with start() as here:
        first, *copies = await asyncio.gather(*(here.send("what is new?", id="same") for _ in range(20)))
        assert {copy.job_id for copy in copies} == {first.job_id}
        assert sum(not copy.duplicate for copy in [first, *copies]) == 1
        await here.until(first.job_id)
        assert len(await here.replies(first.message_id)) == 1


async def test_a_greeting_is_answered_without_a_model_call(start: Start[Laneway]) -> None:
    called: list[str] = []

    def script(asked: Asked) -> Turn:
        called.append(asked.text)
        return Say("never")

    async with start(ScriptedModel(script)) as here:
        assert (await here.ask("hello there")).startswith("Hello.")
        assert await here.ask("thanks!") == "You're welcome."
        assert "never calls a model" in await here.ask("what is the uptime?", mode="ANSWER")
    assert called == []


async def test_classify_mode_returns_the_judgement_and_does_nothing(start: Start[Laneway]) -> None:
    async with start() as here:
        receipt = await here.send("restart nginx", mode="CLASSIFY")
        job = await here.until(receipt.job_id)
        assert job.result is not None
        judged = job.result["classification"]
        assert (judged["intent"], judged["needs_confirmation"]) == ("command", True)
        assert set(judged) >= {"intent", "summary", "plan", "needs_confirmation", "confidence"}


async def test_execute_mode_takes_the_classification_from_the_payload(start: Start[Laneway]) -> None:
    given = {"intent": "question", "summary": "Asks for news.", "plan": "Say it.", "confidence": 0.9}
    async with start() as here:
        receipt = await here.send("anything", mode="EXECUTE", payload={"classification": given})
        await here.until(receipt.job_id)
        async with here.app.db.transaction() as tx:
            judged = await jobs.classification_of(tx, receipt.job_id)
        assert judged is not None
        assert (judged.decided_by, judged.summary) == ("request", "Asks for news.")
        with pytest.raises(BadInput, match=r"payload\.classification"):
            await here.send("anything", mode="EXECUTE")


async def test_plan_mode_answers_with_a_plan_and_offers_no_tools(start: Start[Laneway]) -> None:
    offered: list[tuple[str, ...]] = []

    def script(asked: Asked) -> Turn:
        offered.append(asked.tools)
        return Say("1. Look. 2. Tell.")

    async with start(ScriptedModel(script)) as here:
        assert await here.ask("/plan restart nginx") == "1. Look. 2. Tell."
        assert await here.ask("is it up?") == "1. Look. 2. Tell."
    assert offered[0] == ()
    assert "server_info" in offered[1]


async def test_a_tool_is_called_once_and_its_result_reaches_the_model(start: Start[Laneway]) -> None:
    counter = Counter()

    def script(asked: Asked) -> Turn:
        return Say(f"The tool said {asked.tool_results[0]}") if asked.turn else Call("press", {"button": "red"})

    async with start(ScriptedModel(script), tools=[counter.entry()]) as here:
        receipt = await here.send("what is pressed?")
        job = await here.until(receipt.job_id)
        assert job.result is not None
        assert "red pressed" in job.result["reply"]
        assert job.result["tool_calls"] == ["press"]
        kinds = await here.kinds(receipt.job_id)
        assert [kind for kind in kinds if kind.startswith("tool.")] == ["tool.started", "tool.finished"]
    assert counter.done == ["red"]


async def test_the_model_sees_the_conversation_and_the_files_but_nothing_before_a_fresh_start(
    start: Start[Laneway],
) -> None:
    seen: list[str] = []

    def script(asked: Asked) -> Turn:
        seen.append(
            "\n".join(str(part.content) for m in asked.messages for part in m.parts if hasattr(part, "content"))
        )
        return Say("Noted it.")

    async with start(ScriptedModel(script)) as here:
        await here.ask("what do you make of this?", files=(text_file("notes.txt", "milk and eggs"),))
        await here.ask("what did I send before?")
        await here.ask("/new")
        await here.ask("what did I send at all?")
    assert "[file notes.txt, 13 bytes, text/plain]\nmilk and eggs" in seen[0]
    assert "what do you make of this?" in seen[1]
    assert "Noted it." in seen[1]
    assert "milk" not in seen[2]


async def test_a_transient_fault_is_tried_again_and_the_steps_before_it_are_kept(start: Start[Laneway]) -> None:
    counter = Counter()
    tries: list[int] = []

    def script(asked: Asked) -> Turn:
        if asked.turn == 0:
            return Call("press", {"button": "red"})
        tries.append(asked.turn)
        # Longer than the pause within one call is worth, so the job itself goes back into the queue for so long.
        return Fail("transient", retry_after=11) if len(tries) == 1 else Say("Done after all.")

    async with start(ScriptedModel(script), tools=[counter.entry()]) as here:
        receipt = await here.send("what is pressed?")
        async with asyncio.timeout(30):
            while (job := await here.job(receipt.job_id)).not_before is None:
                await asyncio.sleep(0.02)
        assert job.status is JobStatus.QUEUED
        assert job.error is not None
        assert job.error["code"] == "model-transient"
        async with here.app.db.transaction() as tx:
            await tx.execute("UPDATE jobs SET not_before = now()")
            await tx.execute("SELECT pg_notify('laneway_jobs', '')")
        job = await here.until(receipt.job_id)
        assert job.status is JobStatus.DONE
        assert job.run == 2
    assert counter.done == ["red"]


async def test_a_permanent_fault_fails_the_job_tells_the_user_and_can_be_retried_from_its_last_step(
    start: Start[Laneway],
) -> None:
    counter = Counter()
    broken = [True]

    def script(asked: Asked) -> Turn:
        if asked.turn == 0:
            return Call("press", {"button": "red"})
        return Fail("permanent") if broken[0] else Say("Repaired.")

    async with start(ScriptedModel(script), tools=[counter.entry()]) as here:
        receipt = await here.send("what is pressed?")
        job = await here.until(receipt.job_id)
        assert job.status is JobStatus.FAILED
        assert job.attempts == 1
        assert (await here.replies(receipt.message_id))[-1].text.startswith("That did not work.")
        broken[0] = False
        async with here.app.db.transaction() as tx:
            await jobs.retry(tx, receipt.job_id)
        job = await here.until(receipt.job_id, JobStatus.DONE)
        assert (await here.replies(receipt.message_id))[-1].text == "Repaired."
    assert counter.done == ["red"]


async def test_every_model_call_is_in_the_ledger_with_its_job(start: Start[Laneway]) -> None:
    async with start() as here:
        receipt = await here.send("what is new?")
        await here.until(receipt.job_id)
        async with here.app.db.transaction() as tx:
            spent = await ledger.spent(tx, job_id=receipt.job_id)
            rows = await (
                await tx.execute("SELECT scope, provider, model, state, meta_json->>'job_id' FROM token_ledger")
            ).fetchall()
        assert spent.tokens > 0
        assert rows == [("reactive", "scripted", "scripted", "settled", str(receipt.job_id))]


BAD: list[tuple[str, dict[str, str], type[Exception]]] = [
    ("", {}, BadInput),
    ("   \n", {}, BadInput),
    ("a\x00b", {}, BadInput),
    ("\ud800", {}, BadInput),
    ("x" * 1_000_000, {}, TooLarge),
    ("hello", {"mode": "DANCE"}, BadInput),
    ("hello", {"lane": "nowhere"}, BadInput),
    ("hello", {"thread": "x" * 300}, BadInput),
    ("hello", {"id": "new\nline"}, BadInput),
]


async def test_bad_input_is_refused_and_writes_nothing(start: Start[Laneway]) -> None:
    async with start() as here:
        for text, more, error in BAD:
            with pytest.raises(error):
                await here.send(text, **more)
        async with here.app.db.transaction() as tx:
            row = await (await tx.execute("SELECT count(*) FROM messages")).fetchone()
        assert row == (0,)
