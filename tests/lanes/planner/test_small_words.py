"""Values that are spelt like the small words of a sentence."""

from __future__ import annotations

import pytest

from laneway.lanes.pipeline.planner import Refusal, planned

STATES = [{"name": "Ann", "state": "OR"}, {"name": "Bob", "state": "ME"}, {"name": "Cem", "state": "IN"}]
CLASSES = [{"item": "bolt", "class": "A"}, {"item": "nut", "class": "B"}]


@pytest.mark.parametrize(
    ("prompt", "rows"),
    [
        ("people in OR", STATES),
        ("people from ME sorted by name", STATES),
        ("people in IN", STATES),
        ("items of A", CLASSES),
        ("items with class A", CLASSES),
    ],
)
def test_a_value_that_is_a_small_word_is_asked_for_in_quotes(prompt: str, rows: list[dict[str, str]]) -> None:
    found = planned(prompt, {"data": rows})
    assert isinstance(found, Refusal)
    assert "quotes" in found.hint


def test_in_quotes_it_is_a_value() -> None:
    assert not isinstance(planned('items with class "A"', {"data": CLASSES}), Refusal)
