"""`read_file`: what is under the one folder is read, and nothing else."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path

import pytest

from laneway.lanes.tools.read_file import read_file


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shared = tmp_path / "shared"
    (shared / "sub").mkdir(parents=True)
    (shared / "notes.txt").write_text("Grüße\n")
    (shared / "sub" / "deep.md").write_text("# Deep")
    (tmp_path / "outside.txt").write_text("not yours")
    return shared


async def test_a_text_file_is_read_whole(folder: Path) -> None:
    told = await read_file(folder, "notes.txt")
    assert told["status"] == "success"
    assert told["error"] is None
    assert told["result"] == {"path": "notes.txt", "text": "Grüße\n", "bytes": 8, "truncated": False, "note": None}
    assert json.loads(json.dumps(told)) == told


@pytest.mark.parametrize("path", ["sub/deep.md", "./sub/../sub/deep.md", "sub//deep.md"])
async def test_every_way_to_write_a_path_inside_the_folder_works(folder: Path, path: str) -> None:
    assert (await read_file(folder, path))["result"]["text"] == "# Deep"


async def test_an_absolute_path_inside_the_folder_works(folder: Path) -> None:
    assert (await read_file(folder, str(folder / "notes.txt")))["status"] == "success"


@pytest.mark.parametrize("path", ["../outside.txt", "sub/../../outside.txt", "/etc/hostname", "../nowhere.txt"])
async def test_nothing_outside_the_folder_is_read_or_told_to_exist(folder: Path, path: str) -> None:
    told = await read_file(folder, path)
    assert told["status"] == "error"
    assert told["result"] is None
    assert "outside the folder" in told["error"]


async def test_a_link_that_leads_outside_is_refused_and_one_that_stays_inside_is_followed(folder: Path) -> None:
    (folder / "escape.txt").symlink_to(folder.parent / "outside.txt")
    (folder / "way").symlink_to(folder.parent)
    (folder / "inside.txt").symlink_to("notes.txt")
    assert "outside" in (await read_file(folder, "escape.txt"))["error"]
    assert "outside" in (await read_file(folder, "way/outside.txt"))["error"]
    assert (await read_file(folder, "inside.txt"))["status"] == "success"


async def test_a_file_swapped_for_a_link_while_it_is_read_never_leads_outside(folder: Path) -> None:
    target, over = folder / "changing.txt", threading.Event()

    def swap() -> None:
        while not over.is_set():
            (folder / "link").symlink_to(folder.parent / "outside.txt")
            (folder / "link").replace(target)
            (folder / "plain").write_text("mine")
            (folder / "plain").replace(target)

    swapping = threading.Thread(target=swap)
    swapping.start()
    told = [await read_file(folder, "changing.txt") for _ in range(300)]
    over.set()
    swapping.join()
    assert "not yours" not in json.dumps(told)
    assert any(one["status"] == "success" for one in told)


@pytest.mark.parametrize(
    "name",
    [
        ".env",
        ".env.local",
        "prod.env",
        "id_rsa",
        "id_ed25519.pub",
        "server.pem",
        "tls.key",
        "credentials",
        "credentials.json",
    ],
)
async def test_names_that_hold_secrets_are_refused(folder: Path, name: str) -> None:
    (folder / name).write_text("secret stuff")
    told = await read_file(folder, name)
    assert "usually holds secrets" in told["error"]
    assert "secret stuff" not in json.dumps(told)


async def test_secrets_are_refused_in_folders_in_capitals_and_behind_links(folder: Path) -> None:
    (folder / ".ssh").mkdir()
    (folder / ".ssh" / "config").write_text("Host x")
    (folder / ".ENV").write_text("A=1")
    (folder / "innocent.txt").symlink_to(".ENV")
    for path in (".ssh/config", ".ENV", "innocent.txt"):
        assert "usually holds secrets" in (await read_file(folder, path))["error"]


async def test_a_binary_file_is_refused_politely(folder: Path) -> None:
    (folder / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n\x00\x00\x00")
    (folder / "noise.dat").write_bytes(bytes(range(128, 160)) * 20)
    for name in ("picture.png", "noise.dat"):
        assert "not a text file" in (await read_file(folder, name))["error"]


async def test_an_old_western_encoding_is_still_text(folder: Path) -> None:
    (folder / "alt.txt").write_bytes("Grüße aus Köln".encode("latin-1"))
    assert (await read_file(folder, "alt.txt"))["result"]["text"] == "Grüße aus Köln"


async def test_a_long_file_is_cut_between_characters_and_says_so(folder: Path) -> None:
    (folder / "long.txt").write_text("é" * 1000)
    result = (await read_file(folder, "long.txt", max_bytes=101))["result"]
    assert result["text"] == "é" * 50
    assert result["truncated"] is True
    assert result["note"] == "Only the first 101 of 2000 bytes are shown."


@pytest.mark.parametrize(
    ("path", "reason"), [("missing.txt", "no file"), ("sub", "a folder"), ("", "a folder"), ("a\0b", "not a usable")]
)
async def test_what_is_no_readable_file_is_an_error_with_the_reason(folder: Path, path: str, reason: str) -> None:
    told = await read_file(folder, path)
    assert told["status"] == "error"
    assert reason in told["error"]


async def test_a_named_pipe_is_refused_without_waiting_for_a_writer(folder: Path) -> None:
    os.mkfifo(folder / "pipe.txt")
    assert "not an ordinary file" in (await read_file(folder, "pipe.txt"))["error"]


async def test_links_in_a_circle_are_an_error(folder: Path) -> None:
    (folder / "a.txt").symlink_to("b.txt")
    (folder / "b.txt").symlink_to("a.txt")
    assert (await read_file(folder, "a.txt"))["status"] == "error"


async def test_without_a_folder_the_setting_to_set_is_named(tmp_path: Path) -> None:
    assert "LANEWAY_FILES" in (await read_file(None, "notes.txt"))["error"]
    assert "LANEWAY_FILES" in (await read_file(tmp_path / "gone", "notes.txt"))["error"]
