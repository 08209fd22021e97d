"""What commands do to a workspace is on record and can be taken back; what snapshots do not cover is told."""

from __future__ import annotations

import asyncio
import os
import stat
import subprocess
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from laneway.domain.files import Change, Image, Kind
from laneway.lanes.tools.files import file_entries
from laneway.sandbox.copies import Copies
from laneway.sandbox.scan import UNSETTLED_NANOSECONDS, Caps, Manifest, Scan
from laneway.store import housekeeping, undo
from tests.lanes.calls import Work, end_job, new_call
from tests.skips import missing


def tree(folder: Path) -> dict[str, tuple[str, int]]:
    """Everything below a folder: where a link leads, what a file holds, and the permissions."""
    found = {}
    for path in sorted(folder.rglob("*")):
        about = path.lstat()
        held = f"-> {path.readlink()}" if path.is_symlink() else path.read_bytes().hex() if path.is_file() else "folder"
        found[str(path.relative_to(folder))] = (held, 0 if path.is_symlink() else stat.S_IMODE(about.st_mode))
    return found


def furnish(workspace: Path) -> dict[str, tuple[str, int]]:
    """The workspace holds something of every kind."""
    strange = workspace / os.fsdecode(b"not-\xff-text")
    for folder in (workspace / "src/deep", workspace / "swap", strange, workspace / "empty"):
        folder.mkdir(parents=True)
    (workspace / "empty").chmod(0o700)
    for name, text in {"src/deep/a.py": "a", "src/b.py": "b", "run.sh": "#!/bin/sh", "swap/inner": "inner"}.items():
        (workspace / name).write_text(text)
    (workspace / "run.sh").chmod(0o755)
    (workspace / "link").symlink_to("src/b.py")
    (workspace / "dangling").symlink_to("nowhere")
    (workspace / "binary.dat").write_bytes(bytes(range(256)))
    (strange / os.fsdecode(b"\xfe")).write_text("strange")
    return tree(workspace)


HAVOC = r"""
rm -rf src empty not-*
mv run.sh renamed.sh; chmod 600 binary.dat
ln -sf /etc/passwd link; rm dangling
printf changed >> binary.dat
rm -rf swap; echo now a file > swap
mkdir -p made/deeper; echo new > made/deeper/file; ln -s made alias; chmod 555 made/deeper
"""
CLOSING = "rm src/b.py; mv src/deep src/moved; echo new > src/new; chmod 555 src/moved src"


@pytest.mark.parametrize("command", [HAVOC, CLOSING])
async def test_everything_a_command_did_is_taken_back(work: Work, command: str) -> None:
    before = furnish(work.folder)
    assert await work.bash(command) is None
    assert tree(work.folder) != before
    undone = await work.undo()
    assert (undone.refused, tree(work.folder)) == ({}, before)
    assert undone.restored["src/b.py"] == "put back"
    assert command == CLOSING or undone.restored["made"] == "removed"
    assert command == CLOSING or "not-\\xff-text/\\xfe" in undone.restored


@pytest.fixture
def write(work: Work) -> Callable[..., Awaitable[Any]]:
    return next(entry for entry in file_entries(None, work.snapshots) if entry.name == "write_file").function


async def test_commands_and_file_tools_of_one_job_are_undone_together(
    work: Work, write: Callable[..., Awaitable[Any]]
) -> None:
    (work.folder / "a.txt").write_text("0")
    await write(work.call, "a.txt", "1")
    await work.bash("echo 2 > a.txt; echo new > b.txt")
    await write(work.call, "a.txt", "3")
    await write(work.call, "new/c.txt", "c")
    await work.bash("rm b.txt")
    async with work.snapshots.around(work.call):
        (work.folder / "a.txt").write_text("4")
        await write(work.call, "a.txt", "5")
        (work.folder / "b.txt").write_text("made by the command while a tool was at work")
    assert (await work.undo()).refused == {}
    assert tree(work.folder) == {"a.txt": (b"0".hex(), 0o644)}


