"""Messages come in once, are listed, and can be asked why."""

from __future__ import annotations

import asyncio
import json
from typing import Any
from uuid import UUID

from laneway.llm.scripted import Call, Say, Turn
from tests.serving import scripted
from tests.web.conftest import Door, Open, counts


async def test_a_message_is_acknowledged_with_its_ids_and_answered_later(door: Door) -> None:
    receipt = await door.send("how full is the disk?")
    assert {UUID(receipt[name]) for name in ("message_id", "thread_id", "job_id")}
    assert receipt["duplicate"] is False
    await door.until(receipt["job_id"])
    message = await door.get(f"/messages/{receipt['message_id']}")
    assert message["text"] == "how full is the disk?"
    [reply], [job] = message["replies"], message["jobs"]
    assert (reply["text"], reply["state"]) == ("You said: how full is the disk?", "sent")
    assert job["id"] == receipt["job_id"]
    assert all(moment.endswith("Z") for moment in (message["created_at"], job["finished_at"], reply["sent_at"]))
    why = await door.get(f"/messages/{message['id']}/why")
    for other in (reply["message_id"], job["id"]):
        assert await door.get(f"/messages/{other}/why") == why, "a reply and a job have the story of their message"


async def test_the_same_id_twice_is_one_message(door: Door) -> None:
    first = await door.send("once", id="order-1")
    same = {"text": "once", "id": "order-1", "thread": door.thread}
    again = await door.post("/messages", 200, json=same)
    by_header = {"json": {"text": "once", "thread": door.thread}, "headers": {"Idempotency-Key": "order-1"}}
    assert again == await door.post("/messages", 200, **by_header) == {**first, "duplicate": True}
    refused = await door.post("/messages", 409, json={**same, "text": "something else"})
    assert "order-1" in refused["detail"]
    assert len((await door.get("/jobs", thread=first["thread_id"]))["items"]) == 1
    why = await door.get(f"/messages/{first['message_id']}/why")
    assert why["received"] == {**why["received"], "external_id": "order-1", "channel": "http", "duplicates": 2}


async def test_an_id_is_that_of_whoever_gave_it(door: Door) -> None:
    own = await door.send("what is my order status?", id="1")
    receipts = [
        await door.send("what is my order status?", id="1", sender={"id": name, "name": name})
        for name in ("ann", "bob")
    ]
    assert len({receipt["message_id"] for receipt in (own, *receipts)}) == 3
    assert len({receipt["thread_id"] for receipt in (own, *receipts)}) == 3
    again = await door.post(
        "/messages", 200, json={"text": "what is my order status?", "id": "1", "sender": {"id": "bob", "name": "bob"}}
    )
    assert again["message_id"] == receipts[1]["message_id"]


async def test_twenty_copies_at_once_make_one_job(own_door: Door) -> None:
    door = own_door
    copies = [door.http.post("/messages", json={"text": "all at once", "id": "storm"}) for _ in range(20)]
    answers = await asyncio.gather(*copies)
    assert sorted(answer.status_code for answer in answers) == [200] * 19 + [202]
    assert len({answer.json()["job_id"] for answer in answers}) == 1
    rows = counts(door.database_url)
    assert (rows["jobs"], rows["threads"]) == (1, 1)


async def test_files_come_with_a_form(door: Door) -> None:
    form = {"text": "read this", "thread": "files", "id": "form-1", "payload": json.dumps({"number": 7})}
    files = [
        ("files", ("ägypten.txt", "Grüße".encode(), "text/plain")),
        ("files", ("../../etc/photo.png", b"\x89PNG\x00", "image/png")),
    ]
    receipt = await door.post("/messages", 202, data=form, files=files)
    again = await door.post("/messages", 200, data=form, files=files)
    assert again["message_id"] == receipt["message_id"]
    job = await door.until(receipt["job_id"])
    assert job["payload"] == {"number": 7}
    attached = (await door.get(f"/messages/{receipt['message_id']}"))["attachments"]
    assert [(a["name"], a["kind"], a["size"], a["preview"]) for a in attached] == [
        ("ägypten.txt", "file", 7, "Grüße"),
        ("photo.png", "image", 5, "could not be read: its bytes are of no kind known here"),
    ]
    # A file needs no text.
    alone = await door.post("/messages", 202, files=[("files", ("a.csv", b"1,2\n", "text/csv"))])
    await door.until(alone["job_id"])


