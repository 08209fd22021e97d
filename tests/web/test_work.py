"""Jobs are watched, stopped, retried and approved; the ledger and the outbox show what became of them."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

from laneway.lanes.tools import ToolEntry
from laneway.llm.scripted import Asked, Call, Delay, Fail, Say, Turn
from tests.serving import scripted
from tests.web.conftest import Door, Open

SLOW = [Delay(Say("At last."), seconds=60)]


async def test_stopping_a_thread_stops_what_runs_and_what_waits_there_only(opened: Open) -> None:
    async with opened(scripted(SLOW)) as door:
        first = await door.send("how full is the disk?")
        second = await door.send("and the memory?")
        elsewhere = await door.send("how full is the disk?", thread="other")
        await door.until(first["job_id"], "running")
        stopped = await door.post(f"/threads/{first['thread_id']}/stop")
        assert stopped == {"stopped": [first["job_id"], second["job_id"]]}
        assert [(await door.until(r["job_id"]))["status"] for r in (first, second)] == ["cancelled"] * 2
        await door.until(elsewhere["job_id"], "running")
        await door.post(f"/jobs/{elsewhere['job_id']}/cancel")
        job = await door.until(elsewhere["job_id"])
        assert (job["status"], job["events"][-1]["kind"]) == ("cancelled", "job.cancelled")
        assert (await door.post(f"/jobs/{job['id']}/cancel", 409))["code"] == "illegal-transition"


async def test_a_failed_job_is_retried_from_its_last_good_step(opened: Open) -> None:
    flaky = Fail("permanent", times=1, then=Say("Now it works."))
    async with opened(scripted([flaky])) as door:
        receipt = await door.send("how full is the disk?")
        failed = await door.until(receipt["job_id"])
        assert (failed["status"], failed["error"]["code"]) == ("failed", "model-permanent")
        await door.post(f"/jobs/{receipt['job_id']}/retry")
        done = await door.until(receipt["job_id"], "done", "cancelled")
        assert done["result"]["reply"] == "Now it works."
        assert [step["run"] for step in done["steps"] if step["name"] == "classify"] == [1]
        assert {step["run"] for step in done["steps"]} == {1, 2}
        problem = await door.post(f"/jobs/{receipt['job_id']}/retry", 409)
        assert "only a failed one" in problem["detail"]


async def test_jobs_are_filtered_and_paged(own_door: Door) -> None:
    door = own_door
    receipts = [await door.send(f"number {n}?") for n in range(3)]
    for receipt in receipts:
        await door.until(receipt["job_id"])
    page = await door.get("/jobs", status="done", thread=receipts[0]["thread_id"], limit=2)
    rest = await door.get("/jobs", status="done", limit=2, before=page["next"])
    assert [job["id"] for job in page["items"] + rest["items"]] == [r["job_id"] for r in receipts][::-1]
    assert rest["next"] is None
    assert (await door.get("/jobs", status="failed"))["items"] == []
    assert len((await door.get("/jobs", message=receipts[1]["message_id"]))["items"]) == 1


def _switch(flipped: list[str]) -> ToolEntry:
    async def flip(name: str) -> dict[str, str]:
        """Flips a switch."""
        flipped.append(name)
        return {"status": "success"}

    return ToolEntry(flip, changes=True, idempotent=False)


def _flipping(asked: Asked) -> Turn:
    return Say("It is flipped.") if asked.turn else Call("flip", {"name": "lights"})


async def _asked(door: Door) -> tuple[Any, Any]:
    receipt = await door.send("restart the lights")
    await door.until(receipt["job_id"], "waiting")
    (approval,) = (await door.get("/approvals", state="pending"))["items"]
    return receipt, approval


async def test_an_approved_action_runs_a_rejected_one_does_not_and_a_second_answer_comes_too_late(opened: Open) -> None:
    flipped: list[str] = []
    async with opened(scripted(_flipping, tools=[_switch(flipped)])) as door:
        receipt, approval = await _asked(door)
        assert approval["job_id"] == receipt["job_id"]
        # A waiting job cannot be retried past its approval.
        await door.post(f"/jobs/{receipt['job_id']}/retry", 409)
        assert (await door.get(f"/jobs/{receipt['job_id']}"))["status"] == "waiting"
        answered = await door.post(f"/approvals/{approval['id']}", json={"answer": "approve"})
        assert answered["state"] == "approved"
        job = await door.until(receipt["job_id"])
        assert (job["status"], [a["state"] for a in job["approvals"]]) == ("done", ["approved"])
        assert flipped == ["lights"]
        await door.post(f"/approvals/{approval['id']}", 409, json={"answer": "reject"})
        assert (await door.get("/approvals", state="pending"))["items"] == []

        receipt, approval = await _asked(door)
        await door.post(f"/approvals/{approval['id']}", json={"answer": "reject"})
        await door.until(receipt["job_id"])

        # The question of a cancelled job waits for nobody.
        receipt, approval = await _asked(door)
        await door.post(f"/jobs/{receipt['job_id']}/cancel")
        assert (await door.get("/approvals", state="pending"))["items"] == []
        await door.post(f"/approvals/{approval['id']}", 409, json={"answer": "approve"})
        assert (await door.get(f"/jobs/{receipt['job_id']}"))["status"] == "cancelled"
        assert flipped == ["lights"]


async def test_the_ledger_adds_up_and_the_outbox_lists_replies_by_state(own_door: Door) -> None:
    door = own_door
    message = await door.ask("how full is the disk?")
    today = message["jobs"][0]["finished_at"][:10]
    keys = {"day": today, "scope": "reactive", "provider": "scripted", "model": "scripted",
            "thread": message["thread_id"]}  # fmt: skip
    for by, key in keys.items():
        (line,) = (await door.get("/ledger", by=by))["items"]
        assert (line["key"], line["calls"]) == (key, 1)
        assert line["tokens_total"] == line["tokens_input"] + line["tokens_output"] > 0
    assert (await door.get("/ledger", since="2100-01-01T00:00:00Z"))["items"] == []
    assert len((await door.get("/ledger", since="2000-01-01"))["items"]) == 1
    (row,) = (await door.get("/outbox", state="sent"))["items"]
    assert (row["message_id"], row["thread_external_id"]) == (message["replies"][0]["message_id"], "main")
    assert (await door.get("/outbox", state="undeliverable"))["items"] == []


async def test_what_does_not_exist_is_not_found(door: Door) -> None:
    unknown = uuid4()
    for path in ("messages", "threads", "jobs"):
        assert str(unknown) in (await door.get(f"/{path}/{unknown}", 404))["detail"]
    for path in (f"/jobs/{unknown}/cancel", f"/jobs/{unknown}/retry", f"/threads/{unknown}/stop"):
        await door.post(path, 404)
    await door.get(f"/messages/{unknown}/why", 404)
    await door.post(f"/approvals/{unknown}", 404, json={"answer": "approve"})
    for path, name in (("/events", "thread"), ("/events", "job"), ("/messages", "thread"), ("/jobs", "message")):
        await door.get(path, 404, **{name: unknown})
