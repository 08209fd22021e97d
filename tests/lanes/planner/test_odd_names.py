"""Columns and tables whose names have neither letters nor digits: nobody can say them, and nothing falls over."""

from __future__ import annotations

import pytest

from laneway.lanes.pipeline.planner import Refusal
from tests.lanes.planner.asking import answer

NAMES = ("", "#", "%", "_", " ", "€", "()", "\N{SLIGHTLY SMILING FACE}")
REQUESTS = (
    "sort by kg", "total kg per zone", "average kg", "crates in Oslo", "show kg and %", "sort by #", "top 10 % by kg",
    'total kg per "#"', "newest crates", "which zone has the most crates", "show _", "rows with #",
    "crates without a zone",
)  # fmt: skip


@pytest.mark.parametrize("cell", [7, "x", "2026-01-02", True, None], ids=str)
@pytest.mark.parametrize("name", NAMES, ids=repr)
def test_such_a_column_is_in_nobodys_way(name: str, cell: object) -> None:
    rows = [{"kg": 2, "zone": "Oslo", name: cell}, {"kg": 1, "zone": "Rome", name: cell}]
    beside = [{"zone": "Oslo", "": 1}, {"zone": "Rome", "": 2}]
    for request in REQUESTS:
        for tables in ({"data": rows}, {"crates": rows, "zones": beside}, {"#": rows, "": beside}):
            answer(request, tables)
    assert answer("sort by kg", {"data": rows}) == rows[::-1]
    assert answer("total kg per zone", {"data": rows}) == [
        {"zone": "Oslo", "total_kg": 2},
        {"zone": "Rome", "total_kg": 1},
    ]


def test_two_such_columns_are_not_taken_for_one_another() -> None:
    rows = [{"kg": 1, "#": 3, "%": 4}, {"kg": 2, "#": 1, "%": 9}]
    assert isinstance(answer("sort by #", {"data": rows}), Refusal)
    found = answer('sort by "%" descending', {"data": rows})
    assert isinstance(found, Refusal) or found == rows[::-1]
