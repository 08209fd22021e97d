"""Whoever is not understood is asked, with two or three choices; whoever does not answer gets the safe reading."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.web.conftest import Door, Open

UNCLEAR = (
    "the nginx thing again, like last time",
    "backup",
    "logs of web2 hm",
    "hm the disk",
    "mail queue",
    "staging…",
)


async def asked(door: Door) -> Any:
    """The first unclear message that was asked back about: its receipt and the question."""
    async with asyncio.timeout(60):
        while not (await door.post("/classify", json={"taxonomy": "message", "text": "hello there"}))["label"]:
            await asyncio.sleep(0.1)
    for text in UNCLEAR:
        receipt = await door.send(text, thread=text)
        job = await door.until(receipt["job_id"], "waiting", "done")
        # A question with a short time may have been given up by now; it was asked all the same.
        if job["approvals"] and job["approvals"][0]["choices"]:
            return receipt, job["approvals"][0], text
    pytest.fail("every text was judged with confidence; unclear ones are needed here")


async def test_an_unclear_message_is_asked_about_and_the_number_of_a_choice_settles_it(opened: Open) -> None:
    async with opened(local_classifier=True) as door:
        receipt, question, thread = await asked(door)
        labels = [choice["label"] for choice in question["choices"]]
        assert 2 <= len(labels) <= 3
        message = await door.get(f"/messages/{receipt['message_id']}")
        assert message["replies"][0]["text"].startswith("I am not sure what you want.")
        meant = next(label for label in labels if label != "command")
        answer = await door.ask(str(labels.index(meant) + 1), thread=thread)
        assert answer["replies"][0]["text"] == "Understood."
        job = await door.until(receipt["job_id"])
        assert (job["status"], job["approvals"][0]["choice"]) == ("done", meant)
        why = await door.get(f"/messages/{receipt['message_id']}/why")
        assert (why["classification"]["intent"], why["classification"]["decided_by"]) == (meant, "person")
        (correction,) = (await door.get("/corrections"))["items"]
        assert (correction["label"], correction["message_id"]) == (meant, receipt["message_id"])


async def test_a_choice_by_http_counts_once_and_must_be_one_that_was_offered(opened: Open) -> None:
    async with opened(local_classifier=True) as door:
        receipt, question, _ = await asked(door)
        path = f"/approvals/{question['id']}"
        refused = await door.post(path, 400, json={"answer": "approve", "choice": "nonsense"})
        assert "asks for a choice" in refused["detail"]
        label = question["choices"][0]["label"]
        answered = await door.post(path, json={"answer": "approve", "choice": label})
        assert (answered["state"], answered["choice"]) == ("approved", label)
        await door.post(path, 409, json={"answer": "approve", "choice": label})
        why = await door.get(f"/messages/{receipt['message_id']}/why")
        assert why["approvals"][0]["choice"] == label


async def test_without_an_answer_the_safe_reading_counts(opened: Open) -> None:
    async with opened(local_classifier=True, question_seconds=1) as door:
        receipt, _, _ = await asked(door)
        job = await door.until(receipt["job_id"], seconds=40)
        assert job["status"] == "done"
        why = await door.get(f"/messages/{receipt['message_id']}/why")
        assert (why["classification"]["intent"], why["classification"]["decided_by"]) == ("question", "default")
        assert (await door.get("/corrections"))["items"] == []


async def test_saying_something_new_instead_of_answering_ends_the_question(opened: Open) -> None:
    async with opened(local_classifier=True) as door:
        receipt, _, thread = await asked(door)
        await door.ask("what time is it?", thread=thread)
        job = await door.until(receipt["job_id"])
        assert (job["status"], job["approvals"][0]["state"]) == ("done", "superseded")


async def test_modes_that_name_their_work_are_never_asked_about(opened: Open) -> None:
    async with opened(local_classifier=True) as door:
        receipt, _, thread = await asked(door)
        classified = await door.ask(thread, mode="CLASSIFY", thread="elsewhere")
        assert classified["jobs"][0]["status"] == "done"
        assert receipt["job_id"] != classified["jobs"][0]["id"]
