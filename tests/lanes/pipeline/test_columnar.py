"""The columnar path gives what the reference gives, to the last bit, or leaves the file to the reference."""

from __future__ import annotations

import csv
import io
import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from laneway.errors import BadInput
from laneway.lanes.pipeline import columnar
from laneway.lanes.pipeline.plan import Plan, plan_of
from laneway.lanes.pipeline.reading import rows_of
from laneway.lanes.pipeline.tables import run
from laneway.lanes.pipeline.values import Row
from tests.lanes.pipeline import messy

EASY = ("ints", "floats", "words", "texts", "truths", "nullable", "dates")
OTHER: list[Row] = [
    {"key": 1, "more": "one"},
    {"key": 2.5, "more": "two"},
    {"key": "a", "more": None},
    {"key": 1, "id": 9},
]


def told(work: Any) -> tuple[Any, ...]:
    """Everything a user sees of an outcome; of a refusal, its words."""
    try:
        outcome = work()
    except BadInput as error:
        return ("refused", str(error))
    if outcome is None:
        return ("left to the reference",)
    return messy.spelled(outcome.rows), outcome.counts, outcome.notes


def compared(plan: Plan, path: Path, format: str, other: Path) -> str:
    """Whether the columnar path was taken; both paths say the same."""
    files = {"table": (path, format), "other": (other, "ndjson")}
    fast = told(lambda: columnar.run(plan, files, 10_000))
    if fast == ("left to the reference",):
        return "reference"
    slow = told(
        lambda: run(plan, {name: rows_of(file.read_bytes(), of, f"The table {name}")
                           for name, (file, of) in files.items()}, 10_000)
    )  # fmt: skip
    assert fast == slow, plan.document()
    return "refused" if fast[0] == "refused" else "columnar"


def plan_by_chance(chance: random.Random, rows: list[Row]) -> Plan | None:
    columns = sorted({column for row in rows for column in row})
    steps = [messy.step(chance, rows, columns) for _ in range(chance.randint(1, 3))]
    try:
        return plan_of({"from": "table", "steps": steps})
    except BadInput:
        return None


def stored(rows: list[Row], format: str, path: Path) -> Path:
    if format == "ndjson":
        path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    elif format == "csv":
        columns = list(dict.fromkeys(column for row in rows for column in row))
        written = io.StringIO()
        writer = csv.DictWriter(written, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        path.write_text(written.getvalue(), encoding="utf-8")
    else:
        pl.DataFrame(rows, infer_schema_length=None, strict=False).write_parquet(path)
    return path


@pytest.mark.parametrize(("format", "profiles"), [
    ("ndjson", tuple(messy.PROFILES)), ("ndjson", EASY), ("ndjson", ("ints", "floats", "words")),
    ("csv", EASY), ("csv", ("ints", "floats", "words")), ("parquet", EASY),
])  # fmt: skip
def test_plans_by_chance_over_messy_files_give_what_the_reference_gives(
    tmp_path: Path, format: str, profiles: tuple[str, ...]
) -> None:
    chance, seen = random.Random(f"{format}{profiles}"), Counter[str]()
    other = stored(OTHER, "ndjson", tmp_path / "other")
    for number in range(120):
        rows = messy.table(chance, chance.choice([1, 3, 12, 40]), profiles)
        path = stored(rows, format, tmp_path / str(number))
        for _ in range(3):
            plan = plan_by_chance(chance, rows)
            if plan is not None:
                seen[compared(plan, path, format, other)] += 1
    assert seen["columnar"] > 30, seen


@pytest.mark.parametrize("line", [
    '{"a": 1}\n{"a": 2.5}', '{"a": 1}\n{"a": true}', '{"a": 1}\n{"a": "x"}', '{"a": 1, "a": 2}', '{"a": "\\ud800"}',
    '{"a": 123456789012345678901234567890}', '{"a" : 1}', '{"\\u0061": 1}', '{"a": [1]}', '{"b": 1}', '[1]', '',
    '{"a": 1e400}',
])  # fmt: skip
def test_a_column_that_polars_would_change_is_left_to_the_reference(tmp_path: Path, line: str) -> None:
    path = tmp_path / "table"
    path.write_text(line + "\n", encoding="utf-8")
    plan = plan_of({"steps": [{"do": "sort", "by": "a"}]})
    assert columnar.run(plan, {"table": (path, "ndjson")}, 100) is None


@pytest.mark.parametrize(
    "content", ['a,b\n"1",2\n', "a,b\r\n1,2\r\n", "a,b\n1\n", "a,a\n1,2\n", "a\n1\n", "a,b\n\n1,2\n"]
)
def test_a_file_of_csv_that_is_not_plain_is_left_to_the_reference(tmp_path: Path, content: str) -> None:
    path = tmp_path / "table"
    path.write_text(content, encoding="utf-8")
    plan = plan_of({"steps": [{"do": "sort", "by": "a"}]})
    assert columnar.run(plan, {"table": (path, "csv")}, 100) is None


def test_dates_and_numbers_of_parquet_are_read_as_json_has_them(tmp_path: Path) -> None:
    from datetime import UTC, date, datetime

    path = tmp_path / "table"
    pl.DataFrame({
        "day": [date(2026, 1, 31), None],
        "at": [datetime(2026, 1, 31, 10, 0, tzinfo=UTC), None],
        "share": [0.5, float("nan")],
        "small": pl.Series([1, 2], dtype=pl.Int8),
    }).write_parquet(path)  # fmt: skip
    rows = rows_of(path.read_bytes(), "parquet")
    assert rows == [
        {"day": "2026-01-31", "at": "2026-01-31T10:00:00Z", "share": 0.5, "small": 1},
        {"day": None, "at": None, "share": None, "small": 2},
    ]


def test_a_column_of_parquet_that_json_has_no_words_for_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "table"
    pl.DataFrame({"blob": [b"\0"]}).write_parquet(path)
    with pytest.raises(BadInput, match="column blob of type Binary"):
        rows_of(path.read_bytes(), "parquet")
