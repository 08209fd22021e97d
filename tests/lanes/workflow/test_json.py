"""Documents are read strictly, and JSON that is read or written piece by piece is the same JSON."""

from __future__ import annotations

import json
import random

import pytest

from laneway.errors import BadInput
from laneway.lanes.workflow import json_pieces
from laneway.lanes.workflow.document import fingerprint, read
from tests.lanes.workflow.chance import value_by

NO_DOCUMENTS: list[tuple[str | bytes, str]] = [
    *((text, "not JSON") for text in ("{", "", b"\xff\xfe", "1" * 5000)),
    *((text, "stands twice") for text in ('{"a": 1, "a": 2}', '[{"a": {"b": 1, "b": 1}}]')),
    *((text, "no JSON number") for text in ("[NaN]", "[-Infinity]")),
    *((text, "cannot be stored") for text in ('["\\u0000"]', '["\\ud800"]', '{"\\u0000": 1}')),
    *((text, "nested deeper") for text in ("[" * 65 + "]" * 65, "[" * 200_000)),
    ("[1e999]", "too large"),
    ("[" + "0," * 600_000 + "0]", "bytes"),
]


def test_what_is_no_plain_json_is_refused_with_the_reason() -> None:
    for text, why in NO_DOCUMENTS:
        with pytest.raises(BadInput, match=why):
            read(text)
    assert fingerprint({"a": 1, "b": [2]}) == fingerprint({"b": [2], "a": 1}) != fingerprint({"a": True, "b": [2]})


def test_what_is_read_in_pieces_is_what_was_written_also_long_lists_in_their_order() -> None:
    chance = random.Random(7)
    long = {"z": [{"n": number} for number in range(1203)], "a": 10**30, "rows": [10**25] * 601, "none": {}, "no": []}
    for value in [*(value_by(chance, 5) for _ in range(400)), long, [1.5] * 5000]:
        for indent in (None, 0, 2):
            assert json_pieces.loads(json.dumps(value, indent=indent).encode()) == value
        assert json_pieces.loads(json_pieces.dumps(value)) == value
    assert list(json_pieces.loads(json_pieces.dumps(long))) == list(long)


def test_pieces_that_are_no_json_are_refused_as_everywhere() -> None:
    for text in ("", "[1,]", '{"a":1,}', '{"a" 1}', "[1 2]", "[1", '{"a":', "1 2", "{1:2}", "[,]"):
        with pytest.raises(json.JSONDecodeError):
            json_pieces.loads(text.encode())
