"""Where a plan is carried out: in this process while tables are small, in a worker process when they are not.

The server's event loop never waits for a table. Small work runs in a thread; a thread cannot help where one call into C
holds the interpreter for long (a sort of a million rows: half a second), so large work is another process. It gets file
names, reads and writes the files itself, and ends with its job, or with the server.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

from laneway.errors import BadInput, LanewayError, TooLarge, Unavailable
from laneway.lanes.pipeline.checking import MOST_BYTES, checked
from laneway.lanes.pipeline.lines import Lines, dumps, loads, written
from laneway.lanes.pipeline.plan import Plan
from laneway.lanes.pipeline.reading import format_of, intact, rows_of
from laneway.lanes.pipeline.step import Outgrown
from laneway.lanes.pipeline.tables import MOST_ROWS, Count, Outcome, run, source_of
from laneway.lanes.pipeline.values import Row
from laneway.store.artifacts import SCHEME, Artifacts

ROWS_HERE = 50_000
BYTES_HERE = 1024 * 1024
"""What is worked on in this process at most; a sort of so many rows holds the interpreter for about 20 ms."""

COLUMNAR_BYTES = 16 * 1024 * 1024
"""From here on polars is faster than the reference although it takes a while to be imported."""

SECONDS = 120.0
_KEPT = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "PYTHONPATH", "COVERAGE_PROCESS_CONFIG", "COVERAGE_PROCESS_START")
"""What a worker may know of our environment; keys and passwords are none of its business."""


class Slots:
    """So many processes of a kind at a time: more would take each other's memory."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._of: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = WeakKeyDictionary()

    @contextlib.asynccontextmanager
    async def one(self) -> AsyncIterator[None]:
        """A process may be started while the block lasts."""
        async with self._of.setdefault(asyncio.get_running_loop(), asyncio.Semaphore(self._most)):
            yield


_slots = Slots(2)


@dataclass(frozen=True, slots=True)
class Stored:
    """A table in a file; if it has a name by its hash, whoever reads it checks that."""

    path: Path
    format: str
    sha256: str = ""


async def stored(artifacts: Artifacts, ref: str, name: str = "") -> Stored | None:
    """An artifact as a file that the worker reads itself; None if it does not lie on this machine's disk."""
    found = await artifacts.file(ref)
    if found is None:
        return None
    path, mime = found
    try:
        with path.open("rb") as file:
            head = file.read(4096)
    except OSError:
        return None
    return Stored(path, format_of(name, mime, head), ref.removeprefix(SCHEME))


@dataclass(frozen=True, slots=True)
class Held:
    """A table in memory, as the bytes of a file."""

    content: bytes
    format: str


Source = Sequence[Row] | Stored | Held


async def worked(
    plan: Plan,
    tables: Mapping[str, Source],
    most_rows: int = MOST_ROWS,
    *,
    most_bytes: int = MOST_BYTES,
    seconds: float = SECONDS,
    rows_here: int = ROWS_HERE,
) -> Outcome:
    """The plan is carried out without ever holding up the event loop; rows given as such are checked first."""
    source_of(plan, tables)
    try:
        if sum(map(_size, tables.values())) <= rows_here:
            return await asyncio.to_thread(_here, plan, tables, most_rows, most_bytes, rows_here)
    except Outgrown:
        pass
    async with _slots.one():
        return await _elsewhere(plan, tables, most_rows, most_bytes, seconds)


def _size(source: Source) -> int:
    """How many rows that is, or about as many as will take as long."""
    if isinstance(source, Stored):
        try:
            return source.path.stat().st_size // (BYTES_HERE // ROWS_HERE)
        except OSError as error:
            raise BadInput(f"A table cannot be read: {error.strerror}.", hint="Name it again.") from error
    return len(source.content) // (BYTES_HERE // ROWS_HERE) if isinstance(source, Held) else len(source)


def _here(plan: Plan, tables: Mapping[str, Source], most_rows: int, most_bytes: int, rows_here: int) -> Outcome:
    return run(plan, {name: _rows(name, one, most_bytes) for name, one in tables.items()}, most_rows, rows_here)


def _rows(name: str, source: Source, most_bytes: int) -> Sequence[Row]:
    if isinstance(source, Stored | Held):
        content = intact(name, source.path, source.sha256) if isinstance(source, Stored) else source.content
        return rows_of(content, source.format, f"The table {name}")
    return source if isinstance(source, Lines) else checked(name, source, most_bytes)