async def test_what_changed_since_is_left_alone_and_the_rest_is_restored(work: Work) -> None:
    for name in ("a", "b", "c", "d"):
        (work.folder / name).write_text("old")
    await work.bash("for f in a b c d; do echo new > $f; done; mkdir made; touch made/x; ls > e")
    (work.folder / "a").write_text("mine")
    (work.folder / "b").chmod(0o600)
    (work.folder / "c").unlink()
    (work.folder / "made/y").write_text("mine")
    undone = await work.undo()
    assert undone.refused == {
        "a": "its content changed since",
        "b": "its permissions changed since",
        "c": "it changed since: it is gone",
        "made": "the folder holds something that was made since",
    }
    assert undone.restored == {"d": "put back", "e": "removed", "made/x": "removed"}
    assert (work.folder / "a").read_text() == "mine"
    assert (work.folder / "d").read_text() == "old"


async def test_a_step_cut_off_by_a_crash_is_undone_all_the_same(work: Work) -> None:
    before = furnish(work.folder)
    await work.snapshots.before(work.call)
    await asyncio.to_thread(subprocess.run, ["bash", "-c", HAVOC], cwd=work.folder, check=True)
    # The process died here; another goes on with the thread's next job.
    later = await new_call(work.db, work.home)
    await replace(work).bash("echo later > later.txt", later)
    await end_job(work.db, later)
    await work.undo()
    assert tree(work.folder) == {**before, "later.txt": (b"later\n".hex(), 0o644)}
    await work.undo(later)
    assert tree(work.folder) == before


async def test_a_stopped_command_is_on_record_before_the_stop_is_answered(work: Work) -> None:
    (work.folder / "a").write_text("old")
    begun = asyncio.Event()

    async def step() -> None:
        async with work.snapshots.around(work.call):
            (work.folder / "a").write_text("half")
            begun.set()
            await asyncio.sleep(60)

    running = asyncio.create_task(step())
    await begun.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert (await work.undo()).restored == {"a": "put back"}


async def test_a_change_on_record_that_never_happened_is_as_it_was(work: Work) -> None:
    (work.folder / "a").write_text("old")
    manifest = Scan(work.folder, Manifest(), work.snapshots.copies).run()
    # The process died between the record and the change.
    half = Image(Kind.FILE, "sha256:0", 0, 0o644)
    await work.snapshots.record(work.call, "write_file", [Change("a", manifest.image("a"), half)])
    undone = await work.undo()
    assert (undone.restored, undone.refused) == ({"a": "as it was"}, {})
    assert (work.folder / "a").read_text() == "old"


async def test_files_of_another_user_are_put_back_as_that_users(work: Work) -> None:
    if os.geteuid() != 0:
        missing("the right to give files away", "sudo make test")
    theirs = work.folder / "theirs"
    theirs.mkdir()
    (theirs / "a").write_text("a")
    for path in (theirs, theirs / "a"):
        os.chown(path, 65534, 65534)
    (theirs / "a").chmod(0o600)
    theirs.chmod(0o700)
    before = tree(work.folder)
    await work.bash("rm -rf theirs; mkdir new; touch new/x; chown -R 65534:65534 new")
    assert (await work.undo()).refused == {}
    assert tree(work.folder) == before
    assert [(p.stat().st_uid, p.stat().st_gid) for p in (theirs, theirs / "a")] == [(65534, 65534)] * 2


async def test_strange_things_in_a_workspace_do_not_stop_a_command(work: Work) -> None:
    deep = work.folder / "/".join(["d"] * 80)
    deep.mkdir(parents=True)
    os.mkfifo(work.folder / "pipe")
    (work.folder / "loop").symlink_to("loop")
    note = await work.bash("rm pipe loop")
    assert note is not None
    assert "'pipe' (it was neither a file, a folder nor a link)" in note
    assert "more than 64 folders deep" in note
    undone = await work.undo()
    assert list(undone.refused) == ["pipe"]
    assert (work.folder / "loop").is_symlink()


