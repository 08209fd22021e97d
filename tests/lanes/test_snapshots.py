"""What commands do to a workspace is on record, and can be taken back."""

from __future__ import annotations

import asyncio
import os
import stat
import subprocess
from pathlib import Path

import pytest

from laneway.domain.files import Change, Image, Kind
from laneway.lanes.tools.entry import Call
from laneway.lanes.tools.files import file_entries
from laneway.lanes.tools.snapshots import Snapshots
from laneway.sandbox.scan import Manifest, Scan
from laneway.store.database import Database
from tests.lanes.calls import bash, end_job, new_call, taken_back
from tests.skips import missing


def tree(folder: Path) -> dict[str, tuple[str, int]]:
    """Everything below a folder: where a link leads, what a file holds, and the permissions."""
    found = {}
    for path in sorted(folder.rglob("*")):
        about = path.lstat()
        held = f"-> {path.readlink()}" if path.is_symlink() else path.read_bytes().hex() if path.is_file() else "folder"
        found[str(path.relative_to(folder))] = (held, 0 if path.is_symlink() else stat.S_IMODE(about.st_mode))
    return found


def furnish(workspace: Path) -> None:
    (workspace / "src/deep").mkdir(parents=True)
    (workspace / "src/deep/a.py").write_text("print('a')")
    (workspace / "src/b.py").write_text("print('b')")
    (workspace / "empty").mkdir(mode=0o700)
    (workspace / "run.sh").write_text("#!/bin/sh")
    (workspace / "run.sh").chmod(0o755)
    (workspace / "link").symlink_to("src/b.py")
    (workspace / "dangling").symlink_to("nowhere")
    (workspace / "binary.dat").write_bytes(bytes(range(256)))
    (workspace / "swap").mkdir()
    (workspace / "swap/inner").write_text("inner")
    strange = workspace / os.fsdecode(b"not-\xff-text")
    strange.mkdir()
    (strange / os.fsdecode(b"\xfe")).write_text("strange")


HAVOC = r"""
rm -rf src empty not-*
mv run.sh renamed.sh; chmod 600 binary.dat
ln -sf /etc/passwd link; rm dangling
printf changed >> binary.dat
rm -rf swap; echo now a file > swap
mkdir -p made/deeper; echo new > made/deeper/file; ln -s made alias; chmod 555 made/deeper
"""


async def test_everything_a_command_did_is_taken_back(db: Database, call: Call, tmp_path: Path) -> None:
    furnish(call.workspace)
    before = tree(call.workspace)
    assert await bash(Snapshots(db, tmp_path), call, HAVOC) is None
    assert tree(call.workspace) != before
    undone = await taken_back(db, tmp_path, call)
    assert undone.refused == {}
    assert tree(call.workspace) == before
    assert undone.restored["made"] == "removed"
    assert undone.restored["src/b.py"] == "put back"
    assert "not-\\xff-text/\\xfe" in undone.restored


async def test_what_lies_in_a_folder_that_a_command_closed_is_taken_back(
    db: Database, call: Call, tmp_path: Path
) -> None:
    furnish(call.workspace)
    before = tree(call.workspace)
    closing = "rm src/b.py; mv src/deep src/moved; echo new > src/new; chmod 555 src/moved src"
    assert await bash(Snapshots(db, tmp_path), call, closing) is None
    assert (await taken_back(db, tmp_path, call)).refused == {}
    assert tree(call.workspace) == before


async def test_commands_and_file_tools_of_one_job_are_undone_together(db: Database, call: Call, tmp_path: Path) -> None:
    snapshots = Snapshots(db, tmp_path)
    write = next(entry for entry in file_entries(None, snapshots) if entry.name == "write_file").function
    (call.workspace / "a.txt").write_text("0")
    await write(call, "a.txt", "1")
    await bash(snapshots, call, "echo 2 > a.txt; echo new > b.txt")
    await write(call, "a.txt", "3")
    await write(call, "new/c.txt", "c")
    await bash(snapshots, call, "rm b.txt")
    undone = await taken_back(db, tmp_path, call)
    assert tree(call.workspace) == {"a.txt": (b"0".hex(), 0o644)}
    assert undone.refused == {}


