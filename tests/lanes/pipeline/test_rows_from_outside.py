"""Rows from outside: what is no table is refused in words; large tables leave a request, and their reference stays."""

from __future__ import annotations

import json
import random
from datetime import date
from typing import Any

import pytest

from laneway.domain.artifact import SCHEME, reference
from laneway.errors import BadInput, LanewayError
from laneway.lanes.pipeline.checking import checked
from laneway.lanes.pipeline.lines import Lines, written
from laneway.lanes.pipeline.plan import plan_of
from laneway.lanes.pipeline.process import worked
from laneway.lanes.pipeline.reading import format_of, rows_of
from laneway.lanes.pipeline.taking_out import taken_out
from tests.lanes.pipeline import messy


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


async def test_what_is_no_table_is_refused_by_row_and_column() -> None:
    row: dict[str, Any] = {"a": 1}
    row["self"] = {"again": [row]}
    endless: list[Any] = []
    endless.append(endless)
    wide = {f"c{number}": number for number in range(50_001)}
    for rows, said in (
        ({"a": 1}, "The table flights is not a list of rows."), ([1], "Row 1 of flights is no object."),
        ([{"a": 1}, {"a": float("nan")}], "Row 2 of flights, column a: nan is no number that JSON has."),
        ([{"a": [float("inf")]}], "inf is no number that JSON has"),
        ([{"a": date(2026, 1, 1)}], "date is no type that JSON has"),
        ([{1: 2}], "column 1: its name is no text"), ([{"a": {1: 2}}], "a name inside it is no text"),
        ([{"a": 1 << 9000}], "too many digits"),
        ([row], "Row 1 of flights, column self: it contains itself"), (endless, "Row 1 of flights is no object"),
        ([{"a": nested(5000)}], "column a: it is nested more than 64 deep"),
        ([{"text": "x" * 1000}] * 11_000, "The table flights is larger than 10 MB. Send it as a file"),
        ([{}, wide], "Row 2 of flights has 50,001 cells; at most 50,000 are taken"),
    ):  # fmt: skip
        with pytest.raises(LanewayError) as refused:
            checked("flights", rows)
        assert said in str(refused.value)
    with pytest.raises(BadInput):
        await worked(plan_of({"steps": []}), {"flights": [1]})  # type: ignore[list-item]


def test_a_table_within_the_bounds_is_taken_and_the_same_part_twice_is_no_cycle() -> None:
    part = {"x": [1]}
    assert checked("flights", [{"a": part, "b": part, "c": [part, part], "d": nested(60)}])
    assert len(checked("flights", [{"text": "x" * 1000}] * 9000)) == 9000
    assert checked("genes", [{f"c{number}": number for number in range(50_000)}])


FEW: list[dict[str, Any]] = [{"n": 1}, {"n": 2}]
MANY: list[dict[str, Any]] = [{"n": number} for number in range(201)]
WIDE: list[dict[str, Any]] = [{"text": "x" * 20_000}]
LINES = b"".join(b'{"n":%d}\n' % number for number in range(201))
REF = reference(LINES)


def test_a_table_of_many_rows_is_taken_out_wherever_a_request_may_bring_one() -> None:
    node = {"node_id": "fetch"}
    fields: dict[str, Any]
    for fields, left in (
        ({"tables": {"a": MANY, "b": FEW}}, {"tables": {"a": REF, "b": FEW}}),
        ({"tables": MANY}, {"tables": {"table": REF}}),
        ({"tables": {"a": {"total": 201, "rows": MANY}}}, {"tables": {"a": REF}}),
        ({"previous_results": MANY}, {"previous_results": [{"artifact": REF}]}),
        ({"previous_results": [MANY, FEW]}, {"previous_results": [{"artifact": REF}, FEW]}),
        (
            {"context": {"previous_results": [{**node, "data": MANY, "took": 3}], "mood": "fine"}},
            {"context": {"previous_results": [{**node, "artifact": REF}], "mood": "fine"}},
        ),
        (
            {"metadata": {"context": {"previous_results": MANY}}},
            {"metadata": {"context": {"previous_results": [{"artifact": REF}]}}},
        ),
        ({"runner": {"tables": {"a": MANY}}}, {"runner": {"tables": {"a": REF}}}),
        ({"payload": {"runner": {"tables": {"a": MANY}}}}, {"payload": {"runner": {"tables": {"a": REF}}}}),
    ):
        found, [table] = taken_out(fields)
        assert (found, table.ref, table.content) == (left, REF, LINES)
    for fields in ({"tables": {"a": WIDE}}, {"previous_results": [{"rows": WIDE}]}, {"previous_results": WIDE}):
        assert len(taken_out(fields)[1]) == 1
    _, [table] = taken_out({"tables": {"a": [{"n": 10**40}] * 201}})
    assert table.content.replace(b" ", b"").startswith(b'{"n":1' + b"0" * 40), "whole numbers stay whole"


