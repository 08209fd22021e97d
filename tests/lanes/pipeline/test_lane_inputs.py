"""Where a pipeline's tables come from, whose they must be, and when a request is the same as one before."""

from __future__ import annotations

import io
import json
from datetime import date
from pathlib import Path
from typing import Any
from uuid import UUID

import polars as pl
import pytest

from laneway.domain.conversation import Incoming, IncomingFile, Principal, Role, World
from laneway.domain.ids import new_id
from laneway.errors import BadInput, Forbidden, TooLarge
from laneway.lanes.pipeline.formats import sample
from laneway.lanes.pipeline.inputs import Given, Inputs
from laneway.lanes.pipeline.plan import Plan
from laneway.lanes.pipeline.planner import planned
from laneway.lanes.pipeline.plans import columns_of, plan_key, request_key
from laneway.lanes.pipeline.process import Stored, worked
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
    return await inputs_of(db, Inputs(db, Artifacts(db, []), most_rows), incoming)


async def inputs_of(db: Database, inputs: Inputs, incoming: Incoming) -> Given:
    async with db.transaction() as tx:
        receipt = await intake.write(tx, incoming)
        message = await conversations.message(tx, receipt.message_id)
        job = await jobs.get(tx, receipt.job_id)
    assert message is not None
    return await inputs.of(job, message)


def listed(found: Given) -> dict[str, list[Any]]:
    return {name: [*(sample(table))] for name, table in found.tables.items()}


FOUND: list[tuple[dict[str, Any], dict[str, Any]]] = [
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
]
NO_TABLES: list[dict[str, Any]] = [
    {"tables": 5}, {"tables": {"a": 5}}, {"tables": {"a": "rows"}}, {"tables": {"a": [1, {"b": 1}]}},
    {"previous_results": "x"}, {"tables": {"a": {"x": [{"p": 1}], "y": [{"q": 1}]}}},
    {"tables": {f"t{n}": ROWS for n in range(21)}},
]  # fmt: skip


async def test_tables_and_earlier_results_are_found_by_name_and_what_is_no_table_is_refused(db: Database) -> None:
    for runner, tables in FOUND:
        assert listed(await given(db, runner)) == tables, runner
    for runner in NO_TABLES:
        with pytest.raises(BadInput) as refusal:
            await given(db, runner)
        assert refusal.value.hint or refusal.value.message.endswith(".")
    with pytest.raises(TooLarge, match=r"3 rows.*2"):
        await given(db, {"tables": {"a": [*ROWS, {"n": 3}]}}, most_rows=2)


async def test_an_artifact_is_read_by_the_owner_and_by_whose_it_is_and_by_nobody_else(db: Database) -> None:
    operator, other = await a_principal(db, Role.OPERATOR), await a_principal(db, Role.OPERATOR)
    file = IncomingFile("rows.json", "application/json", json.dumps(ROWS).encode())
    async with db.transaction() as tx:
        receipt = await intake.write(tx, Incoming("http", "theirs", "m1", "here", operator, files=(file,)))
        result = await artifacts.record(tx, b'[{"n": 3}]', "application/json")
        job = await jobs.get(tx, receipt.job_id)
        await plans.record(tx, job, operator.id, plans.StoredResult(job.id, result, "dataset", None, [], {}))
        assert await plans.may_read(tx, result, operator), "a result belongs to whoever asked for it"
        assert not await plans.may_read(tx, result, other)
        outer = await artifacts.record(tx, json.dumps({"result_ref": result}).encode(), "application/json")
    ref = artifacts.reference(file.content)
    assert listed(await given(db, {"tables": {"a": ref}}, operator)) == {"a": ROWS}
    assert listed(await given(db, {"tables": {"a": ref}})) == {"a": ROWS}
    assert listed(await given(db, {"tables": {"a": outer}})) == {"a": [{"result_ref": result}]}, "it is not followed"
    for value in (ref, {"result_ref": ref}):
        with pytest.raises(Forbidden, match="not yours to read"):
            await given(db, {"tables": {"a": value}}, other)


class Untouched(Folder):
    """A real folder whose files nobody in this process reads whole."""

    async def get(self, digest: str) -> bytes:
        raise AssertionError("The server reads a large artifact.")