async def test_a_file_tool_at_work_during_a_command_is_undone_with_it(db: Database, call: Call, tmp_path: Path) -> None:
    snapshots = Snapshots(db, tmp_path)
    write = next(entry for entry in file_entries(None, snapshots) if entry.name == "write_file").function
    (call.workspace / "a.txt").write_text("v0")
    async with snapshots.around(call):
        (call.workspace / "a.txt").write_text("v1")
        await write(call, "a.txt", "v2")
        (call.workspace / "b.txt").write_text("made by the command afterwards")
    await taken_back(db, tmp_path, call)
    assert tree(call.workspace) == {"a.txt": (b"v0".hex(), 0o644)}


async def test_what_changed_since_is_left_alone_and_the_rest_is_restored(
    db: Database, call: Call, tmp_path: Path
) -> None:
    for name in ("a", "b", "c", "d"):
        (call.workspace / name).write_text("old")
    await bash(
        Snapshots(db, tmp_path), call, "for f in a b c d; do echo new > $f; done; mkdir made; touch made/x; ls > e"
    )
    (call.workspace / "a").write_text("mine")
    (call.workspace / "b").chmod(0o600)
    (call.workspace / "c").unlink()
    (call.workspace / "made/y").write_text("mine")
    undone = await taken_back(db, tmp_path, call)
    assert undone.refused == {
        "a": "its content changed since",
        "b": "its permissions changed since",
        "c": "it changed since: it is gone",
        "made": "the folder holds something that was made since",
    }
    assert undone.restored == {"d": "put back", "e": "removed", "made/x": "removed"}
    assert (call.workspace / "a").read_text() == "mine"
    assert (call.workspace / "d").read_text() == "old"


async def test_a_later_job_must_be_undone_first(db: Database, call: Call, tmp_path: Path) -> None:
    snapshots = Snapshots(db, tmp_path)
    (call.workspace / "a").write_text("0")
    await bash(snapshots, call, "echo 1 > a")
    later = await new_call(db, tmp_path)
    assert later.workspace == call.workspace
    await bash(snapshots, later, "echo 2 > a")
    await end_job(db, later)
    undone = await taken_back(db, tmp_path, call)
    assert undone.refused == {"a": f"its content changed since (by job {later.job_id}: undo that first)"}
    assert (await taken_back(db, tmp_path, later)).restored == {"a": "put back"}
    assert (await taken_back(db, tmp_path, call)).restored == {"a": "put back"}
    assert (call.workspace / "a").read_text() == "0"


async def test_a_step_cut_off_by_a_crash_is_undone_all_the_same(db: Database, call: Call, tmp_path: Path) -> None:
    furnish(call.workspace)
    before = tree(call.workspace)
    await Snapshots(db, tmp_path).before(call)
    await asyncio.to_thread(subprocess.run, ["bash", "-c", HAVOC], cwd=call.workspace, check=True)
    # The process died here; another goes on with the thread's next job.
    snapshots = Snapshots(db, tmp_path)
    later = await new_call(db, tmp_path)
    await bash(snapshots, later, "echo later > later.txt")
    await end_job(db, later)
    await taken_back(db, tmp_path, call)
    assert tree(call.workspace) == {**before, "later.txt": (b"later\n".hex(), 0o644)}
    await taken_back(db, tmp_path, later)
    assert tree(call.workspace) == before


async def test_a_stopped_command_is_on_record_before_the_stop_is_answered(
    db: Database, call: Call, tmp_path: Path
) -> None:
    (call.workspace / "a").write_text("old")
    snapshots, begun = Snapshots(db, tmp_path), asyncio.Event()

    async def step() -> None:
        async with snapshots.around(call):
            (call.workspace / "a").write_text("half")
            begun.set()
            await asyncio.sleep(60)

    running = asyncio.create_task(step())
    await begun.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert (await taken_back(db, tmp_path, call)).restored == {"a": "put back"}


