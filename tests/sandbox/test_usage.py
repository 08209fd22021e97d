"""What a tree of processes and a folder use is measured, however they try to hide it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

from laneway.sandbox.identity import Identity, hand_over, identity_of
from laneway.sandbox.usage import alive, descendants, held, memory


def test_children_of_children_are_found_and_their_memory_counted() -> None:
    program = "import subprocess, sys; x = bytearray(b'x') * 50_000_000; subprocess.run(['sleep', '60'])"
    parent = subprocess.Popen([sys.executable, "-c", program])
    try:
        until = time.monotonic() + 30
        while not (found := [pid for pid in descendants(parent.pid) if _name(pid) == "sleep"]):
            assert time.monotonic() < until
            time.sleep(0.02)
        [child] = found
        assert memory([parent.pid]) > 45_000_000 > 5_000_000 > memory([child])
    finally:
        subprocess.run(["kill", str(child)], check=True)
        parent.wait()
    assert not alive(child)
    assert not alive(parent.pid)


def _name(pid: int) -> str:
    return Path(f"/proc/{pid}/comm").read_text().strip()


def test_files_folders_and_links_are_counted_up_to_so_many_and_links_not_followed(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x" * 100_000)
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "c").write_bytes(b"x" * 50_000)
    (tmp_path / "b" / "out").symlink_to("/usr")
    found = held([tmp_path], [], 100)
    assert 150_000 <= found.bytes < 200_000
    assert (found.files, found.hidden) == (4, False)
    assert held([tmp_path], [], 2).files == 3
    assert held([tmp_path / "a" / "x"], [], 10).files == 0


def test_folders_too_deep_to_count_are_told(tmp_path: Path) -> None:
    (tmp_path / "/".join("d" * 140)).mkdir(parents=True)
    open_files = Path("/proc/self/fd")
    # What other tests left open may be closed meanwhile; one more for each folder would be 140.
    before = len(list(open_files.iterdir()))
    assert held([tmp_path], [], 1000).hidden
    assert len(list(open_files.iterdir())) < before + 20


def test_a_deleted_file_that_is_still_open_counts(tmp_path: Path) -> None:
    with (tmp_path / "gone").open("wb") as file:
        file.write(b"x" * 1_000_000)
        file.flush()
        (tmp_path / "gone").unlink()
        assert held([tmp_path], [os.getpid()], 100).bytes >= 1_000_000
    assert held([tmp_path], [], 100).bytes < 1_000_000


def test_a_workspace_is_handed_over_without_following_links(tmp_path: Path) -> None:
    outside, workspace = tmp_path / "outside", tmp_path / "workspace"
    (workspace / "folder").mkdir(parents=True)
    outside.mkdir()
    for file in (outside / "file", workspace / "folder" / "file"):
        file.touch()
    (workspace / "link").symlink_to(outside)
    os.link(outside / "file", workspace / "second-name")
    user = identity_of(workspace) or Identity(os.getuid(), os.getgid())
    hand_over(workspace, user)
    assert {path.lstat().st_uid for path in (workspace, workspace / "folder", workspace / "folder" / "file")} == {
        user.uid
    }
    assert {path.stat().st_uid for path in (outside, outside / "file", workspace / "second-name")} == {os.getuid()}


def test_each_workspace_has_a_user_of_its_own(tmp_path: Path) -> None:
    found = {identity_of(tmp_path / str(number)) for number in range(50)}
    if os.geteuid() == 0:
        assert len(found) > 45
        assert all(isinstance(user, Identity) and user.uid > 1000 for user in found)
    else:
        assert found == {None}
