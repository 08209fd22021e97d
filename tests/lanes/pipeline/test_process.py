"""Large tables and requests are worked on elsewhere: the answer is the same, and nothing is left behind."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import orjson
import psutil
import pytest

from laneway.errors import BadInput, TooLarge, Unavailable
from laneway.lanes.pipeline.lines import Lines, written
from laneway.lanes.pipeline.plan import plan_of
from laneway.lanes.pipeline.process import Held, Stored, stored, worked
from laneway.lanes.pipeline.tables import run
from laneway.lanes.pipeline.unpacking import LAID, NotTaken, lay, mended, unpacked, without_tables
from laneway.lanes.pipeline.values import Row
from laneway.store.artifacts import Artifacts, record
from laneway.store.database import Database
from laneway.store.shelves import Folder

ROWS: list[Row] = [
    {"id": place, "price": place * 7919 % 1000 / 10, "city": "ABCDE"[place % 5]} for place in range(3000)
]
SORTED = plan_of({"steps": [{"do": "sort", "by": "price"}, {"do": "filter", "where": {
    "column": "city", "is": "!=", "value": "A"}}]})  # fmt: skip
LONG = plan_of({"steps": [{"do": "join", "table": "table", "on": "city"}]})
"""Nearly two million rows: seconds of work."""


def workers() -> list[psutil.Process]:
    """The worker processes that this process has."""
    found = []
    for child in psutil.Process().children():
        try:
            if "laneway.lanes.pipeline.aside" in child.cmdline():
                found.append(child)
        except psutil.Error:
            continue
    return found


async def a_worker(seconds: float = 30.0) -> psutil.Process:
    async with asyncio.timeout(seconds):
        while not (running := workers()):
            await asyncio.sleep(0.01)
    return running[0]


def folders() -> set[str]:
    found = [path.name for path in Path(tempfile.gettempdir()).glob("laneway-*")]
    return {name for name in found if name.startswith(("laneway-tables-", "laneway-body-"))}


@asynccontextmanager
async def nothing_left() -> AsyncIterator[None]:
    """Neither process nor folder is there afterwards that was not there before."""
    before = folders()
    yield
    # Other tests have folders there, too, and make new ones; these will not last either.
    new, deadline = folders() - before, time.monotonic() + 60
    while (workers() or folders() & new) and time.monotonic() < deadline:
        await asyncio.sleep(0.01)
    assert (workers(), folders() & new) == ([], set())


async def test_a_worker_gives_what_this_process_would_give(tmp_path: Path) -> None:
    content = b"".join(written(ROWS))
    (tmp_path / "rows.ndjson").write_bytes(content)
    here = await worked(SORTED, {"table": ROWS})
    assert (here.how, list(here.rows)) == ("here", list(run(SORTED, {"table": ROWS}).rows))
    sources: list[Any] = [ROWS, Stored(tmp_path / "rows.ndjson", "ndjson"), Held(content, "ndjson")]
    for source in sources:
        async with nothing_left():
            outcome = await worked(SORTED, {"table": source}, rows_here=100)
            assert (outcome.how, type(outcome.rows)) == ("worker", Lines)
            assert (list(outcome.rows), outcome.counts) == (list(here.rows), here.counts)
            assert (len(outcome.rows), outcome.rows[0], outcome.rows[-1]) == (2400, here.rows[0], here.rows[-1])
            assert outcome.rows[300:303] == here.rows[300:303]


async def test_the_worker_reads_an_artifact_from_the_shelf_itself_and_checks_it(db: Database, tmp_path: Path) -> None:
    content = b"".join(written(ROWS))
    artifacts = Artifacts(db, [Folder(tmp_path)])
    place = await artifacts.lay(content)
    async with db.transaction() as tx:
        ref = await record(tx, content, "application/x-ndjson", place)
        small = await record(tx, b"[]", "application/json")
    assert await stored(artifacts, small) is None
    source = await stored(artifacts, ref)
    assert source is not None
    assert source.format == "ndjson"
    assert source.path.is_relative_to(tmp_path)
    outcome = await worked(SORTED, {"table": source}, rows_here=10)
    assert (outcome.how, len(outcome.rows)) == ("worker", 2400)
    source.path.write_bytes(content.replace(b"1", b"2"))
    with pytest.raises(BadInput, match="The stored copy of the table table is damaged"):
        await worked(SORTED, {"table": source}, rows_here=10)


async def test_a_join_that_outgrows_this_process_is_taken_to_a_worker_and_long_numbers_stay_whole() -> None:
    rows = [{**row, "n": 2**70, "f": 1.0, "b": True} for row in ROWS[:300]]
    plan = plan_of({"steps": [{"do": "join", "table": "table", "on": "city"}, {"do": "limit", "count": 1}]})
    outcome = await worked(plan, {"table": rows}, rows_here=400)
    assert (outcome.how, [count.rows for count in outcome.counts]) == ("worker", [300, 18_000, 1])
    assert repr([outcome.rows[0][name] for name in ("n", "f", "b")]) == repr([2**70, 1.0, True])


async def test_a_mistake_found_by_the_worker_is_told_in_its_words() -> None:
    plan = plan_of({"steps": [{"do": "sort", "by": "prise"}]})
    with pytest.raises(BadInput, match=r"Step 1 \(sort\): the table has no column prise. Did you mean price"):
        await worked(plan, {"table": ROWS}, rows_here=10)
    with pytest.raises(TooLarge, match="would pass 1,000 rows"):
        await worked(SORTED, {"table": ROWS}, 1000, rows_here=10)


@pytest.mark.fault
async def test_a_worker_that_is_killed_or_takes_too_long_is_an_error_and_no_hang() -> None:
    async with nothing_left():
        work = asyncio.create_task(worked(LONG, {"table": ROWS}, rows_here=10))
        (await a_worker()).send_signal(signal.SIGKILL)
        with pytest.raises(Unavailable, match="ended before its time"):
            await asyncio.wait_for(work, 30)
        with pytest.raises(TooLarge, match=r"took longer than 0\.05 s"):
            await worked(LONG, {"table": ROWS}, rows_here=10, seconds=0.05)


async def test_cancelling_ends_the_worker_which_knows_no_secret_of_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-secret")
    async with nothing_left():
        work = asyncio.create_task(worked(LONG, {"table": ROWS}, rows_here=10))
        environment = (await a_worker()).environ()
        work.cancel()
        with pytest.raises(asyncio.CancelledError):
            await work
    assert "ANTHROPIC_API_KEY" not in environment


@pytest.mark.fault
def test_a_worker_ends_when_the_server_is_killed(tmp_path: Path) -> None:
    rows = tmp_path / "rows.ndjson"
    rows.write_bytes(b"".join(written(ROWS)))
    job = {"plan": LONG.document(), "tables": {"table": {"path": str(rows), "format": "ndjson", "sha256": ""}},
           "most_rows": 10**9,
           "columnar": False, "result": str(tmp_path / "result")}  # fmt: skip
    server = (
        "import subprocess, sys, time\n"
        "worker = subprocess.Popen([sys.executable, '-m', 'laneway.lanes.pipeline.worker'], stdin=subprocess.PIPE)\n"
        f"worker.stdin.write({orjson.dumps(job)!r} + b'\\n'); worker.stdin.flush()\n"
        "print(worker.pid, flush=True); time.sleep(600)\n"
    )
    with subprocess.Popen([sys.executable, "-c", server], stdout=subprocess.PIPE) as served:
        assert served.stdout is not None
        worker = psutil.Process(int(served.stdout.readline()))
        assert worker.is_running()
        os.kill(served.pid, signal.SIGKILL)
    worker.wait(30)


HOTELS: list[dict[str, Any]] = [{"n": number, "name": f"hotel {number}"} for number in range(1000)]
MUCH = 1_000_000


async def test_a_request_comes_back_small_and_its_tables_as_they_were() -> None:
    sent = {"prompt": "sort", "tables": {"a": HOTELS, "b": HOTELS[:2]}, "exact": 10**30, "odd": "ä\u2028€"}
    found = await unpacked(json.dumps(sent).encode(), MUCH)
    [table] = found.tables
    assert found.fields == {**sent, "tables": {"a": table.ref, "b": HOTELS[:2]}}
    assert [json.loads(line) for line in table.content.splitlines()] == HOTELS


async def test_what_cannot_be_taken_is_refused_clearly() -> None:
    for body, kind, said in (
        (b'{"tables": ', BadInput, "not valid JSON"),
        (b'{"text": "\xff"}', BadInput, "not valid JSON"),
        (b'{"a": 1e999}', BadInput, "not valid JSON"),
        (b'{"a": "\\ud800"}', BadInput, "not valid JSON"),
        (b"[1]", BadInput, "must be a JSON object"),
        (b"[" * 200_000, BadInput, "not valid JSON"),
        (b'{"a": ' + b"[" * 1010 + b"]" * 1010 + b"}", BadInput, "nested too deeply"),
        (b'{"tables": {"a": [{"x": "\\u0000"}]}}', BadInput, "`tables` holds a NUL"),
        (b'{"tables": {"a": 5}}', BadInput, "not a list of rows"),
        (b'{"text": "' + b"x" * MUCH + b'"}', TooLarge, "Beside its tables the request has 1000011 bytes"),
        (b'{"tables": {"a": ["' + b"x" * 11_000_000 + b'"]}}', TooLarge, "larger than 10 MB"),
    ):
        with pytest.raises(kind, match=said):
            await unpacked(body, MUCH)


async def test_a_queue_has_a_nul_replaced_and_knows_whose_job_was_refused() -> None:
    found = await mended(b'{"text": "a\\u0000b"}', MUCH)
    assert found.fields == {"text": "a\N{REPLACEMENT CHARACTER}b"}
    with pytest.raises(NotTaken) as refused:
        await mended(b'{"tables": {"a": 5}, "job_id": "j1"}', MUCH)
    assert (refused.value.job_id, type(refused.value.error)) == ("j1", BadInput)


@contextmanager
def temporary_files_in(folder: Path) -> Iterator[None]:
    usual, tempfile.tempdir = tempfile.tempdir, str(folder)
    try:
        yield
    finally:
        tempfile.tempdir = usual


async def test_nothing_is_left_behind_and_no_room_for_it_is_told(tmp_path: Path) -> None:
    with temporary_files_in(tmp_path):
        async with nothing_left():
            await unpacked(b'{"tables": [' + b"1," * 1000 + b"1]}", 1000)
    refused = pytest.raises(Unavailable, match="The request cannot be read now: No such file or directory")
    with temporary_files_in(tmp_path / "gone"), refused:
        await unpacked(b"{}", 1000)


async def test_tables_are_laid_once_and_only_doors_say_which_they_are(db: Database, tmp_path: Path) -> None:
    shelf = Artifacts(db, [Folder(tmp_path)])
    large = [{"n": number, "text": "x" * 100} for number in range(1000)]
    given = await without_tables({"door": "chat", "tables": {"a": large}, LAID: ["artifact://sha256/another"]})
    [table] = given.tables
    assert given.fields == {"door": "chat", "tables": {"a": table.ref}, LAID: [table.ref]}
    await lay(db, shelf, given.tables)
    await lay(db, shelf, given.tables)
    found = await shelf.read(table.ref)
    assert (found.content, found.mime) == (table.content, "application/x-ndjson")
    assert (await without_tables({"door": "chat", LAID: ["x"]})).fields == {"door": "chat"}
