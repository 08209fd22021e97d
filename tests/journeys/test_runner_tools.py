"""Tools and other lanes for the model of a request for rows: through `POST /test/chat` and through Redis."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import psycopg
import pytest
from starlette.responses import JSONResponse

from laneway.connections import OpenApiDocument
from laneway.domain.judgement import ApprovalState
from laneway.llm.scripted import Asked, Call, Delay, Say, ScriptedModel, Turn
from laneway.store import approvals
from tests.journeys.redis_queue import Producer, until
from tests.journeys.tables_asked import FLIGHTS, ODD, PLAN, chat, result
from tests.journeys.tooling import Counter, Start, reader
from tests.running import Laneway
from tests.servers.pages import Pages
from tests.serving import scripted
from tests.web.conftest import Door, Open

TOOLS = {"search_tools", "openapi_action", "delegate"}
LOOK_UP = "how does the weather report feel about it?"
HAND_ON = Call("delegate", {"lane": "tools", "text": "count the sheep"})
PRESS = Call("press", {"button": "red"})


@pytest.fixture
def pets(tmp_path: Path) -> Iterator[Pages]:
    """A server with the API that the document in the data directory describes."""
    shutil.copy(Path(__file__).parents[1] / "lanes" / "pets.json", tmp_path / "pets.json")
    with Pages() as pages:
        pages.pages["/v1/pets"] = JSONResponse([{"id": 7, "name": "Rex"}])
        yield pages


def shop(pets: Pages) -> dict[str, Any]:
    document = OpenApiDocument(document="pets.json", server=f"{pets.url}/v1")
    return {"openapi": {"pets": document}, "allowed_hosts": (f"127.0.0.1:{pets.port}",)}


def handing_on(*sheep: Turn, then: Callable[[Asked], Turn] | None = None) -> Callable[[Asked], Turn]:
    """A model that has the sheep counted by another lane, and tells what it hears of it."""

    def script(asked: Asked) -> Turn:
        if "count the sheep" in asked.text:
            return sheep[asked.turn]
        return HAND_ON if asked.turn == 0 else then(asked) if then else Say(f"I hear: {asked.tool_results[0]}")

    return script


def following(turns: Sequence[Turn], offered: list[tuple[str, ...]]) -> Callable[[Asked], Turn]:
    def script(asked: Asked) -> Turn:
        offered.append(asked.tools)
        return turns[asked.turn]

    return script


async def spent(url: str) -> int:
    async with await psycopg.AsyncConnection.connect(url) as connection:
        row = await (await connection.execute("SELECT sum(tokens_total)::int FROM token_ledger")).fetchone()
    return int(row[0]) if row else 0


async def test_the_model_of_a_request_finds_an_operation_calls_it_and_then_plans(opened: Open, pets: Pages) -> None:
    offered: list[tuple[str, ...]] = []
    turns: list[Turn] = [
        Call("search_tools", {"query": "list the pets"}), Call("openapi_action", {"operation": "pets.listPets"}),
        Call("execute_pipeline", PLAN),
    ]  # fmt: skip
    async with opened(scripted(following(turns, offered)), **shop(pets)) as door:
        found = await chat(door, ODD, tables={"flights": FLIGHTS})
        assert [row["price"] for row in await result(door, found)] == [80, 95]
        assert found["metadata"]["tool_calls"] == ["search_tools", "openapi_action", "execute_pipeline"]
        assert found["metadata"]["tokens_used"] == await spent(door.database_url)
        assert [visit.path for visit in pets.visits] == ["/v1/pets"]
        assert all({*TOOLS, "execute_pipeline"} >= set(tools) >= TOOLS for tools in offered), offered
        again = await chat(door, ODD, tables={"flights": FLIGHTS})
        assert again["metadata"]["cache_kind"] is None, "a plan made with what a tool said is not used again"


async def test_what_a_tool_would_change_is_asked_first_and_the_wait_is_no_execution(opened: Open, pets: Pages) -> None:
    make = Call("openapi_action", {"operation": "pets.createPet", "parameters": {"body": {"name": "Tom"}}})
    async with opened(scripted(following([make, Say("There is a pet more.")], [])), **shop(pets)) as door:
        waiting = await chat(door, LOOK_UP, 202, job_id="j-1")
        assert (waiting["status"], pets.visits) == ("waiting", [])
        for column, table in (("started_at", "jobs"), ("created_at", "approvals")):
            door.rows(f"UPDATE {table} SET {column} = {column} - interval '1 hour'")
        await door.post(f"/approvals/{waiting['approvals'][0]['id']}", json={"answer": "approve"})
        for job in (await door.get("/jobs"))["items"]:
            await door.until(job["id"])
        found = await chat(door, LOOK_UP, job_id="j-1")
        assert found["result_preview"] == {"kind": "text", "text": "There is a pet more."}
        assert [visit.method for visit in pets.visits] == ["POST"]
        assert 0 < found["metadata"]["execution_time_ms"] < 1_800_000
        refused = await chat(door, f"{LOOK_UP} Again.", 202, job_id="j-2")
        await door.post(f"/approvals/{refused['approvals'][0]['id']}", json={"answer": "reject"})
        await until(lambda: _ended(door, "j-2"))
        found = await chat(door, f"{LOOK_UP} Again.", job_id="j-2")
        assert (found["status"], found["error"]["type"]) == ("failed", "not-approved")
        assert len(pets.visits) == 1


async def _ended(door: Door, name: str) -> bool:
    [(status,)] = door.rows(
        "SELECT j.status FROM jobs j JOIN messages m ON m.id = j.message_id WHERE m.external_id = %s", f"runner:{name}"
    )
    return status in ("done", "failed")


async def test_a_job_from_redis_hands_work_on_and_publishes_one_result_that_knows_of_it(
    queue: Start[Producer], database_url: str
) -> None:
    async with queue(ScriptedModel(handing_on(Say("Forty-two sheep.")))) as producer:
        await producer.push("j", LOOK_UP)
        found = await producer.result("j")
        assert "Forty-two sheep." in found["result_preview"]["text"]
        assert found["metadata"]["tool_calls"] == ["delegate"]
        assert found["metadata"]["tokens_used"] == await spent(database_url) > 0
        delegated, asked = sorted(await producer.jobs(), key=lambda job: "door" in job.payload.get("runner", {}))
        assert (delegated.lane, asked.lane) == ("tools", "pipeline")
        assert len(await producer.results("j")) == 1


async def test_a_question_of_delegated_work_is_the_requests_and_the_answer_goes_on_with_it(opened: Open) -> None:
    counter = Counter()
    script = handing_on(PRESS, Say("Pressed it."))
    async with opened(scripted(script, tools=[counter.entry(asks=True)])) as door:
        waiting = await chat(door, LOOK_UP, 202, job_id="j-1")
        assert (waiting["status"], counter.done) == ("waiting", [])
        await door.post(f"/approvals/{waiting['approvals'][0]['id']}", json={"answer": "approve"})
        found = await chat(door, LOOK_UP, job_id="j-1")
        assert "Pressed it." in found["result_preview"]["text"]
        assert counter.done == ["red"]


async def test_a_question_of_delegated_work_of_a_redis_job_reaches_the_owner_and_waits_as_a_row(
    queue: Start[Producer],
) -> None:
    counter = Counter()
    script = ScriptedModel(handing_on(PRESS, Say("Pressed it.")))
    async with queue(script, tools=[counter.entry(asks=True)]) as producer:
        await producer.home.ask("/help")
        await producer.push("j", LOOK_UP)
        [notice] = await until(producer.notices)
        assert "(redis/job:j) asks" in notice
        assert [job.status for job in await producer.jobs()] == ["waiting", "waiting", "done"]
    # Whoever starts next knows only what was stored.
    async with queue(script, tools=[counter.entry(asks=True)]) as producer:
        async with producer.home.app.db.transaction() as tx:
            [question] = await approvals.page(tx)
            await approvals.answer(tx, question.id, ApprovalState.APPROVED, producer.home.owner)
        assert "Pressed it." in (await producer.result("j"))["result_preview"]["text"]
        assert counter.done == ["red"]
        assert len(await producer.jobs()) == 3


async def test_delegated_work_that_fails_or_is_stopped_is_told_as_what_it_is(start: Start[Laneway]) -> None:
    def failing(asked: Asked) -> Turn:
        if "sort the sheep" in asked.text:
            return Call("execute_pipeline", {"steps": [{"do": "dance"}]})
        return Call("delegate", {"lane": "pipeline", "text": "sort the sheep"}) if asked.turn == 0 else _heard(asked)

    async with start(ScriptedModel(failing)) as here:
        told = json.loads((await here.ask("what of the sheep?", lane="tools")).partition(": ")[2])
        assert (told["status"], told["result"]) == ("error", None)
        assert "wrote no plan that works" in told["error"]


def _heard(asked: Asked) -> Turn:
    return Say(f"I hear: {asked.tool_results[0]}")


async def test_what_is_handed_on_and_what_is_asked_in_one_breath_are_both_waited_for(start: Start[Laneway]) -> None:
    counter = Counter()

    def script(asked: Asked) -> Turn:
        if "sheep" in asked.text:
            return Say("Forty-two.")
        both = [HAND_ON, Call("delegate", {"lane": "tools", "text": "name the sheep"}), PRESS]
        return both if asked.turn == 0 else Say(" ".join(asked.tool_results))

    async with start(ScriptedModel(script), tools=[counter.entry(asks=True)]) as here:
        receipt = await here.send("what is it?", lane="tools")
        await until(lambda: _asks(here))
        async with here.app.db.transaction() as tx:
            [question] = await approvals.page(tx)
            await approvals.answer(tx, question.id, ApprovalState.APPROVED, here.owner)
        text = (await here.until(receipt.job_id)).result or {}
        assert (text["reply"].count("Forty-two."), counter.done) == (2, ["red"])
        assert "red pressed" in text["reply"]


async def test_work_is_handed_on_three_times_at_most_and_every_one_hears_of_the_next(start: Start[Laneway]) -> None:
    def script(asked: Asked) -> Turn:
        return Call("delegate", {"lane": "tools", "text": f"{asked.text}!"}) if asked.turn == 0 else _heard(asked)

    async with start(ScriptedModel(script)) as here:
        assert "This work was handed on 3 times already" in await here.ask("what is deep?", lane="tools")
        async with here.app.db.transaction() as tx:
            assert await (await tx.execute("SELECT count(*), count(*) FILTER (WHERE status = 'done') FROM jobs")
                          ).fetchone() == (4, 4)  # fmt: skip


async def test_whose_words_delegated_work_has_read_is_known_where_it_came_from(start: Start[Laneway]) -> None:
    counter = Counter()
    script = handing_on(Call("look", {"page": "https://example.org/"}), Say("All there."), then=_press_and_tell)
    async with start(ScriptedModel(script), tools=[counter.entry(), reader()]) as here:
        receipt = await here.send("what is it?", lane="tools")
        await until(lambda: _asks(here))
        async with here.app.db.transaction() as tx:
            [(job, why)] = await (await tx.execute("SELECT job_id, why FROM approvals")).fetchall()
        assert (job, counter.done) == (receipt.job_id, [])
        assert "the page https://example.org/" in why


def _press_and_tell(asked: Asked) -> Turn:
    return PRESS if asked.turn == 1 else Say("Done.")


async def _asks(here: Laneway) -> bool:
    async with here.app.db.transaction() as tx:
        return await (await tx.execute("SELECT 1 FROM approvals")).fetchone() is not None


async def test_stopping_a_job_that_waits_for_another_stops_both(opened: Open) -> None:
    script = handing_on(Delay(Say("never"), seconds=60))
    async with opened(scripted(script)) as door:
        receipt = await door.send("what of the sheep?", lane="tools")
        await door.until(receipt["job_id"], "waiting")
        await door.post(f"/threads/{receipt['thread_id']}/stop")
        for job in (await door.get("/jobs"))["items"]:
            assert (await door.until(job["id"]))["status"] == "cancelled"


async def test_time_and_tokens_of_a_request_count_its_classification(queue: Start[Producer], database_url: str) -> None:
    judged = {"intent": "question", "lane": "pipeline", "summary": "x", "plan": "x", "needs_confirmation": False}
    classifier = ScriptedModel(lambda asked: Delay(Call("final_result", {**judged, "confidence": 0.9}), seconds=0.15))
    async with queue(ScriptedModel([Say("Forty-two.")]), classify=classifier) as producer:
        await producer.push("j", LOOK_UP)
        found = await producer.result("j")
        assert found["metadata"]["tokens_used"] == await spent(database_url)
        assert found["metadata"]["execution_time_ms"] >= 150
        async with producer.home.app.db.transaction() as tx:
            cursor = await tx.execute("SELECT DISTINCT lane FROM token_ledger ORDER BY 1")
            assert await cursor.fetchall() == [("classify",), ("pipeline",)]
