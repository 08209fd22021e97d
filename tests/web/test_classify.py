"""Any text is judged over HTTP."""

from __future__ import annotations

from typing import Any

from tests.web.conftest import Door

HI = [{"author": "user", "text": "hi"}]


async def test_a_text_is_judged_with_all_that_a_program_needs_to_go_by(door: Door) -> None:
    found = await door.post("/classify", json={"taxonomy": "message", "text": "restart nginx"})
    assert (found["label"], found["flags"], found["decided_by"]) == ("command", {"needs_confirmation": True}, "rules")
    assert (found["unsure"], found["safe"]) == (False, "command")
    assert all((found["summary"], found["plan"]))
    found = await door.post("/classify", json={"taxonomy": "lane", "text": "restart nginx"})
    assert (found["safe"], found["unsure"], found["decided_by"]) == ("execute", True, "default"), "nobody can judge it"


async def test_what_cannot_be_judged_is_refused(door: Door) -> None:
    cases: list[tuple[dict[str, Any], str]] = [
        ({"taxonomy": "colours", "text": "red"}, "There is no taxonomy `colours`."),
        ({}, "Give either `text` or `turns`."),
        ({"text": "hi", "turns": HI}, "Give either `text` or `turns`."),
        ({"taxonomy": "lane", "turns": HI}, "Turns are judged by the taxonomy message"),
        ({"turns": [{"author": "assistant", "text": "Shall I?"}]}, "Turns are judged by the taxonomy message"),
        ({"text": ""}, "`text`"),
        ({"turns": [{"author": "nobody", "text": "hi"}]}, "`turns.0.author`"),
    ]
    for asked, says in cases:
        assert says in (await door.post("/classify", 400, json={"taxonomy": "message", **asked}))["detail"]
