"""Where a pipeline's tables come from, whose they must be, and what is no table at all."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from laneway.domain.conversation import Incoming, IncomingFile, Principal, Role
from laneway.domain.ids import new_id
from laneway.errors import BadInput, Forbidden, LanewayError, TooLarge
from laneway.lanes.pipeline.formats import rows_in, rows_of, sample
from laneway.lanes.pipeline.inputs import Given, Inputs, Table
from laneway.lanes.pipeline.plan import Plan
from laneway.lanes.pipeline.planner import planned
from laneway.lanes.pipeline.process import Held, Stored, worked
from laneway.store import artifacts, conversations, intake, jobs, plans, principals
from laneway.store.artifacts import Artifacts
from laneway.store.database import Database
from laneway.store.shelves import Folder

ROWS = [{"n": 1}, {"n": 2}]


async def a_principal(db: Database, role: Role) -> Principal:
    async with db.transaction() as tx:
        return await principals.by_address(tx, f"test:{new_id()}", role, "Ann")


async def given(db: Database, runner: dict[str, Any], asking: Principal | None = None, most_rows: int = 1000) -> Given:
    asking = asking or await a_principal(db, Role.OWNER)
    incoming = Incoming("http", f"t{new_id()}", str(new_id()), "sort it", asking, payload={"runner": runner})
    async with db.transaction() as tx:
        receipt = await intake.write(tx, incoming)
        message = await conversations.message(tx, receipt.message_id)
        job = await jobs.get(tx, receipt.job_id)
    assert message is not None
    return await Inputs(db, Artifacts(db, []), most_rows).of(job, message)


def listed(found: Given) -> dict[str, list[Any]]:
    return {name: [*(sample(table))] for name, table in found.tables.items()}


@pytest.mark.parametrize(
    ("runner", "tables"),
    [
        ({"tables": {"a": ROWS, "b c": [{"x": None}]}}, {"a": ROWS, "b_c": [{"x": None}]}),
        ({"tables": ROWS}, {"table": ROWS}),
        ({"more": {"tables": {"a": ROWS}}}, {"a": ROWS}),
        ({"tables": {"a": {"total": 2, "rows": ROWS}}}, {"a": ROWS}),
        ({"tables": {"a": [1, 2]}}, {"a": [{"value": 1}, {"value": 2}]}),
        ({"previous_results": ROWS}, {"previous": ROWS}),
        ({"previous_results": [ROWS]}, {"previous": ROWS}),
        ({"previous_results": [{"data": ROWS, "node_id": "fetch"}]}, {"fetch": ROWS}),
        ({"previous_results": [ROWS, {"rows": ROWS}]}, {"previous_1": ROWS, "previous_2": ROWS}),
        ({"previous_results": {"fetch": {"rows": ROWS}, "more": ROWS}}, {"fetch": ROWS, "more": ROWS}),
        ({"previous_results": []}, {}),
        ({}, {}),
    ],
)
async def test_tables_and_earlier_results_are_found_by_name(
    db: Database, runner: dict[str, Any], tables: dict[str, Any]
) -> None:
    assert listed(await given(db, runner)) == tables


@pytest.mark.parametrize(
    "runner",
    [
        {"tables": 5}, {"tables": {"a": 5}}, {"tables": {"a": "rows"}}, {"tables": {"a": [1, {"b": 1}]}},
        {"previous_results": "x"}, {"tables": {"a": {"x": [{"p": 1}], "y": [{"q": 1}]}}},
        {"tables": {f"t{n}": ROWS for n in range(21)}},
    ],
)  # fmt: skip
async def test_what_is_no_table_is_refused_with_a_sentence(db: Database, runner: dict[str, Any]) -> None:
    with pytest.raises(BadInput) as refusal:
        await given(db, runner)
    assert refusal.value.hint or refusal.value.message.endswith(".")


async def test_more_rows_than_a_pipeline_may_hold_are_refused(db: Database) -> None:
    with pytest.raises(TooLarge, match=r"3 rows.*2"):
        await given(db, {"tables": {"a": [*ROWS, {"n": 3}]}}, most_rows=2)


def test_rows_that_hold_themselves_and_rows_without_end_are_refused_not_followed() -> None:
    row: dict[str, Any] = {"n": 1}
    row["self"] = [row]
    with pytest.raises(BadInput, match="contains itself"):
        rows_of([row])
    with pytest.raises(TooLarge, match="larger than"):
        rows_of([{"x": "y" * 1_000_000}] * 20)
    deep = "[" * 100_000 + "]" * 100_000
    with pytest.raises(BadInput):
        rows_in(f'[{{"x": {deep}}}]'.encode())


async def test_an_artifact_is_read_by_the_owner_and_by_whose_it_is_and_by_nobody_else(db: Database) -> None:
    operator, other = await a_principal(db, Role.OPERATOR), await a_principal(db, Role.OPERATOR)
    file = IncomingFile("rows.json", "application/json", json.dumps(ROWS).encode())
    async with db.transaction() as tx:
        await intake.write(tx, Incoming("http", "theirs", "m1", "here", operator, files=(file,)))
    ref = artifacts.reference(file.content)
    assert listed(await given(db, {"tables": {"a": ref}}, operator)) == {"a": ROWS}
    assert listed(await given(db, {"tables": {"a": ref}})) == {"a": ROWS}
    for value in (ref, {"result_ref": ref}):
        with pytest.raises(Forbidden, match="not yours to read"):
            await given(db, {"tables": {"a": value}}, other)


async def test_a_result_belongs_to_whoever_asked_for_it(db: Database) -> None:
    operator, other = await a_principal(db, Role.OPERATOR), await a_principal(db, Role.OPERATOR)
    content = json.dumps(ROWS).encode()
    async with db.transaction() as tx:
        receipt = await intake.write(tx, Incoming("http", "theirs", "m1", "here", operator))
        ref = await artifacts.record(tx, content, "application/json")
        job = await jobs.get(tx, receipt.job_id)
        await plans.record(tx, job, operator.id, plans.StoredResult(job.id, ref, "dataset", None, [], {}))
        assert await plans.may_read(tx, ref, operator)
        assert not await plans.may_read(tx, ref, other)
        stored = await plans.of_job(tx, job.id)
    assert stored is not None
    assert (stored.ref, stored.kind) == (ref, "dataset")


async def test_an_artifact_that_points_at_another_is_not_followed(db: Database) -> None:
    owner = await a_principal(db, Role.OWNER)
    async with db.transaction() as tx:
        inner = await artifacts.record(tx, json.dumps(ROWS).encode(), "application/json")
        outer = await artifacts.record(tx, json.dumps({"result_ref": inner}).encode(), "application/json")
    assert listed(await given(db, {"tables": {"a": outer}}, owner)) == {"a": [{"result_ref": inner}]}


def test_a_large_file_stays_bytes_and_enough_of_it_is_looked_at_to_plan() -> None:
    rows = [{"n": n, "name": "x" * 50} for n in range(20_000)]
    whole = json.dumps(rows).encode()
    lines = b"\n".join(json.dumps(row).encode() for row in rows)
    comma = b"n,name\n" + b"\n".join(f"{row['n']},{row['name']}".encode() for row in rows)
    for table in (Held(whole, "json"), Held(lines, "ndjson"), Held(comma, "csv")):
        looked_at: Table = sample(table)
        assert not isinstance(looked_at, Held | Stored)
        assert 1000 < len(looked_at) < 20_000
        assert looked_at[7] == rows[7]


def test_numbers_stay_as_they_were_written_and_codes_stay_text() -> None:
    assert rows_in(b'[{"id": 12345678901234567890123, "x": 1.50}]') == [{"id": 12345678901234567890123, "x": 1.5}]
    assert rows_in(b"zip,n\n01234,1\n99999,\n", name="a.csv") == [{"zip": "01234", "n": 1}, {"zip": "99999", "n": None}]
    assert rows_in(b'{"a": 1,\n "b": 2}') == [{"a": 1, "b": 2}]
    with pytest.raises(LanewayError):
        rows_in(b'[{"x": NaN}]')


class Untouched(Folder):
    """A real folder whose files nobody in this process reads whole."""

    async def get(self, digest: str) -> bytes:
        raise AssertionError("The server reads a large artifact.")


MANY: list[dict[str, Any]] = [
    {"id": place, "price": place * 7919 % 1000, "city": "ABCDE"[place % 5]} for place in range(120_000)
]


def as_bytes(format: str) -> bytes:
    if format == "ndjson":
        return b"".join(json.dumps(row).encode() + b"\n" for row in MANY)
    if format == "json":
        return json.dumps(MANY).encode()
    if format == "csv":
        return "\n".join(["id,price,city", *(f"{row['id']},{row['price']},{row['city']}" for row in MANY)]).encode()
    content = io.BytesIO()
    pl.DataFrame(MANY).write_parquet(content, compression="uncompressed")
    return content.getvalue()


@pytest.mark.parametrize("format", ["ndjson", "csv", "json", "parquet"])
async def test_a_large_artifact_on_the_shelf_is_read_by_the_worker_alone(
    db: Database, tmp_path: Path, format: str
) -> None:
    shelf = Artifacts(db, [Untouched(tmp_path)])
    content, asking = as_bytes(format), await a_principal(db, Role.OWNER)
    place = await shelf.lay(content)
    file = IncomingFile(f"many.{format}", "", content, place=place)
    incoming = Incoming("http", f"t{new_id()}", str(new_id()), "the 3 cheapest", asking, files=(file,))
    async with db.transaction() as tx:
        receipt = await intake.write(tx, incoming)
        message = await conversations.message(tx, receipt.message_id)
        job = await jobs.get(tx, receipt.job_id)
    assert message is not None
    found = await Inputs(db, shelf, 1_000_000).of(job, message)
    before = read_so_far()
    table = found.tables["many"]
    assert isinstance(table, Stored)
    assert (table.format, table.path.is_relative_to(tmp_path)) == (format, True)
    samples = (await found.samples())["many"]
    assert list(samples) == MANY[: len(samples)]
    plan = planned("the 3 rows with the lowest price", {"many": samples})
    assert isinstance(plan, Plan), plan
    outcome = await worked(plan, found.tables, 1_000_000)
    assert outcome.how in ("worker", "columnar")
    assert list(outcome.rows) == sorted(MANY, key=lambda row: row["price"])[:3]
    assert read_so_far() - before < len(content), "this process has read less than the file"


def read_so_far() -> int:
    """How many bytes the threads of this process have read, its workers not among them; 0 where nobody counts."""
    counted = [file.read_text().split() for file in Path("/proc/self/task").glob("*/io")]
    return sum(int(words[1]) for words in counted)


async def test_a_small_artifact_and_an_object_with_its_rows_are_read_here(db: Database, tmp_path: Path) -> None:
    shelf = Artifacts(db, [Folder(tmp_path)], inline_bytes=10)
    inputs = Inputs(db, shelf, 1_000_000)
    for content, mime in ((b'[{"n": 1}, {"n": 2}]', "application/json"), (as_object(), "application/json")):
        place = await shelf.lay(content)
        async with db.transaction() as tx:
            ref = await artifacts.record(tx, content, mime, place)
        table = await inputs._stored(ref)
        assert isinstance(table, list)
        assert table[0] == {"n": 1}


def as_object() -> bytes:
    return json.dumps({"rows": [{"n": place + 1} for place in range(200_000)]}).encode()


async def test_a_large_page_is_no_table_on_the_shelf_either(db: Database, tmp_path: Path) -> None:
    shelf = Artifacts(db, [Untouched(tmp_path)])
    content = b"<html>" + b"x" * 2_000_000
    place = await shelf.lay(content)
    async with db.transaction() as tx:
        ref = await artifacts.record(tx, content, "text/csv", place)
    with pytest.raises(BadInput, match="a page, not a table"):
        await Inputs(db, shelf, 1000)._stored(ref)
