"""The tools that change files: what they do, what they refuse, and what they say of it."""

from __future__ import annotations

import asyncio
import os
import stat
from pathlib import Path

import pytest

from laneway.domain.action import Decision
from laneway.lanes.tools.entry import Call, ToolEntry
from tests.lanes.conftest import Use
from tests.skips import missing


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


async def test_a_file_is_written_with_its_folders_and_read_again(use: Use, workspace: Path) -> None:
    written = await use("write_file", "plans/2026/may.md", "# Mai – größer\n")
    assert written["result"] == {
        "path": "plans/2026/may.md", "bytes": 19, "created": True, "changed": True, "note": None,
    }  # fmt: skip
    assert (workspace / "plans/2026/may.md").read_text() == "# Mai – größer\n"
    assert (await use("read_file", "plans/2026/may.md"))["result"]["text"] == "# Mai – größer\n"


async def test_a_replaced_file_keeps_its_mode_and_leaves_nothing_half_beside_it(use: Use, workspace: Path) -> None:
    script = workspace / "run.sh"
    script.write_text("echo one\n")
    script.chmod(0o750)
    assert (await use("write_file", "run.sh", "echo two\n"))["result"]["created"] is False
    assert script.read_text() == "echo two\n"
    assert stat.S_IMODE(script.stat().st_mode) == 0o750
    assert names(workspace) == ["run.sh"]


async def test_writing_what_is_there_already_changes_nothing_and_says_so(use: Use, workspace: Path) -> None:
    (workspace / "a.txt").write_text("same")
    before = (workspace / "a.txt").stat()
    assert (await use("write_file", "a.txt", "same"))["result"]["changed"] is False
    assert (workspace / "a.txt").stat().st_ino == before.st_ino


REFUSED = {
    "../x": "outside",
    "/etc/cron.d/x": "outside",
    "to-passwd": "outside",
    "linked/x": "outside",
    "sub": "a folder",
    "pipe": "not an ordinary file",
    "notes.txt/x": "not a folder",
    ".env": "secrets",
    ".git/hooks/pre-commit": "secrets",
    ".claude/settings.json": "permissions",
    "x" * 300: "too long",
    "a\u202eb": "Right-to-left override",
    "": "empty",
}
SEEN_ONLY_WHEN_IT_RUNS = ("a folder", "not an ordinary file", "not a folder")


@pytest.mark.parametrize("tool", ["write_file", "edit_file", "delete_file", "move_file"])
async def test_a_refused_path_is_refused_beforehand_and_when_the_tool_runs(
    use: Use, tools: dict[str, ToolEntry], call: Call, workspace: Path, tool: str
) -> None:
    (workspace / "sub").mkdir()
    (workspace / "notes.txt").write_text("x")
    (workspace / "to-passwd").symlink_to("/etc/passwd")
    (workspace / "linked").symlink_to("/tmp")
    os.mkfifo(workspace / "pipe")
    more = {"write_file": {"content": "x"}, "edit_file": {"old": "x", "new": "y"}, "move_file": {"to": "b.txt"}}
    for path, why in REFUSED.items():
        arguments = {"path": path, **more.get(tool, {})}
        told = await use(tool, **arguments)
        assert told["status"] == "error", path
        assert why in told["error"]
        verdict = tools[tool].judge(arguments, call)
        assert verdict is not None
        if why in SEEN_ONLY_WHEN_IT_RUNS:
            assert verdict.decision is Decision.ALLOW
        else:
            assert (verdict.decision, verdict.why) == (Decision.DENY, told["error"])
            assert verdict.rule.startswith("path.")
    assert names(workspace) == ["linked", "notes.txt", "pipe", "sub", "to-passwd"]


async def test_a_file_is_never_moved_to_a_refused_place(use: Use, workspace: Path) -> None:
    (workspace / "a.txt").write_text("x")
    for path in ("../b", "/tmp/b", ".env", ".husky/pre-push"):
        assert (await use("move_file", "a.txt", path))["status"] == "error"
    assert names(workspace) == ["a.txt"]


async def test_an_edit_needs_its_text_exactly_once(use: Use, workspace: Path) -> None:
    (workspace / "a.txt").write_bytes(b"one two\r\none\r\n")
    assert "found 2 times" in (await use("edit_file", "a.txt", "one", "1"))["error"]
    assert "not found" in (await use("edit_file", "a.txt", "three", "3"))["error"]
    assert "nothing to replace" in (await use("edit_file", "a.txt", "", "3"))["error"]
    assert (await use("edit_file", "a.txt", "one two\r\n", "1\r\n"))["result"]["replaced"] == 1
    assert (workspace / "a.txt").read_bytes() == b"1\r\none\r\n"
    assert "no file" in (await use("edit_file", "b.txt", "a", "b"))["error"]