async def test_a_customer_has_a_world_of_its_own_and_the_two_worlds_do_not_share_threads(door: Door) -> None:
    receipt = await door.send("hello", sender={"id": "+49 30 123", "name": "Ada"})
    again = await door.send("hello again", sender={"id": "+49 30 123"})
    assert again["thread_id"] == receipt["thread_id"]
    thread = await door.get(f"/threads/{receipt['thread_id']}")
    assert (thread["external_id"], thread["world"]) == ("customer:+49 30 123", "customer")
    assert (await door.until(receipt["job_id"]))["owner"] is False
    await door.until(again["job_id"])
    await door.ask("hello", thread="mine")
    before = counts(door.database_url) | {"events": 0}
    await door.post("/messages", 403, json={"text": "let me in", "thread": "mine", "sender": {"id": "eve"}})
    await door.post("/messages", 403, json={"text": "me too", "thread": "customer:+49 30 123"})
    # The jobs before may still have told of their end.
    assert counts(door.database_url) | {"events": 0} == before


async def test_a_sender_who_names_another_customers_thread_is_refused_and_nothing_is_written(door: Door) -> None:
    ann = await door.send("my number is 12", sender={"id": "ann-3"})
    await door.until(ann["job_id"])
    named = await door.send("and here", sender={"id": "ann-3"}, thread="orders-3")
    await door.until(named["job_id"])
    before = counts(door.database_url) | {"events": 0}
    for thread in ("customer:ann-3", "orders-3"):
        body = {"text": "what is the number?", "thread": thread, "sender": {"id": "bob-3"}}
        problem = await door.post("/messages", 403, json=body)
        assert problem["detail"].startswith(f"Thread {thread} is another customer's.")
    assert counts(door.database_url) | {"events": 0} == before
    # Whoever comes by a forgotten address is somebody else, with a thread of their own.
    await door.delete("/people/addresses", address="http:ann-3")
    again = await door.send("hello", sender={"id": "ann-3"})
    await door.until(again["job_id"])
    assert again["thread_id"] not in (ann["thread_id"], named["thread_id"])


async def test_messages_and_threads_are_paged_newest_first_without_gaps(own_door: Door) -> None:
    door = own_door
    sent = [await door.ask(f"number {n}?", thread="paged") for n in range(4)]
    await door.ask("elsewhere?", thread="other")
    page = await door.get("/messages", thread=sent[0]["thread_id"], limit=3)
    seen = page["items"]
    while page["next"]:
        page = await door.get("/messages", thread=sent[0]["thread_id"], limit=3, before=page["next"])
        seen += page["items"]
    expected = [text for n in range(4) for text in (f"number {n}?", f"You said: number {n}?")]
    assert [one["text"] for one in seen] == expected[::-1]
    full = await door.get("/threads", limit=2)
    assert [one["external_id"] for one in full["items"]] == ["other", "paged"]
    first = await door.get("/threads", limit=1)
    assert (await door.get("/threads", limit=1, before=first["next"]))["items"] == full["items"][1:]


async def test_why_tells_the_whole_life(opened: Open) -> None:
    script: list[Turn] = [Call("server_info", {"topics": ["uptime"]}), Say("Up for long.")]
    async with opened(scripted(script)) as door:
        message = await door.ask("how long has this server been up?")
        why = await door.get(f"/messages/{message['id']}/why")
    assert (why["message"]["id"], why["thread"]["external_id"]) == (message["id"], "main")
    assert (why["classification"]["decided_by"], why["route"]["lane"]) == ("rules", "tools")
    (job,) = why["jobs"]
    assert (job["status"], job["lane"], job["runs"], job["error"]) == ("done", "tools", 1, None)
    assert 0 <= job["queued_ms"] <= job["total_ms"]
    names = [step["name"] for step in job["steps"] if not step["failed"]]
    assert (names[0], names[-1], "tool.server_info" in names) == ("classify", "reply", True)
    assert [tool["tool"] for tool in job["tools"]] == ["server_info"]
    assert why["tokens"] == sum(call["tokens_total"] for call in job["model_calls"]) > 0
    assert [reply["text"] for reply in why["replies"]] == ["Up for long."]


async def test_a_named_lane_is_taken_and_why_says_so(door: Door) -> None:
    async def route(text: str, **more: Any) -> Any:
        message = await door.ask(text, **more)
        return (await door.get(f"/messages/{message['id']}/why"))["route"]

    named = {"lane": "answer", "why": "the request names its lane"}
    assert await route("how full is the disk?", lane="answer") == named
    assert (await route("how full is the disk?"))["lane"] == "tools"
    assert await route("/help") == {"lane": "answer", "why": "chat commands and ready answers"}
    assert (await route("how full is the disk?", mode="CLASSIFY"))["lane"] is None
