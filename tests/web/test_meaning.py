"""Whoever is not understood is asked, with two or three choices; whoever does not answer gets the safe reading."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any
from uuid import uuid4

import pytest

from tests.conftest import cloned
from tests.serving import Served, serving_beside
from tests.web.conftest import Door

UNCLEAR = (
    "the nginx thing again, like last time",
    "backup",
    "logs of web2 hm",
    "hm the disk",
    "mail queue",
    "staging…",
)


@pytest.fixture(scope="module")
def learned(postgres: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Served, str]]:
    """A Laneway with the local classifier, for all of these tests; after seconds without an answer it goes on."""
    with (
        cloned(postgres) as url,
        serving_beside(url, tmp_path_factory.mktemp("home"), local_classifier=True, question_seconds=6) as served,
    ):
        yield served, url


@pytest.fixture
async def door(learned: tuple[Served, str]) -> AsyncIterator[Door]:
    served, database_url = learned
    door = Door(served.url, served.key, database_url, f"thread-{uuid4().hex[:8]}")
    async with door.http:
        async with asyncio.timeout(100):
            while not (await door.post("/classify", json={"taxonomy": "message", "text": "hello there"}))["label"]:
                await asyncio.sleep(0.1)
        yield door


async def asked(door: Door) -> Any:
    """The first unclear message that was asked back about: its receipt and the question."""
    for text in UNCLEAR:
        receipt = await door.send(text, thread=f"{door.thread} {text}")
        job = await door.until(receipt["job_id"], "waiting", "done")
        if job["approvals"] and job["approvals"][0]["choices"]:
            return receipt, job["approvals"][0], text
    pytest.fail("every text was judged with confidence; unclear ones are needed here")


async def test_without_an_answer_the_safe_reading_counts_and_named_work_is_never_asked_about(door: Door) -> None:
    receipt, _, text = await asked(door)
    classified = await door.ask(text, mode="CLASSIFY", thread="elsewhere")
    assert classified["jobs"][0]["status"] == "done"
    assert (await door.until(receipt["job_id"]))["status"] == "done"
    why = await door.get(f"/messages/{receipt['message_id']}/why")
    assert (why["classification"]["intent"], why["classification"]["decided_by"]) == ("question", "default")
    assert why["corrections"] == []


async def test_a_choice_by_http_counts_once_and_must_be_one_that_was_offered(door: Door) -> None:
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


async def test_an_unclear_message_is_asked_about_and_the_number_of_a_choice_settles_it(door: Door) -> None:
    receipt, question, text = await asked(door)
    labels = [choice["label"] for choice in question["choices"]]
    assert 2 <= len(labels) <= 3
    message = await door.get(f"/messages/{receipt['message_id']}")
    assert message["replies"][0]["text"].startswith("I am not sure what you want.")
    meant = next(label for label in labels if label != "command")
    answer = await door.ask(str(labels.index(meant) + 1), thread=f"{door.thread} {text}")
    assert answer["replies"][0]["text"] == "Understood."
    job = await door.until(receipt["job_id"])
    assert (job["status"], job["approvals"][0]["choice"]) == ("done", meant)
    why = await door.get(f"/messages/{receipt['message_id']}/why")
    assert (why["classification"]["intent"], why["classification"]["decided_by"]) == (meant, "person")
    [correction] = why["corrections"]
    assert (correction["label"], correction["message_id"]) == (meant, receipt["message_id"])