def test_what_is_small_points_elsewhere_or_is_somebody_elses_stays_as_it_came() -> None:
    fields: dict[str, Any]
    for fields in (
        {"tables": {"a": FEW}, "previous_results": [FEW, {"rows": FEW}]},
        {"tables": {"a": f"{SCHEME}0", "b": {"result_ref": f"{SCHEME}0"}}, "previous_results": [f"{SCHEME}0"]},
        {"tables": None, "previous_results": [], "context": "none"},
        {"payload": {"tables": MANY}, "context": {"tables": {"t": 5}}},
        {"previous_results": [5, None, {"said": "done"}]},
    ):
        assert taken_out(fields) == (fields, [])


def test_messy_tables_come_back_as_they_went() -> None:
    chance = random.Random("json")
    for _ in range(100):
        rows = messy.table(chance, 20)
        lines = b"".join(written(rows))
        for content, format in ((json.dumps(rows).encode(), "json"), (lines, "ndjson")):
            assert repr(rows_of(content, format)) == repr(rows)
        assert repr(list(Lines(lines, 20, []))) == repr(rows)


def test_what_cannot_be_read_is_refused_in_words() -> None:
    for content, format, said in (
        (b'{"a": 1}\n{"a": }\n', "ndjson", "Row 2 of flights is no JSON"),
        (b"[1]", "json", "flights is not a list of rows"), (b'{"a": 1}', "json", "flights is not a list of rows"),
        (b'[{"a": NaN}]', "json", "flights is no JSON"), (b"[" * 100_000, "json", "flights is no JSON"),
        (b'{"a": 12345678901234567890123, "b": NaN}', "ndjson", "NaN is no number that JSON has"),
        (b'{"a": 12345678901234567890123, "b": 1e999}', "ndjson", "1e999 is no number that JSON has"),
        (b'{"a": ' + b"[" * 100 + b"]" * 100 + b"}", "ndjson", "nested more than 64 deep"),
        (b"a,b\n1,2,3\n", "csv", "flights, record 1: 3 cells for 2 columns"),
        (b"a,a\n1,2\n", "csv", "two columns a"), (b'a\n"x\n', "csv", "flights, line 2"),
        (b"a\n\xff\n", "csv", "flights is not UTF-8 at byte 2"), (b"nothing", "parquet", "is no Parquet file"),
        (b"", "xlsx", "These can be read: json, ndjson, csv, parquet"),
    ):  # fmt: skip
        with pytest.raises(BadInput) as refused:
            rows_of(content, format, "flights")
        assert said in str(refused.value)


def test_a_column_of_csv_is_of_one_type_and_an_empty_cell_is_null() -> None:
    content = "\ufeffn;f;t;b;z;m\n1;1.5;x;true;007;1\n;2;;false;1;a\n-3;1e2;1;;2;\n".encode()
    assert rows_of(content, "csv") == [
        {"n": 1, "f": 1.5, "t": "x", "b": True, "z": "007", "m": "1"},
        {"n": None, "f": 2, "t": None, "b": False, "z": "1", "m": "a"},
        {"n": -3, "f": 100.0, "t": "1", "b": None, "z": "2", "m": None},
    ]
    assert rows_of(b'a,b\r\n"x, ""y""\nz",2\r\n\r\n3\r\n', "csv") == [{"a": 'x, "y"\nz', "b": 2}, {"a": "3", "b": None}]
    assert rows_of(b"", "csv") == []


def test_a_format_is_known_by_name_type_or_first_bytes() -> None:
    for name, mime, head, format in (
        ("a.jsonl", "", b"", "ndjson"), ("a.CSV", "", b"", "csv"), ("a", "application/json; x=y", b"", "json"),
        ("a.parquet", "", b"", "parquet"), ("", "", b"PAR1..", "parquet"), ("", "", b' [{"a"', "json"),
        ("", "", b'{"a"', "ndjson"), ("", "", b"a,b", "csv"),
    ):  # fmt: skip
        assert format_of(name, mime, head) == format
