"""What snapshots do not cover is told, what they cost is bounded, and what nobody needs is forgotten."""

from __future__ import annotations

import asyncio
import os
import stat
import sys
import time
from pathlib import Path

import pytest

from laneway.domain.files import Kind
from laneway.lanes.tools.entry import Call
from laneway.lanes.tools.snapshots import Snapshots
from laneway.sandbox.copies import Copies
from laneway.sandbox.scan import UNSETTLED_NANOSECONDS, Caps, Manifest, Scan
from laneway.store import housekeeping, undo
from laneway.store.database import Database
from tests.lanes.calls import bash, taken_back


async def test_a_large_file_that_is_lost_is_told_and_one_that_was_only_moved_comes_back(
    db: Database, call: Call, tmp_path: Path
) -> None:
    for name in ("moved.bin", "lost.bin"):
        with (call.workspace / name).open("wb") as file:
            file.truncate(20 * 1024**2 + 1)
    inode = (call.workspace / "moved.bin").stat().st_ino
    note = await bash(Snapshots(db, tmp_path), call, "mv moved.bin elsewhere.bin; rm lost.bin; truncate -s 30M new.bin")
    assert note is not None
    assert note.startswith("Cannot be undone: 'lost.bin' (it was larger than 20 MB")
    undone = await taken_back(db, tmp_path, call)
    assert list(undone.refused) == ["lost.bin"]
    assert undone.restored == {"elsewhere.bin": "moved back", "moved.bin": "put back", "new.bin": "removed"}
    assert (call.workspace / "moved.bin").stat().st_ino == inode


async def test_what_is_beyond_the_limits_is_told_and_never_removed(db: Database, call: Call, tmp_path: Path) -> None:
    for number in range(10):
        (call.workspace / f"{number}.txt").write_text(str(number))
    snapshots = Snapshots(db, tmp_path, Caps(files=6))
    note = await bash(snapshots, call, "rm 0.txt 1.txt 2.txt; echo x > 9.txt")
    assert note is not None
    assert "Undo does not cover files beyond the first 6." in note
    undone = await taken_back(db, tmp_path, call)
    assert undone.restored == {f"{number}.txt": "put back" for number in range(3)}
    assert sorted(path.name for path in call.workspace.iterdir()) == [f"{number}.txt" for number in range(10)]
    assert all("beyond what a snapshot covers" in why for why in undone.refused.values())


async def test_more_bytes_than_are_kept_are_told(db: Database, call: Call, tmp_path: Path) -> None:
    (call.workspace / "a").write_bytes(b"a" * 600_000)
    (call.workspace / "b").write_bytes(b"b" * 600_000)
    note = await bash(Snapshots(db, tmp_path, Caps(bytes=1024**2)), call, "rm a b")
    assert note == "Cannot be undone: 'b' (the workspace held more than 1 MB, so no copy was kept)."


def test_folders_that_are_made_again_are_the_first_to_be_left_out(tmp_path: Path) -> None:
    root = tmp_path / "root"
    for name in ("a/node_modules/m", "z/own"):
        (root / name).parent.mkdir(parents=True)
        (root / name).write_text(name)
    found = Scan(root, Manifest(), Copies(tmp_path / "copies"), Caps(files=4)).run()
    assert set(found.entries) == {"a", "a/node_modules", "z", "z/own"}
    assert found.unseen == ["all of a/node_modules"]
    assert found.image("a/node_modules/n").kind is Kind.UNKNOWN
    assert found.image("new").kind is Kind.ABSENT, "what is new elsewhere can still be removed"


def test_a_full_store_of_copies_is_told(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (root / "a").write_bytes(b"x" * 100)
    found = Scan(root, Manifest(), Copies(tmp_path / "copies", most_bytes=50)).run()
    assert "the room for copies was used up" in found.image("a").lost


def test_only_what_looks_changed_is_read_again_and_a_change_within_one_tick_is_not_missed(tmp_path: Path) -> None:
    root, copies = tmp_path / "root", Copies(tmp_path / "copies")
    root.mkdir()
    fresh = looked_at_once(root, copies)
    assert fresh.entries["a"][0] == (0, 0, 0, 0), "a file that young is read again, whatever its times say"
    (root / "a").write_text("two")
    assert not Scan(root, fresh, copies).run().image("a").same(fresh.image("a"))
    time.sleep(0.1)
    settled = Scan(root, Manifest(), copies).run()
    print_, image = settled.entries["a"]
    lie = Manifest({"a": (print_, type(image)(Kind.FILE, "sha256:known"))})
    assert Scan(root, lie, copies).run().image("a").content == "sha256:known"


def looked_at_once(root: Path, copies: Copies) -> Manifest:
    """What a look found that was over a moment after the file was written; on a busy machine not every look is."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        (root / "a").write_text("one")
        found = Scan(root, Manifest(), copies).run()
        if time.time_ns() - (root / "a").stat().st_ctime_ns < UNSETTLED_NANOSECONDS:
            return found
    raise AssertionError("no look came in time")


async def test_old_records_and_their_copies_are_forgotten(db: Database, call: Call, tmp_path: Path) -> None:
    snapshots = Snapshots(db, tmp_path)
    (call.workspace / "a").write_text("long ago")
    await bash(snapshots, call, "echo new > a")
    copies = tmp_path / "undo/copies"

    def kept() -> set[str]:
        return {path.read_text() for path in copies.glob("??/*")}

    for path in copies.glob("??/*"):
        os.utime(path, (0, 0))
    assert await snapshots.sweep() == 0
    assert kept() == {"long ago", "new\n"}
    async with db.transaction() as tx:
        await tx.execute("UPDATE file_changes SET created_at = now() - interval '91 days'")
        await housekeeping.tidy(tx, 90)
        assert await undo.of_job(tx, call.job_id) == []
    assert await snapshots.sweep() == 1
    assert kept() == {"new\n"}, "what the workspace holds now is still needed"


async def test_the_copies_are_closed_to_other_users(db: Database, call: Call, tmp_path: Path) -> None:
    (call.workspace / "a").write_text("private")
    await bash(Snapshots(db, tmp_path), call, "true")
    for path in [tmp_path / "undo", tmp_path / "workspaces", *(tmp_path / "undo").rglob("*")]:
        if path.name != "swept":
            assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0, path


@pytest.mark.alone
async def test_a_snapshot_of_a_thousand_files_costs_little_the_second_time(
    db: Database, call: Call, tmp_path: Path
) -> None:
    for number in range(1000):
        folder = call.workspace / f"d{number % 20}"
        folder.mkdir(exist_ok=True)
        (folder / f"f{number}").write_text(f"file {number}\n" * 20)
    await asyncio.sleep(0.1)
    snapshots, times = Snapshots(db, tmp_path), []
    for _ in range(3):
        began = time.perf_counter()
        snapshot = await snapshots.before(call)
        middle = time.perf_counter()
        await snapshots.after(call, snapshot)
        times.append((round((middle - began) * 1000), round((time.perf_counter() - middle) * 1000)))
    print("milliseconds before and after a step, 1,000 files:", times, file=sys.stderr)
    assert sum(times[2]) < 1000
