"""`laneway backup` beside a running server, and `laneway restore` into an empty data directory."""

from __future__ import annotations

import gzip
import json
import os
import stat
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest

from tests.cli.processes import Shell, eventually, free_port, postgres_of, up
from tests.conftest import address_of

BIG = os.urandom(300_000)
"""Larger than what is kept in the database."""


class Owner:
    """The owner at the HTTP door of one data directory."""

    def __init__(self, home: Path, port: str) -> None:
        key = (home / "key").read_text(encoding="utf-8").strip()
        self.http = httpx.Client(
            base_url=f"http://127.0.0.1:{port}", headers={"Authorization": f"Bearer {key}"}, timeout=30
        )

    def get(self, path: str) -> Any:
        return self.http.get(path).raise_for_status().json()

    def send(self, text: str, **more: Any) -> str:
        return str(
            self.http.post("/messages", **(more or {"json": {"text": text}})).raise_for_status().json()["message_id"]
        )

    def answer(self, message_id: str) -> str:
        """What was answered to it, once it was."""
        eventually(lambda: self.get(f"/messages/{message_id}")["replies"], 60)
        return str(self.get(f"/messages/{message_id}")["replies"][0]["text"])


@pytest.fixture(scope="module")
def shell() -> Iterator[Shell]:
    """A shell in a folder that an embedded server can use even where root runs the tests: pytest's own is closed."""
    with tempfile.TemporaryDirectory(prefix="laneway-backup-") as folder:
        yield Shell(Path(folder), {"LANEWAY_HOME": f"{folder}/home", "LANEWAY_PORT": str(free_port())})


@pytest.fixture(scope="module")
def saved(shell: Shell) -> tuple[Path, str, str]:
    """A backup that was made while the server worked; a message that was answered before, and its answer."""
    home, file = Path(shell.environ["LANEWAY_HOME"]), shell.folder / "laneway.backup"
    running = up(shell)
    try:
        owner = Owner(home, shell.environ["LANEWAY_PORT"])
        (home / "workspaces" / "w").mkdir(parents=True)
        (home / "workspaces" / "w" / "link").symlink_to("/usr/bin/env")
        (home / ".env").write_text("LANEWAY_WORKERS=3\n")
        asked = owner.send("", data={"text": "hello"}, files={"files": ("big.bin", BIG, "application/octet-stream")})
        answer = owner.answer(asked)
        unanswered = [owner.send(f"hello {number}") for number in range(20)]
        shell.run("backup", str(file))
        assert [one for one in unanswered if not owner.answer(one)] == [], "the server went on"
        assert "exists already" in shell.refused("backup", str(file), code=1)
        assert "not empty" in shell.refused("restore", str(file), code=1)
    finally:
        running.stop()
    assert postgres_of(home) == []
    return file, asked, answer


def test_a_backup_of_a_running_server_comes_back_whole_in_an_empty_home(
    shell: Shell, saved: tuple[Path, str, str]
) -> None:
    file, asked, answer = saved
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    there, port = shell.folder / "restored", str(free_port())
    there.mkdir()
    # Both of one process, as tests run commands: nothing of the one may be left in the other.
    shell.process("restore", str(file), "--home", str(there))
    assert postgres_of(shell.folder) == []
    assert [path.name for path in there.iterdir() if path.name.startswith(".")] == [".env"]
    assert stat.S_IMODE((there / "key").stat().st_mode) == 0o600
    assert (there / "workspaces" / "w" / "link").readlink() == Path("/usr/bin/env")
    running = up(shell, LANEWAY_HOME=str(there), LANEWAY_PORT=port)
    try:
        owner = Owner(there, port)
        message = owner.get(f"/messages/{asked}")
        assert message["replies"][0]["text"] == answer
        artifact = message["attachments"][0]["artifact"].removeprefix("artifact://sha256/")
        assert owner.http.get(f"/artifacts/{artifact}").content == BIG
        assert owner.answer(owner.send("and after it?"))
    finally:
        running.stop()


