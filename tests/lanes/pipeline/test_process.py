"""Large tables are worked on elsewhere: the loop goes on, the answer is the same, and nothing is left behind."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import orjson
import psutil
import pytest

from laneway.errors import BadInput, TooLarge, Unavailable
from laneway.lanes.pipeline import process
from laneway.lanes.pipeline.lines import Lines, written
from laneway.lanes.pipeline.plan import plan_of
from laneway.lanes.pipeline.process import Held, Stored, stored, worked
from laneway.lanes.pipeline.tables import run
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
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if running := workers():
            return running[0]
        await asyncio.sleep(0.01)
    raise AssertionError("no worker was started")


def folders() -> set[str]:
    return {path.name for path in Path(tempfile.gettempdir()).glob("laneway-tables-*")}


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


async def test_a_small_table_is_worked_on_in_this_process() -> None:
    outcome = await worked(SORTED, {"table": ROWS})
    assert outcome.how == "here"
    assert list(outcome.rows) == list(run(SORTED, {"table": ROWS}).rows)


@pytest.mark.parametrize("given", ["rows", "file", "bytes"])
async def test_a_worker_gives_what_this_process_would_give(tmp_path: Path, given: str) -> None:
    content = b"".join(written(ROWS))
    (tmp_path / "rows.ndjson").write_bytes(content)
    source: Any = {"rows": ROWS, "file": Stored(tmp_path / "rows.ndjson", "ndjson"), "bytes": Held(content, "ndjson")}
    async with nothing_left():
        outcome = await worked(SORTED, {"table": source[given]}, rows_here=100)
        here = run(SORTED, {"table": ROWS})
        assert outcome.how == "worker"
        assert isinstance(outcome.rows, Lines)
        assert (list(outcome.rows), outcome.counts) == (list(here.rows), here.counts)
        assert (len(outcome.rows), outcome.rows[0], outcome.rows[-1]) == (2400, here.rows[0], here.rows[-1])
        assert outcome.rows[300:303] == here.rows[300:303]


async def test_a_large_file_is_read_by_the_worker_column_by_column(tmp_path: Path) -> None:
    rows = [{**row, "filler": "x" * 40} for row in ROWS] * 70
    path = tmp_path / "rows.ndjson"
    path.write_bytes(b"".join(written(rows)))
    assert path.stat().st_size > process.COLUMNAR_BYTES
    plan = plan_of({"steps": [{"do": "top_k", "k": 3, "by": "price"}]})
    outcome = await worked(plan, {"table": Stored(path, "ndjson")})
    assert outcome.how == "columnar"
    assert list(outcome.rows) == list(run(plan, {"table": rows}).rows)


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


async def test_a_join_that_outgrows_this_process_is_taken_to_a_worker() -> None:
    plan = plan_of({"steps": [{"do": "join", "table": "table", "on": "city"}, {"do": "limit", "count": 2}]})
    outcome = await worked(plan, {"table": ROWS[:300]}, rows_here=400)
    assert outcome.how == "worker"
    assert [count.rows for count in outcome.counts] == [300, 18_000, 2]


async def test_numbers_beyond_64_bits_come_back_as_they_went() -> None:
    rows = [{"n": 2**70 + place, "f": 1.0, "b": True} for place in range(300)]
    outcome = await worked(plan_of({"steps": []}), {"table": rows}, rows_here=10)
    assert outcome.how == "worker"
    assert repr(list(outcome.rows)) == repr(rows)


async def test_a_mistake_found_by_the_worker_is_told_in_its_words() -> None:
    plan = plan_of({"steps": [{"do": "sort", "by": "prise"}]})
    with pytest.raises(BadInput, match=r"Step 1 \(sort\): the table has no column prise. Did you mean price"):
        await worked(plan, {"table": ROWS}, rows_here=10)
    with pytest.raises(TooLarge, match="would pass 1,000 rows"):
        await worked(SORTED, {"table": ROWS}, 1000, rows_here=10)


async def test_a_worker_that_is_killed_is_an_error_and_no_hang() -> None:
    async with nothing_left():
        work = asyncio.create_task(worked(LONG, {"table": ROWS}, rows_here=10))
        (await a_worker()).send_signal(signal.SIGKILL)
        with pytest.raises(Unavailable, match="ended before its time"):
            await asyncio.wait_for(work, 30)


async def test_a_worker_that_takes_too_long_is_stopped() -> None:
    async with nothing_left():
        with pytest.raises(TooLarge, match=r"took longer than 0\.05 s"):
            await worked(LONG, {"table": ROWS}, rows_here=10, seconds=0.05)


async def test_cancelling_ends_the_worker() -> None:
    async with nothing_left():
        work = asyncio.create_task(worked(LONG, {"table": ROWS}, rows_here=10))
        await a_worker()
        work.cancel()
        with pytest.raises(asyncio.CancelledError):
            await work


async def test_a_worker_knows_no_secret_of_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-secret")
    work = asyncio.create_task(worked(LONG, {"table": ROWS}, rows_here=10))
    worker = await a_worker()
    environment = worker.environ()
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work
    assert "ANTHROPIC_API_KEY" not in environment


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


async def longest_work(stop: asyncio.Event) -> float:
    """The most that this process worked between two rounds of the loop; how busy the machine is does not count."""
    longest, last = 0.0, time.process_time()
    while not stop.is_set():
        await asyncio.sleep(0.001)
        now = time.process_time()
        longest, last = max(longest, now - last), now
    return longest


@pytest.mark.alone
@pytest.mark.parametrize("given", ["rows", "file"])
async def test_the_loop_comes_round_while_half_a_million_rows_are_sorted(tmp_path: Path, given: str) -> None:
    # Sorted in this process, they would be several times what is allowed here; `make bench` asks for 50 ms.
    chance = random.Random(1)
    rows: list[Row] = [{"id": place, "name": f"name {chance.random()}"} for place in range(500_000)]
    path = tmp_path / "rows.ndjson"
    path.write_bytes(b"".join(written(rows)))
    stop = asyncio.Event()
    longest = asyncio.create_task(longest_work(stop))
    plan = plan_of({"steps": [{"do": "sort", "by": "name"}]})
    source: Any = rows if given == "rows" else Stored(path, "ndjson")
    outcome = await worked(plan, {"table": source}, most_bytes=1 << 30)
    stop.set()
    assert await longest < 0.15
    assert len(outcome.rows) == 500_000
    assert outcome.rows[0]["name"] == min(row["name"] for row in rows)