async def test_a_change_on_record_that_never_happened_is_as_it_was(db: Database, call: Call, tmp_path: Path) -> None:
    (call.workspace / "a").write_text("old")
    snapshots = Snapshots(db, tmp_path)
    manifest = Scan(call.workspace, Manifest(), snapshots.copies).run()
    # The process died between the record and the change.
    await snapshots.record(
        call, "write_file", [Change("a", manifest.image("a"), Image(Kind.FILE, "sha256:0", 0, 0o644))]
    )
    undone = await taken_back(db, tmp_path, call)
    assert (undone.restored, undone.refused) == ({"a": "as it was"}, {})
    assert (call.workspace / "a").read_text() == "old"


async def test_files_of_another_user_are_put_back_as_that_users(db: Database, call: Call, tmp_path: Path) -> None:
    if os.geteuid() != 0:
        missing("the right to give files away", "sudo make test")
    theirs = call.workspace / "theirs"
    theirs.mkdir()
    (theirs / "a").write_text("a")
    for path in (theirs, theirs / "a"):
        os.chown(path, 65534, 65534)
    (theirs / "a").chmod(0o600)
    theirs.chmod(0o700)
    before = tree(call.workspace)
    await bash(Snapshots(db, tmp_path), call, "rm -rf theirs; mkdir new; touch new/x; chown -R 65534:65534 new")
    assert (await taken_back(db, tmp_path, call)).refused == {}
    assert tree(call.workspace) == before
    assert [(p.stat().st_uid, p.stat().st_gid) for p in (theirs, theirs / "a")] == [(65534, 65534)] * 2


async def test_strange_things_in_a_workspace_do_not_stop_a_command(db: Database, call: Call, tmp_path: Path) -> None:
    deep = call.workspace / "/".join(["d"] * 80)
    deep.mkdir(parents=True)
    os.mkfifo(call.workspace / "pipe")
    (call.workspace / "loop").symlink_to("loop")
    note = await bash(Snapshots(db, tmp_path), call, "rm pipe loop")
    assert note is not None
    assert "'pipe' (it was neither a file, a folder nor a link)" in note
    assert "more than 64 folders deep" in note
    undone = await taken_back(db, tmp_path, call)
    assert list(undone.refused) == ["pipe"]
    assert (call.workspace / "loop").is_symlink()


async def test_a_link_put_in_the_place_of_a_folder_leads_no_undoing_outside(
    db: Database, call: Call, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a").write_text("theirs")
    (call.workspace / "sub").mkdir()
    (call.workspace / "sub/a").write_text("old")
    await bash(Snapshots(db, tmp_path), call, "echo new > sub/a; echo made > sub/b")
    (call.workspace / "sub").rename(call.workspace / "aside")
    (call.workspace / "sub").symlink_to(outside)
    undone = await taken_back(db, tmp_path, call)
    assert (outside / "a").read_text() == "theirs"
    assert sorted(path.name for path in outside.iterdir()) == ["a"]
    assert undone.refused == {"sub/a": "it changed since: it is gone"}


async def test_a_damaged_or_missing_copy_is_refused_not_restored_wrongly(
    db: Database, call: Call, tmp_path: Path
) -> None:
    for name in ("a", "b"):
        (call.workspace / name).write_text(f"precious {name}")
    snapshots = Snapshots(db, tmp_path)
    await bash(snapshots, call, "echo new > a; echo new > b")
    for path in (tmp_path / "undo/copies").glob("??/*"):
        if path.read_text() == "precious a":
            path.write_text("damaged")
        elif path.read_text() == "precious b":
            path.unlink()
    undone = await taken_back(db, tmp_path, call)
    assert set(undone.refused.values()) == {"it cannot be restored: the copy of what it was is no longer kept"}
    assert (call.workspace / "a").read_text() == "new\n"