async def test_a_link_put_in_the_place_of_a_folder_leads_no_undoing_outside(work: Work) -> None:
    outside = work.home / "outside"
    outside.mkdir()
    (outside / "a").write_text("theirs")
    (work.folder / "sub").mkdir()
    (work.folder / "sub/a").write_text("old")
    await work.bash("echo new > sub/a; echo made > sub/b")
    (work.folder / "sub").rename(work.folder / "aside")
    (work.folder / "sub").symlink_to(outside)
    undone = await work.undo()
    assert (outside / "a").read_text() == "theirs"
    assert sorted(path.name for path in outside.iterdir()) == ["a"]
    assert undone.refused == {"sub/a": "it changed since: it is gone"}


async def test_a_damaged_or_missing_copy_is_refused_not_restored_wrongly(work: Work) -> None:
    for name in ("a", "b"):
        (work.folder / name).write_text(f"precious {name}")
    await work.bash("echo new > a; echo new > b")
    for path in (work.home / "undo/copies").glob("??/*"):
        if path.read_text() == "precious a":
            path.write_text("damaged")
        elif path.read_text() == "precious b":
            path.unlink()
    undone = await work.undo()
    assert set(undone.refused.values()) == {"it cannot be restored: the copy of what it was is no longer kept"}
    assert (work.folder / "a").read_text() == "new\n"


async def test_a_large_file_that_is_lost_is_told_and_one_that_was_only_moved_comes_back(work: Work) -> None:
    for name in ("moved.bin", "lost.bin"):
        with (work.folder / name).open("wb") as file:
            file.truncate(20 * 1024**2 + 1)
    inode = (work.folder / "moved.bin").stat().st_ino
    note = await work.bash("mv moved.bin elsewhere.bin; rm lost.bin; truncate -s 30M new.bin")
    assert note is not None
    assert note.startswith("Cannot be undone: 'lost.bin' (it was larger than 20 MB")
    undone = await work.undo()
    assert list(undone.refused) == ["lost.bin"]
    assert undone.restored == {"elsewhere.bin": "moved back", "moved.bin": "put back", "new.bin": "removed"}
    assert (work.folder / "moved.bin").stat().st_ino == inode


async def test_what_is_beyond_the_limits_is_told_and_never_removed(work: Work) -> None:
    for number in range(10):
        (work.folder / f"{number}.txt").write_text(str(number))
    note = await replace(work, caps=Caps(files=6)).bash("rm 0.txt 1.txt 2.txt; echo x > 9.txt")
    assert note is not None
    assert "Undo does not cover files beyond the first 6." in note
    undone = await work.undo()
    assert undone.restored == {f"{number}.txt": "put back" for number in range(3)}
    assert sorted(path.name for path in work.folder.iterdir()) == [f"{number}.txt" for number in range(10)]
    assert all("beyond what a snapshot covers" in why for why in undone.refused.values())
    for name in ("a", "b"):
        (work.folder / name).write_bytes(name.encode() * 600_000)
    note = await replace(work, caps=Caps(bytes=1024**2)).bash("rm a b")
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


async def test_old_records_and_their_copies_are_forgotten(work: Work) -> None:
    (work.folder / "a").write_text("long ago")
    await work.bash("echo new > a")
    copies = work.home / "undo/copies"

    def kept() -> set[str]:
        return {path.read_text() for path in copies.glob("??/*")}

    for path in copies.glob("??/*"):
        os.utime(path, (0, 0))
    assert (await work.snapshots.sweep(), kept()) == (0, {"long ago", "new\n"})
    async with work.db.transaction() as tx:
        await tx.execute("UPDATE file_changes SET created_at = now() - interval '91 days'")
        await housekeeping.tidy(tx, 90)
        assert await undo.of_job(tx, work.call.job_id) == []
    assert (await work.snapshots.sweep(), kept()) == (1, {"new\n"}), "what the workspace holds now is still needed"


async def test_the_copies_are_closed_to_other_users(work: Work) -> None:
    (work.folder / "a").write_text("private")
    await work.bash("true")
    for path in [work.home / "undo", work.home / "workspaces", *(work.home / "undo").rglob("*")]:
        if path.name != "swept":
            assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0, path