async def test_an_edit_of_all_says_how_many(use: Use, workspace: Path) -> None:
    (workspace / "a.txt").write_text("x x x")
    assert (await use("edit_file", "a.txt", "x", "y", all=True))["result"]["replaced"] == 3
    assert (workspace / "a.txt").read_text() == "y y y"


async def test_what_is_no_text_is_not_edited(use: Use, workspace: Path) -> None:
    (workspace / "picture.png").write_bytes(b"\x89PNG\0\0x")
    assert "not a text file" in (await use("edit_file", "picture.png", "x", "y"))["error"]
    assert "broken characters" in (await use("write_file", "a.txt", "\ud800"))["error"]
    assert "larger than 10 MB" in (await use("write_file", "a.txt", "x" * (10 * 1024**2 + 1)))["error"]


async def test_a_file_is_moved_into_a_new_folder_and_never_over_another(use: Use, workspace: Path) -> None:
    (workspace / "a.txt").write_text("a")
    (workspace / "b.txt").write_text("b")
    assert "already" in (await use("move_file", "a.txt", "b.txt"))["error"]
    assert (await use("move_file", "a.txt", "old/a.txt"))["result"] == {
        "path": "a.txt", "to": "old/a.txt", "note": None,
    }  # fmt: skip
    assert (workspace / "old/a.txt").read_text() == "a"
    assert not (workspace / "a.txt").exists()
    assert "no file" in (await use("move_file", "a.txt", "c.txt"))["error"]


async def test_deleting_a_link_leaves_what_it_leads_to(use: Use, workspace: Path) -> None:
    (workspace / "real.txt").write_text("real")
    (workspace / "link.txt").symlink_to("real.txt")
    assert (await use("delete_file", "link.txt"))["status"] == "success"
    assert names(workspace) == ["real.txt"]
    assert (await use("delete_file", "real.txt"))["status"] == "success"
    assert "no file" in (await use("delete_file", "real.txt"))["error"]


async def test_writing_to_a_file_with_another_name_outside_leaves_the_other_name_alone(
    use: Use, workspace: Path, tmp_path: Path
) -> None:
    (tmp_path / "outside.txt").write_text("theirs")
    (workspace / "mine.txt").hardlink_to(tmp_path / "outside.txt")
    assert (await use("write_file", "mine.txt", "changed"))["status"] == "success"
    assert (tmp_path / "outside.txt").read_text() == "theirs"


async def test_new_files_belong_to_whoever_owns_the_folder(use: Use, workspace: Path) -> None:
    if os.geteuid() != 0:
        missing("the right to give files away", "sudo make test")
    os.chown(workspace, 65534, 65534)
    await use("write_file", "new/a.txt", "a")
    for path in (workspace / "new", workspace / "new/a.txt"):
        assert (path.stat().st_uid, path.stat().st_gid) == (65534, 65534)


async def test_a_file_too_large_to_keep_needs_an_approval_before_it_is_replaced(
    use: Use, tools: dict[str, ToolEntry], call: Call, workspace: Path
) -> None:
    with (workspace / "large.bin").open("wb") as file:
        file.truncate(20 * 1024**2 + 1)
    verdict = tools["write_file"].judge({"path": "large.bin", "content": ""}, call)
    assert verdict is not None
    assert (verdict.decision, verdict.rule) == (Decision.ASK, "files.unrecoverable")
    moved = tools["move_file"].judge({"path": "large.bin", "to": "b"}, call)
    assert moved is not None
    assert moved.decision is Decision.ALLOW
    told = await use("delete_file", "large.bin")
    assert told["result"]["note"].startswith("This cannot be undone: it was larger than 20 MB")


def test_only_the_writers_change_things_and_only_repeatable_ones_are_repeated(tools: dict[str, ToolEntry]) -> None:
    writers = {"write_file", "edit_file", "delete_file", "move_file"}
    assert {name for name, entry in tools.items() if entry.changes} == writers
    assert {name for name, entry in tools.items() if not entry.idempotent} == writers - {"write_file"}
    for entry in tools.values():
        assert entry.takes_call
        assert entry.description


async def test_a_file_swapped_for_a_link_while_it_is_written_never_leads_outside(
    use: Use, workspace: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.txt").write_text("theirs")
    over = False

    def swap() -> None:
        while not over:
            for _ in range(2):
                (workspace / "link").symlink_to(outside / "a.txt")
                (workspace / "link").replace(workspace / "a.txt")
            (workspace / "plain").write_text("mine")
            (workspace / "plain").replace(workspace / "a.txt")

    swapping = asyncio.create_task(asyncio.to_thread(swap))
    told = [await use("write_file", "a.txt", f"new {number}") for number in range(60)]
    over = True
    await swapping
    assert (outside / "a.txt").read_text() == "theirs"
    assert names(outside) == ["a.txt"]
    assert {one["status"] for one in told} <= {"success", "error"}
