"""Workflow documents are read strictly."""

from __future__ import annotations

import pytest

from laneway.errors import BadInput, TooLarge
from laneway.lanes.workflow.document import copied, equal, fingerprint, read


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "not JSON"),
        ('{"a": 1, "a": 2}', "stands twice"),
        ('[{"a": {"b": 1, "b": 1}}]', "stands twice"),
        ("[NaN]", "no JSON number"),
        ("[-Infinity]", "no JSON number"),
        ("[1e999]", "too large"),
        ('["\\u0000"]', "cannot be stored"),
        ('["\\ud800"]', "cannot be stored"),
        ('{"\\u0000": 1}', "cannot be stored"),
        ("[" * 65 + "]" * 65, "nested deeper"),
        ("[" * 200_000, "nested deeper"),
        ("1" * 5000, "not JSON"),
        ("", "not JSON"),
    ],
)
def test_what_is_no_plain_json_is_refused_with_the_reason(text: str, why: str) -> None:
    with pytest.raises(BadInput, match=why):
        read(text)


def test_bytes_that_are_no_text_are_refused() -> None:
    with pytest.raises(BadInput, match="not JSON"):
        read(b"\xff\xfe")


def test_a_text_that_is_too_long_is_refused_before_it_is_read() -> None:
    with pytest.raises(TooLarge, match="bytes"):
        read("[" + "0," * 600_000 + "0]")


def test_a_copy_shares_nothing() -> None:
    first = {"a": [{"b": 1}]}
    second = copied(first)
    second["a"][0]["b"] = 2
    assert first == {"a": [{"b": 1}]}


def test_true_is_not_one_and_one_is_one_point_zero() -> None:
    assert not equal([True], [1])
    assert not equal(0, False)
    assert equal({"a": 1}, {"a": 1.0})


def test_a_fingerprint_does_not_depend_on_the_order_of_names() -> None:
    assert fingerprint({"a": 1, "b": [2]}) == fingerprint({"b": [2], "a": 1})
    assert fingerprint({"a": 1}) != fingerprint({"a": True})
