"""Paths stay where they belong, whatever a model writes."""

from __future__ import annotations

import os
import stat
import threading
import time
from pathlib import Path
from uuid import uuid4

import pytest

from laneway.sandbox.paths import PathRefused, open_file, place, workspace_of
from laneway.sandbox.sensitive_names import is_guard, is_sensitive


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    (folder / "sub").mkdir(parents=True)
    (folder / "notes.txt").write_text("mine")
    (folder / "sub" / "deep.txt").write_text("deep")
    (tmp_path / "workspace-of-another").mkdir()
    (tmp_path / "workspace-of-another" / "theirs.txt").write_text("theirs")
    return folder


def rule(folder: Path, path: str, *, follow: bool = True, writing: bool = False) -> str:
    with pytest.raises(PathRefused) as refused:
        place(folder, path, follow=follow, writing=writing)
    assert str(refused.value).endswith(".")
    return refused.value.rule


def test_a_workspace_is_made_for_its_owner_alone(tmp_path: Path) -> None:
    thread_id = uuid4()
    folder = workspace_of(tmp_path, thread_id)
    assert folder == tmp_path / "workspaces" / str(thread_id)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert workspace_of(tmp_path, thread_id) == folder


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("notes.txt", "notes.txt"),
        ("./sub/../notes.txt", "notes.txt"),
        ("sub//deep.txt", "sub/deep.txt"),
        ("new/folder/file", "new/folder/file"),
        ("..notes", "..notes"),
        ("a..b/...", "a..b/..."),
        ("rm -rf ;", "rm -rf ;"),
        ("🏳\u200d🌈.txt", "🏳\u200d🌈.txt"),
    ],
)
def test_every_way_to_write_a_path_inside_is_understood(workspace: Path, path: str, shown: str) -> None:
    assert place(workspace, path).shown == shown


@pytest.mark.parametrize("way", ["write", "read", "the thing itself"])
@pytest.mark.parametrize(
    "path",
    [
        "..",
        "../x",
        "../workspace-of-another/theirs.txt",
        "sub/../../x",
        "/etc/passwd",
        "/",
        "out/passwd",
        "to-passwd",
        "dangling",
        "sub/up/up/x",
        "../workspace-of-another",
    ],
)
def test_nothing_outside_is_ever_a_place(workspace: Path, path: str, way: str) -> None:
    (workspace / "out").symlink_to("/etc")
    (workspace / "to-passwd").symlink_to("/etc/passwd")
    (workspace / "dangling").symlink_to("../not-there")
    (workspace / "sub" / "up").symlink_to("../..")
    assert rule(workspace, path, writing=way == "write", follow=way != "the thing itself") == "path.outside"


def test_a_link_back_in_through_a_folder_outside_is_outside(workspace: Path) -> None:
    outside = workspace.parent / "workspace-of-another"
    (workspace / "out").symlink_to(outside)
    (outside / "back").symlink_to(workspace / "notes.txt")
    assert place(workspace, "out/back").shown == "notes.txt"
    assert rule(workspace, "out/back", follow=False) == "path.outside"


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("", "path.empty"),
        ("  ", "path.empty"),
        (".", "path.folder"),
        ("sub/..", "path.folder"),
        ("a\0b", "path.characters"),
        ("a\nb", "path.characters"),
        ("a\x1b[31mb", "path.characters"),
        ("photo\u202egnp.exe", "path.characters"),
        ("\u2066x\u2069", "path.characters"),
        ("no\u200btes.txt", "path.characters"),
        ("\ufeffnotes.txt", "path.characters"),
        ("a\u2028b", "path.characters"),
        ("broken\ud800", "path.characters"),
        ("x" * 256, "path.long"),
        ("é" * 128, "path.long"),
        ("a/" * 2001, "path.long"),
        ("~/x", "path.home"),
        ("~", "path.home"),
        ("circle", "path.circle"),
    ],
)
def test_what_is_no_path_is_refused_by_name(workspace: Path, path: str, expected: str) -> None:
    (workspace / "circle").symlink_to("circle")
    assert rule(workspace, path) == expected


@pytest.mark.parametrize(
    "path", [".env", "sub/.ENV", "．env", "id_rsa", ".ssh/config", ".git/config", "a/secrets/x", "ſecrets.toml", "link"]
)
def test_names_that_hold_secrets_are_refused_however_they_are_spelled(workspace: Path, path: str) -> None:
    (workspace / ".env.local").write_text("KEY=1")
    (workspace / "link").symlink_to(".env.local")
    assert rule(workspace, path) == "path.secret"
    assert rule(workspace, path, follow=False, writing=True) == "path.secret"


def test_names_that_only_look_alike_are_not_secrets() -> None:
    assert not is_sensitive(["environment.txt", "keyboard.md", "secretary.py", "git", "monkey.json"])
    assert is_sensitive(["a", "Server.PEM"])


def test_guards_may_be_read_but_not_changed(workspace: Path) -> None:
    assert place(workspace, ".claude/settings.json").shown == ".claude/settings.json"
    assert rule(workspace, ".claude/settings.json", writing=True) == "path.guard"
    assert rule(workspace, "sub/.husky/pre-commit", writing=True) == "path.guard"
    assert not is_guard(["claude.md", "husky"])


def test_the_folder_the_workspace_is_in_may_have_any_name(tmp_path: Path) -> None:
    folder = tmp_path / ".config" / "secrets"
    folder.mkdir(parents=True)
    assert place(folder, "notes.txt").shown == "notes.txt"
    assert place(folder, str(folder / "notes.txt")).shown == "notes.txt"
    assert rule(folder, str(folder / ".env")) == "path.secret"


def test_a_folder_swapped_for_a_link_while_a_file_in_it_is_opened_never_leads_outside(workspace: Path) -> None:
    outside, over = workspace.parent / "workspace-of-another", threading.Event()
    (outside / "deep.txt").write_text("theirs")

    def swap() -> None:
        while not over.is_set():
            (workspace / "sub").rename(workspace / "aside")
            (workspace / "sub").symlink_to(outside)
            (workspace / "sub").unlink()
            (workspace / "aside").rename(workspace / "sub")

    swapping = threading.Thread(target=swap)
    swapping.start()
    read: list[str] = []
    tries, until = 0, time.monotonic() + 60
    while tries < 2000 or (not read and time.monotonic() < until):
        tries += 1
        try:
            descriptor = open_file(place(workspace, "sub/deep.txt"))
        except (PathRefused, OSError):
            continue
        with os.fdopen(descriptor) as file:
            read.append(file.read())
    over.set()
    swapping.join()
    assert set(read) == {"deep"}
