"""Files as rows: every cell is what the file says, or the file is refused by line."""

from __future__ import annotations

import json
import random

import pytest

from laneway.errors import BadInput
from laneway.lanes.pipeline.lines import Lines, written
from laneway.lanes.pipeline.reading import format_of, rows_of
from tests.lanes.pipeline import messy


@pytest.mark.parametrize("format", ["json", "ndjson"])
def test_messy_tables_come_back_as_they_went(format: str) -> None:
    chance = random.Random(format)
    for _ in range(100):
        rows = messy.table(chance, 20)
        content = json.dumps(rows).encode() if format == "json" else b"".join(written(rows))
        assert repr(rows_of(content, format)) == repr(rows)
        assert repr(list(Lines(b"".join(written(rows)), 20, []))) == repr(rows)


@pytest.mark.parametrize(("content", "format", "said"), [
    (b'{"a": 1}\n{"a": }\n', "ndjson", "Row 2 of flights is no JSON"),
    (b"[1]", "json", "flights is not a list of rows"),
    (b'{"a": 1}', "json", "flights is not a list of rows"), (b'[{"a": NaN}]', "json", "flights is no JSON"),
    (b'{"a": 12345678901234567890123, "b": NaN}', "ndjson", "NaN is no number that JSON has"),
    (b'{"a": 12345678901234567890123, "b": 1e999}', "ndjson", "1e999 is no number that JSON has"),
    (b'{"a": ' + b"[" * 100 + b"]" * 100 + b"}", "ndjson", "nested more than 64 deep"),
    (b"[" * 100_000, "json", "flights is no JSON"),
    (b"a,b\n1,2,3\n", "csv", "flights, record 1: 3 cells for 2 columns"), (b"a,a\n1,2\n", "csv", "two columns a"),
    (b"a\n\xff\n", "csv", "flights is not UTF-8 at byte 2"), (b'a\n"x\n', "csv", "flights, line 2"),
    (b"nothing", "parquet", "flights is no Parquet file"),
    (b"", "xlsx", "These can be read: json, ndjson, csv, parquet"),
])  # fmt: skip
def test_what_cannot_be_read_is_refused_in_words(content: bytes, format: str, said: str) -> None:
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


@pytest.mark.parametrize(("name", "mime", "head", "format"), [
    ("a.jsonl", "", b"", "ndjson"), ("a.CSV", "", b"", "csv"), ("a", "application/json; charset=utf-8", b"", "json"),
    ("a.parquet", "", b"", "parquet"), ("", "", b"PAR1..", "parquet"), ("", "", b' [{"a"', "json"),
    ("", "", b'{"a"', "ndjson"), ("", "", b"a,b", "csv"),
])  # fmt: skip
def test_a_format_is_known_by_name_type_or_first_bytes(name: str, mime: str, head: bytes, format: str) -> None:
    assert format_of(name, mime, head) == format
