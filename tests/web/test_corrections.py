"""A message's judgement is corrected over HTTP: noted at once, decided later, and never by what makes no sense."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest

from tests.web.conftest import Door


async def test_a_correction_is_noted_and_why_shows_it(door: Door) -> None:
    message = (await door.ask("the cache could do with a flush"))["id"]
    told = {"label": "command", "needs_confirmation": True}
    noted = await door.post(f"/messages/{message}/correct", 202, json=told)
    assert (noted["state"], noted["label"], noted["flag"], noted["taxonomy"]) == ("pending", "command", True, "message")
    assert noted["text"] == "the cache could do with a flush"
    why = await door.get(f"/messages/{message}/why")
    assert why["corrections"] == [noted]


@pytest.mark.parametrize(
    ("told", "says"),
    [
        ({"label": "order"}, "`order` is no label of message. Say one of question, command, other."),
        ({"label": "command", "taxonomy": "mood"}, "There is no taxonomy `mood`."),
        ({"label": "question", "needs_confirmation": True}, "question cannot"),
        ({"label": "command", "needs_confirmation": "perhaps"}, "needs_confirmation"),
        ({"label": "command", "colour": "red"}, "colour"),
        ({}, "label"),
    ],
)
async def test_what_makes_no_sense_is_refused_and_nothing_is_stored(
    door: Door, told: dict[str, Any], says: str
) -> None:
    message = (await door.ask("how full is the disk?"))["id"]
    problem = await door.post(f"/messages/{message}/correct", 400, json=told)
    assert says in f"{problem['detail']} {problem.get('hint', '')}"
    assert (await door.get(f"/messages/{message}/why"))["corrections"] == []


async def test_only_messages_of_people_that_are_there_are_corrected(door: Door) -> None:
    missing = uuid4()
    problem = await door.post(f"/messages/{missing}/correct", 404, json={"label": "other"})
    assert str(missing) in problem["detail"]
    reply = (await door.ask("how full is the disk?"))["replies"][0]["message_id"]
    problem = await door.post(f"/messages/{reply}/correct", 400, json={"label": "other"})
    assert "was not judged" in problem["detail"]