async def _elsewhere(
    plan: Plan, tables: Mapping[str, Source], most_rows: int, most_bytes: int, seconds: float
) -> Outcome:
    folder = Path(await asyncio.to_thread(tempfile.mkdtemp, prefix="laneway-tables-"))
    try:
        files = await asyncio.to_thread(_laid_out, folder, tables, most_bytes)
        columnar = _stored_bytes(tables) >= COLUMNAR_BYTES
        job = {"plan": plan.document(), "tables": files, "most_rows": most_rows, "columnar": columnar,
               "result": str(folder / "result.ndjson")}  # fmt: skip
        report = await reported("worker", dumps(job) + b"\n", seconds)
        return await asyncio.to_thread(_outcome, report, folder / "result.ndjson")
    finally:
        # Not awaited: whoever cancelled us does not wait for a folder.
        asyncio.get_running_loop().run_in_executor(None, _removed, folder)


def _stored_bytes(tables: Mapping[str, Source]) -> int:
    """How much there is to read in files."""
    return sum(
        one.path.stat().st_size if isinstance(one, Stored) else len(one.content)
        for one in tables.values()
        if isinstance(one, Stored | Held)
    )


def _laid_out(folder: Path, tables: Mapping[str, Source], most_bytes: int) -> dict[str, dict[str, str]]:
    """Every table lies in a file that the worker can read."""
    files: dict[str, dict[str, str]] = {}
    for number, (name, source) in enumerate(tables.items()):
        path = source.path if isinstance(source, Stored) else folder / f"{number}.rows"
        if isinstance(source, Held):
            path.write_bytes(source.content)
        elif not isinstance(source, Stored):
            with path.open("wb") as file:
                file.writelines(written(_rows(name, source, most_bytes)))
        format_ = source.format if isinstance(source, Stored | Held) else "ndjson"
        digest = source.sha256 if isinstance(source, Stored) else ""
        files[name] = {"path": str(path), "format": format_, "sha256": digest}
    return files


async def reported(module: str, job: bytes, seconds: float) -> dict[str, Any]:
    """What a process of ours says it did; it has ended by then, whatever happened."""
    worker = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "laneway.lanes.pipeline.aside", module,
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL,
        env={name: os.environ[name] for name in _KEPT if name in os.environ}, limit=64 * 1024 * 1024,
    )  # fmt: skip
    assert worker.stdin is not None
    assert worker.stdout is not None
    try:
        worker.stdin.write(job)
        said = await asyncio.wait_for(worker.stdout.readline(), seconds)
    except TimeoutError as error:
        raise TooLarge(
            f"The tables took longer than {seconds:g} s.", hint="Filter first, or use fewer rows."
        ) from error
    finally:
        with contextlib.suppress(ProcessLookupError):
            worker.kill()
        code = await asyncio.shield(worker.wait())
    if not said.endswith(b"\n"):
        raise Unavailable(
            f"The worker process for the tables ended before its time (code {code}).",
            hint="It may have run out of memory: use fewer rows, or try again.",
        )
    return loads(said)  # type: ignore[no-any-return]


def _outcome(report: dict[str, Any], result: Path) -> Outcome:
    if "error" in report:
        raise error_of(report["error"])
    # One call that lets go of the interpreter while the kernel copies.
    with result.open("rb", buffering=0) as file:
        content = _whole(file.fileno(), result.stat().st_size)
    sample = rows_of(report["sample"].encode(), "ndjson", "The result")
    rows = sample if len(sample) == report["rows"] else Lines(content, report["rows"], sample)
    counts = tuple(Count(step, count) for step, count in report["counts"])
    return Outcome(rows, counts, tuple(report["notes"]), report["how"])


def _whole(file: int, size: int) -> bytes:
    content = os.read(file, size)
    while len(content) < size and (more := os.read(file, size - len(content))):
        content += more
    return content


def error_of(said: Mapping[str, str]) -> LanewayError:
    """The error that a process of ours reports."""
    if said["code"] == "memory":
        return Unavailable("The tables need more memory than there is.", hint="Filter first, or use fewer rows.")
    kind: type[LanewayError] = {"too-large": TooLarge, "unavailable": Unavailable}.get(said["code"], BadInput)
    return kind(said["message"], hint=said["hint"])


def _removed(folder: Path) -> None:
    for file in folder.iterdir():
        file.unlink(missing_ok=True)
    folder.rmdir()