def as_bytes(rows: list[dict[str, Any]], format: str) -> bytes:
    if format == "ndjson":
        return b"".join(json.dumps(row).encode() + b"\n" for row in rows)
    if format == "json":
        return json.dumps(rows).encode()
    if format == "csv":
        return "\n".join(["id,price,city", *(f"{row['id']},{row['price']},{row['city']}" for row in rows)]).encode()
    content = io.BytesIO()
    pl.DataFrame(rows).write_parquet(content, compression="uncompressed")
    return content.getvalue()


@pytest.mark.parametrize("format", ["ndjson", "csv", "json", "parquet"])
async def test_a_large_artifact_on_the_shelf_is_read_by_the_worker_alone(
    db: Database, tmp_path: Path, format: str
) -> None:
    rows: list[dict[str, Any]] = [
        {"id": place, "price": place * 7919 % 1000, "city": "ABCDE"[place % 5]} for place in range(120_000)
    ]
    shelf, content = Artifacts(db, [Untouched(tmp_path)]), as_bytes(rows, format)
    file = IncomingFile(f"many.{format}", "", content, place=await shelf.lay(content))
    asking = await a_principal(db, Role.OWNER)
    incoming = Incoming("http", f"t{new_id()}", str(new_id()), "the 3 cheapest", asking, files=(file,))
    found = await inputs_of(db, Inputs(db, shelf, 1_000_000), incoming)
    table = found.tables["many"]
    assert isinstance(table, Stored)
    assert (table.format, table.path.is_relative_to(tmp_path)) == (format, True)
    samples = (await found.samples())["many"]
    assert list(samples) == rows[: len(samples)]
    plan = planned("the 3 rows with the lowest price", {"many": samples})
    assert isinstance(plan, Plan), plan
    outcome = await worked(plan, found.tables, 1_000_000)
    assert outcome.how in ("worker", "columnar")
    assert list(outcome.rows) == sorted(rows, key=lambda row: row["price"])[:3]


async def test_a_small_artifact_and_an_object_with_its_rows_are_read_here_and_a_page_is_refused(
    db: Database, tmp_path: Path
) -> None:
    shelf, many = Artifacts(db, [Folder(tmp_path)], inline_bytes=10), [{"n": place + 1} for place in range(200_000)]

    async def stored(content: bytes, mime: str) -> Any:
        place = await shelf.lay(content)
        async with db.transaction() as tx:
            ref = await artifacts.record(tx, content, mime, place)
        return await Inputs(db, shelf, 1_000_000)._stored(ref)

    for content in (b'[{"n": 1}, {"n": 2}]', json.dumps({"rows": many}).encode()):
        assert (await stored(content, "application/json"))[0] == {"n": 1}
    with pytest.raises(BadInput, match="a page, not a table"):
        await stored(b"<html>" + b"x" * 2_000_000, "text/csv")


ANN, BEN = UUID(int=1), UUID(int=2)
TODAY, TOMORROW = date(2026, 3, 1), date(2026, 3, 2)
PRICED: list[dict[str, Any]] = [{"name": "Ann", "price": 3}, {"name": "Bob", "price": 2.5}]


def key(
    text: str, rows: list[dict[str, Any]] = PRICED, world: World = World.OWNER, today: date = TODAY, asks: UUID = ANN
) -> str:
    return plan_key(world, asks, text, columns_of({"t": rows}), today)


def test_the_same_words_and_columns_are_the_same_request_and_others_are_not() -> None:
    same = key("Show the cheapest")
    assert same == key("  please show  THE cheapest! ") == key("could you show the cheapest?")
    assert same == key("show the cheapest", [{"price": 9, "name": "Cy"}, {"price": None, "name": "D"}])
    assert same == key("show the cheapest", today=TOMORROW)
    assert request_key(World.OWNER, "Show the cheapest") == request_key(World.OWNER, "show the cheapest.")
    assert same not in {
        key("show the dearest"),
        key("show the cheapest", world=World.CUSTOMER),
        key("show the cheapest", [{"name": "Ann", "cost": 3}]),
        key("show the cheapest", [{"name": "Ann", "price": "3"}]),
        key("show the cheapest", asks=BEN),
    }
    for text in ("users who signed up today", "sales of last month", "orders since monday"):
        assert key(text) != key(text, today=TOMORROW)
