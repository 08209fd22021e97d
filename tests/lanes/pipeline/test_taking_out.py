"""Large tables leave a request and their reference stays; small ones, and what is no table, stay as they came."""

from __future__ import annotations

from typing import Any

import pytest

from laneway.domain.artifact import SCHEME, reference
from laneway.errors import BadInput, TooLarge
from laneway.lanes.pipeline.taking_out import taken_out

FEW: list[dict[str, Any]] = [{"n": 1}, {"n": 2}]
MANY: list[dict[str, Any]] = [{"n": number} for number in range(201)]
WIDE: list[dict[str, Any]] = [{"text": "x" * 20_000}]
LINES = b"".join(b'{"n":%d}\n' % number for number in range(201))
REF = reference(LINES)


@pytest.mark.parametrize(
    ("fields", "left"),
    [
        ({"tables": {"a": MANY, "b": FEW}}, {"tables": {"a": REF, "b": FEW}}),
        ({"tables": MANY}, {"tables": {"table": REF}}),
        ({"tables": {"a": {"total": 201, "rows": MANY}}}, {"tables": {"a": REF}}),
        ({"previous_results": MANY}, {"previous_results": [{"artifact": REF}]}),
        ({"previous_results": [MANY, FEW]}, {"previous_results": [{"artifact": REF}, FEW]}),
        (
            {"context": {"previous_results": [{"node_id": "fetch", "data": MANY, "took": 3}], "mood": "fine"}},
            {"context": {"previous_results": [{"node_id": "fetch", "artifact": REF}], "mood": "fine"}},
        ),
        ({"metadata": {"context": {"previous_results": MANY}}},
         {"metadata": {"context": {"previous_results": [{"artifact": REF}]}}}),
        ({"runner": {"tables": {"a": MANY}}}, {"runner": {"tables": {"a": REF}}}),
        ({"payload": {"runner": {"tables": {"a": MANY}}}}, {"payload": {"runner": {"tables": {"a": REF}}}}),
    ],
)  # fmt: skip
def test_a_table_of_many_rows_is_taken_out_wherever_a_request_may_bring_one(
    fields: dict[str, Any], left: dict[str, Any]
) -> None:
    found, [table] = taken_out(fields)
    assert (found, table.ref, table.content) == (left, REF, LINES)


@pytest.mark.parametrize(
    "fields",
    [
        {"tables": {"a": FEW}, "previous_results": [FEW, {"rows": FEW}]},
        {"tables": {"a": f"{SCHEME}0", "b": {"result_ref": f"{SCHEME}0"}}, "previous_results": [f"{SCHEME}0"]},
        {"tables": None, "previous_results": [], "context": "none"},
        {"payload": {"tables": MANY}, "context": {"tables": {"t": 5}}},
        {"previous_results": [5, None, {"said": "done"}]},
    ],
)
def test_what_is_small_points_elsewhere_or_is_somebody_elses_stays_as_it_came(fields: dict[str, Any]) -> None:
    assert taken_out(fields) == (fields, [])


def test_few_rows_that_are_large_are_taken_out_too() -> None:
    for fields in ({"tables": {"a": WIDE}}, {"previous_results": [{"rows": WIDE}]}, {"previous_results": WIDE}):
        assert len(taken_out(fields)[1]) == 1


def test_whole_numbers_stay_whole_however_long_they_are() -> None:
    _, [table] = taken_out({"tables": {"a": [{"n": 10**40}] * 201}})
    assert table.content.startswith(b'{"n":' + b" " * table.content.startswith(b'{"n": ') + b"1" + b"0" * 40)


@pytest.mark.parametrize("wrong", [5, [1, {"a": 1}], [[1], [2]], [{"x": float("nan")}]])
def test_what_is_no_table_is_refused(wrong: Any) -> None:
    with pytest.raises(BadInput):
        taken_out({"tables": {"a": wrong}})


def test_more_than_the_engine_takes_is_refused_with_its_name() -> None:
    with pytest.raises(TooLarge, match="The table flights is larger than 10 MB"):
        taken_out({"tables": {"flights": [{"x": "y" * 1000}] * 10_500}})
