"""JSON read and written piece by piece is the same JSON."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from laneway.lanes.workflow import json_pieces

PLAIN = (None, True, False, 0, -7, 2**70, 1.5, -1e-9, "", 'ä\n"\\', "]", "}", ",", "\u2028", "🙂")


def by_chance(chance: random.Random, depth: int) -> Any:
    kind = chance.randrange(4) if depth else 3
    if kind == 0:
        return [by_chance(chance, depth - 1) for _ in range(chance.randrange(5))]
    if kind == 1:
        return {
            chance.choice(("a", "", '"', "ü:", "}")): by_chance(chance, depth - 1) for _ in range(chance.randrange(5))
        }
    return chance.choice(PLAIN)


@pytest.mark.parametrize("indent", [None, 0, 2])
def test_what_is_read_is_what_was_written(indent: int | None) -> None:
    chance = random.Random(7)
    for _ in range(400):
        value = by_chance(chance, 5)
        assert json_pieces.loads(json.dumps(value, indent=indent).encode()) == value
        assert json_pieces.loads(json_pieces.dumps(value)) == value


def test_long_lists_whole_numbers_of_any_length_and_members_in_their_order_come_through() -> None:
    value = {"z": [{"n": number} for number in range(1203)], "a": 10**30, "rows": [10**25] * 601, "none": {}, "no": []}
    found = json_pieces.loads(json_pieces.dumps(value))
    assert found == value
    assert list(found) == list(value)
    assert json_pieces.loads(json_pieces.dumps([1.5] * 5000)) == [1.5] * 5000


@pytest.mark.parametrize("text", ["", "[1,]", '{"a":1,}', '{"a" 1}', "[1 2]", "[1", '{"a":', "1 2", "{1:2}", "[,]"])
def test_what_is_no_json_is_refused_as_everywhere(text: str) -> None:
    with pytest.raises(json.JSONDecodeError):
        json_pieces.loads(text.encode())