def test_a_file_that_is_no_whole_backup_writes_nothing(shell: Shell, saved: tuple[Path, str, str]) -> None:
    whole, there = saved[0].read_bytes(), shell.folder / "never"
    newer = shell.folder / "newer"
    with tarfile.open(saved[0]) as old, tarfile.open(newer, "w:gz") as new:
        for member in old:
            packed = old.extractfile(member) if member.isreg() else None
            if member.name == "manifest.json" and packed is not None:
                made = json.loads(packed.read()) | {"schema": "9999", "laneway": "99.0"}
                (shell.folder / "manifest.json").write_text(json.dumps(made))
                new.add(shell.folder / "manifest.json", member.name)
            else:
                new.addfile(member, packed)
    middle = len(whole) // 2
    cases = {
        "cut off": whole[:middle],
        "one bit changed": whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :],
        "something else": gzip.compress(b"no archive"),
        "not even packed": b"hello",
        "made by Laneway 99.0": newer.read_bytes(),
    }
    for name, content in cases.items():
        (shell.folder / "bad").write_bytes(content)
        refusal = shell.refused("restore", str(shell.folder / "bad"), "--home", str(there))
        assert "no whole backup" in refusal or name in refusal, name
        assert not there.exists(), name
    assert "no whole backup" in shell.refused("restore", str(shell.folder / "nowhere"), "--home", str(there))


def member(name: str, kind: bytes = tarfile.REGTYPE, to: str = "") -> tarfile.TarInfo:
    made = tarfile.TarInfo(name)
    made.type, made.linkname, made.mode = kind, to, 0o777
    return made


@pytest.mark.parametrize("case", ["climbs", "home is a link", "second name", "device", "fifo"])
def test_a_file_that_reaches_out_of_its_folder_is_refused(
    shell: Shell, saved: tuple[Path, str, str], case: str
) -> None:
    hostile, there, victim = shell.folder / "hostile", shell.folder / "there", shell.folder / "victim"
    victim.mkdir(exist_ok=True)
    precious = victim / "precious.txt"
    precious.write_text("mine")
    precious.chmod(0o600)
    more = {
        "climbs": member("home/../../../outside"),
        "home is a link": member("home", tarfile.SYMTYPE, str(victim)),
        "second name": member("home/h", tarfile.LNKTYPE, str(precious)),
        "device": member("home/null", tarfile.CHRTYPE),
        "fifo": member("home/fifo", tarfile.FIFOTYPE),
    }[case]
    with tarfile.open(saved[0]) as old, tarfile.open(hostile, "w:gz") as new:
        for name in ("manifest.json", "database", *(["home"] if more.name != "home" else [])):
            new.addfile(old.getmember(name), old.extractfile(name) if name != "home" else None)
        new.addfile(more)
    assert more.name.rpartition("/")[2] in shell.refused("restore", str(hostile), "--home", str(there))
    assert not (shell.folder / "outside").exists()
    assert [path.name for path in there.iterdir()] == ["up.lock"]
    assert (precious.stat().st_mode & 0o777, precious.stat().st_nlink) == (0o600, 1)


def test_what_cannot_be_backed_up_is_refused_in_one_line(shell: Shell, saved: tuple[Path, str, str]) -> None:
    home = Path(shell.environ["LANEWAY_HOME"])
    assert "nothing to back up" in shell.refused("backup", str(shell.folder / "x"), "--home", "/nowhere", code=1)
    assert "data directory itself" in shell.refused("backup", str(home / "x"))
    assert "cannot be written" in shell.refused("backup", "/proc/nowhere/x")
    (home / "up.lock").touch()
    assert "not empty" in shell.refused("restore", str(saved[0]), "--home", str(home), code=1)


def test_a_database_of_ones_own_is_backed_up_too_and_restored_into_an_empty_one_only(
    shell: Shell, postgres: str, database_url: str
) -> None:
    file, home, there = shell.folder / "own.backup", shell.folder / "own", shell.folder / "own-restored"
    home.mkdir()
    (home / "key").write_text("lw_own\n")
    with psycopg.connect(database_url) as connection:
        connection.execute("INSERT INTO workers (id, host, pid, born, version, slots) VALUES ('w', 'h', 1, 0, '1', 1)")
    shell.run("backup", str(file), "--home", str(home), DATABASE_URL=database_url)
    refusal = shell.refused("restore", str(file), "--home", str(there), code=1, DATABASE_URL=database_url)
    assert "used already" in refusal
    assert [path.name for path in there.iterdir()] == ["up.lock"]
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute("CREATE DATABASE restored")
    try:
        shell.run("restore", str(file), "--home", str(there), DATABASE_URL=address_of(postgres, "restored"))
        with psycopg.connect(address_of(postgres, "restored")) as connection:
            assert connection.execute("SELECT id FROM workers").fetchall() == [("w",)]
        assert (there / "key").read_text() == "lw_own\n"
    finally:
        with psycopg.connect(postgres, autocommit=True) as connection:
            connection.execute("DROP DATABASE restored WITH (FORCE)")
