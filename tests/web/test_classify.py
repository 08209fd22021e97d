"""Any text is judged over HTTP, and the last turn of a conversation by what was said before it."""

from __future__ import annotations

from typing import Any

from tests.web.conftest import Door

OFFER = [{"author": "assistant", "text": "Shall I restart nginx?"}]


def turn(text: str) -> dict[str, str]:
    return {"author": "user", "text": text}


async def test_a_text_is_judged_with_all_that_a_program_needs_to_go_by(door: Door) -> None:
    found = await door.post("/classify", json={"taxonomy": "message", "text": "restart nginx"})
    assert (found["label"], found["flags"], found["decided_by"]) == ("command", {"needs_confirmation": True}, "rules")
    assert (found["unsure"], found["safe"]) == (False, "command")
    assert found["summary"]
    assert found["plan"]


async def test_a_text_nobody_can_judge_has_the_safe_label_to_go_by(door: Door) -> None:
    found = await door.post("/classify", json={"taxonomy": "lane", "text": "restart nginx"})
    assert (found["safe"], found["unsure"], found["decided_by"]) == ("execute", True, "default")


async def test_the_summary_of_a_follow_up_has_its_own_words(door: Door) -> None:
    turns = [turn("restart nginx on web1"), {"author": "assistant", "text": "Done."}, turn("and web2 too")]
    found = await door.post("/classify", json={"taxonomy": "message", "turns": turns})
    assert found["summary"] == "The user wants done: “and web2 too”, which refers to “restart nginx on web1”"
    assert "web1" not in found["plan"]


async def test_the_last_turn_is_judged_by_what_it_refers_to(door: Door) -> None:
    for said, label, confirm in (("go ahead", "command", True), ("no thanks", "other", False)):
        found = await door.post("/classify", json={"taxonomy": "message", "turns": [*OFFER, turn(said)]})
        assert (found["label"], found["flags"]) == (label, {"needs_confirmation": confirm})


async def test_what_cannot_be_judged_is_refused(door: Door) -> None:
    cases: list[tuple[dict[str, Any], str]] = [
        ({"taxonomy": "colours", "text": "red"}, "There is no taxonomy `colours`."),
        ({}, "Give either `text` or `turns`."),
        ({"text": "hi", "turns": [turn("hi")]}, "Give either `text` or `turns`."),
        ({"taxonomy": "lane", "turns": [turn("hi")]}, "Turns are judged by the taxonomy message"),
        ({"turns": OFFER}, "Turns are judged by the taxonomy message"),
        ({"text": ""}, "`text`"),
        ({"turns": [{"author": "nobody", "text": "hi"}]}, "`turns.0.author`"),
    ]
    for asked, says in cases:
        assert says in (await door.post("/classify", 400, json={"taxonomy": "message", **asked}))["detail"]
