"""Rows from outside: what is no table is refused in words, however large, deep or twisted it is."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from laneway.errors import BadInput, TooLarge
from laneway.lanes.pipeline.checking import checked
from laneway.lanes.pipeline.plan import plan_of
from laneway.lanes.pipeline.process import worked

NOTHING = plan_of({"steps": []})


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


def test_a_table_of_ten_megabytes_is_refused_with_a_way_out() -> None:
    rows = [{"text": "x" * 1000}] * 11_000
    with pytest.raises(TooLarge, match=r"The table flights is larger than 10 MB. Send it as a file"):
        checked("flights", rows)
    assert len(checked("flights", rows[:9000])) == 9000


def test_a_row_of_too_many_cells_is_refused() -> None:
    wide = {f"c{number}": number for number in range(50_001)}
    with pytest.raises(TooLarge, match=r"Row 2 of genes has 50,001 cells; at most 50,000 are taken"):
        checked("genes", [{}, wide])
    wide.popitem()
    assert checked("genes", [wide]) == [wide]


def test_rows_that_contain_themselves_are_refused() -> None:
    row: dict[str, Any] = {"a": 1}
    row["self"] = {"again": [row]}
    with pytest.raises(BadInput, match="Row 1 of flights, column self: it contains itself"):
        checked("flights", [row])
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(BadInput, match="Row 1 of flights is no object"):
        checked("flights", endless)


def test_the_same_part_twice_is_no_cycle() -> None:
    part = {"x": [1]}
    assert checked("flights", [{"a": part, "b": part, "c": [part, part]}])


def test_rows_that_are_nested_too_deep_are_refused() -> None:
    assert checked("flights", [{"a": nested(60)}])
    with pytest.raises(BadInput, match="column a: it is nested more than 64 deep"):
        checked("flights", [{"a": nested(5000)}])


@pytest.mark.parametrize(("rows", "said"), [
    ({"a": 1}, "The table flights is not a list of rows."), ([1], "Row 1 of flights is no object."),
    ([{"a": 1}, {"a": float("nan")}], "Row 2 of flights, column a: nan is no number that JSON has."),
    ([{"a": [float("inf")]}], "inf is no number that JSON has"),
    ([{"a": date(2026, 1, 1)}], "date is no type that JSON has"),
    ([{1: 2}], "column 1: its name is no text"), ([{"a": {1: 2}}], "a name inside it is no text"),
    ([{"a": 1 << 9000}], "too many digits"),
])  # fmt: skip
async def test_what_is_no_table_is_refused_by_row_and_column(rows: Any, said: str) -> None:
    with pytest.raises(BadInput) as refused:
        checked("flights", rows)
    assert said in str(refused.value)
    with pytest.raises(BadInput):
        await worked(NOTHING, {"flights": rows})
