"""Paths stay where they belong, whatever a model writes."""

from __future__ import annotations

import os
import stat
import threading
import time
from itertools import count
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


def test_every_way_to_write_a_path_inside_is_understood(workspace: Path) -> None:
    for path in ("notes.txt", "new/folder/file", "..notes", "a..b/...", "rm -rf ;", "🏳\u200d🌈.txt"):
        assert place(workspace, path).shown == path
    assert place(workspace, "./sub/../notes.txt").shown == "notes.txt"
    assert place(workspace, "sub//deep.txt").shown == "sub/deep.txt"


def test_nothing_outside_is_ever_a_place(workspace: Path) -> None:
    outside = workspace.parent / "workspace-of-another"
    (workspace / "out").symlink_to("/etc")
    (workspace / "to-passwd").symlink_to("/etc/passwd")
    (workspace / "dangling").symlink_to("../not-there")
    (workspace / "sub" / "up").symlink_to("../..")
    for path in (
        "..", "../x", "../workspace-of-another/theirs.txt", "sub/../../x", "/etc/passwd", "/", "out/passwd",
        "to-passwd", "dangling", "sub/up/up/x", "../workspace-of-another",
    ):  # fmt: skip
        for follow, writing in ((True, False), (True, True), (False, False)):
            assert rule(workspace, path, follow=follow, writing=writing) == "path.outside", path
    (workspace / "theirs").symlink_to(outside)
    (outside / "back").symlink_to(workspace / "notes.txt")
    assert place(workspace, "theirs/back").shown == "notes.txt"
    assert rule(workspace, "theirs/back", follow=False) == "path.outside"


def test_what_is_no_path_is_refused_by_name(workspace: Path) -> None:
    (workspace / "circle").symlink_to("circle")
    hidden = ["a\0b", "a\nb", "a\x1b[31mb", "photo\u202egnp.exe", "\u2066x\u2069", "no\u200btes.txt", "\ufeffnotes.txt"]
    for expected, paths in {
        "path.empty": ["", "  "],
        "path.folder": [".", "sub/.."],
        "path.characters": [*hidden, "a\u2028b", "broken\ud800"],
        "path.long": ["x" * 256, "é" * 128, "a/" * 2001],
        "path.home": ["~/x", "~"],
        "path.circle": ["circle"],
    }.items():
        assert {rule(workspace, path) for path in paths} == {expected}


def test_names_that_hold_secrets_are_refused_however_they_are_spelled(workspace: Path) -> None:
    (workspace / ".env.local").write_text("KEY=1")
    (workspace / "link").symlink_to(".env.local")
    for path in (
        ".env", "sub/.ENV", "．env", "id_rsa", ".ssh/config", ".git/config", "a/secrets/x", "ſecrets.toml", "link",
        "prod.env", "id_ed25519.pub", "server.pem", "tls.key", "credentials", "credentials.json", "a/Server.PEM",
    ):  # fmt: skip
        assert rule(workspace, path) == "path.secret", path
        assert rule(workspace, path, follow=False, writing=True) == "path.secret", path
    assert not is_sensitive(["environment.txt", "keyboard.md", "secretary.py", "git", "monkey.json"])


def test_guards_may_be_read_but_not_changed_and_the_folder_may_have_any_name(workspace: Path) -> None:
    assert place(workspace, ".claude/settings.json").shown == ".claude/settings.json"
    assert rule(workspace, ".claude/settings.json", writing=True) == "path.guard"
    assert rule(workspace, "sub/.husky/pre-commit", writing=True) == "path.guard"
    assert not is_guard(["claude.md", "husky"])
    folder = workspace / ".config" / "secrets"
    folder.mkdir(parents=True)
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
    until = time.monotonic() + 60
    for tries in count():
        if tries > 1000 and (read or time.monotonic() > until):
            break
        try:
            descriptor = open_file(place(workspace, "sub/deep.txt"))
        except (PathRefused, OSError):
            continue
        with os.fdopen(descriptor) as file:
            read.append(file.read())
    over.set()
    swapping.join()
    assert set(read) == {"deep"}
