"""Jobs as JSON: what a process has no memory for is tried again, and tables that are large are taken out of all."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from laneway.channels.redis_queue.large import fields_read
from laneway.errors import Unavailable
from laneway.lanes.pipeline.taking_out import MOST_ROWS

ROWS = [{"n": number} for number in range(MOST_ROWS + 1)]
SHORT_OF_MEMORY = """
import asyncio, resource
from pathlib import Path
from laneway.channels.redis_queue.job_message import Unreadable
from laneway.channels.redis_queue.large import fields_read
from laneway.errors import LanewayError

async def read():
    # A number like this is read by a parser that needs the job as a text beside its bytes.
    raw = b'{"job_id": "j", "n": 123456789012345678901234567890, "m": "%s"}' % (b"x" * 250_000_000)
    # As much as we have ourselves and a little more: enough for the bytes, not for the text as well.
    most = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize() + 100_000_000
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    try:
        await fields_read(raw, 1_000_000_000)
    except (LanewayError, Unreadable) as error:
        print(type(error).__name__, error)

asyncio.run(read())
"""


@pytest.mark.parametrize(
    ("fields", "place"),
    [
        ({"tables": {"numbers": ROWS}}, ("tables", "numbers")),
        ({"context": {"previous_results": [{"name": "numbers", "rows": ROWS}]}}, ("context", "previous_results", 0)),
        ({"tables": {"numbers": [{"n": "x" * 20_000}]}}, ("tables", "numbers")),
    ],
)
async def test_a_large_table_is_taken_out_of_a_small_job(fields: dict[str, Any], place: tuple[Any, ...]) -> None:
    found = await fields_read(json.dumps({"job_id": "j", "prompt": "x", **fields}).encode(), 2_000_000)
    [table] = found.tables
    at: Any = found.fields
    for key in place:
        at = at[key]
    assert at in (table.ref, {"name": "numbers", "artifact": table.ref})


async def test_a_small_table_and_what_is_no_table_stay_in_the_job() -> None:
    for tables in ({"numbers": ROWS[:200]}, {"numbers": ROWS, "odd": 5}):
        found = await fields_read(json.dumps({"job_id": "j", "prompt": "x", "tables": tables}).encode(), 2_000_000)
        assert (found.fields["tables"], found.tables) == (tables, ())


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells and limits what a process takes")
def test_a_job_that_there_is_no_memory_for_is_tried_again_and_not_refused_for_good() -> None:
    told = subprocess.run(
        [sys.executable, "-c", SHORT_OF_MEMORY], capture_output=True, text=True, timeout=120, check=True
    ).stdout
    assert told.startswith(Unavailable.__name__), told
    assert "more memory than there is" in told
