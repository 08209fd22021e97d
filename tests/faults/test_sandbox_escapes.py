"""Ways out of the sandbox, each tried on every boundary of this machine; none of them leads anywhere.

What is to be protected is open to everybody on the machine (mode 0777), so that only the boundary can keep it.
"""

# ruff: noqa: ASYNC220, ASYNC240  nobody else waits for this loop

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from urllib.parse import parse_qs, urlsplit
from uuid import uuid4

import psutil
import pytest

from laneway.sandbox.contract import Boundary
from laneway.sandbox.identity import hand_over, identity_of
from tests.sandboxing import open_folder, python, tried

SECRET = f"lw_{uuid4().hex}"


@pytest.fixture
def outside() -> Iterator[Path]:
    """A folder of somebody else's, with a file, a secret and no walls of its own."""
    with open_folder() as folder:
        (folder / "secret").write_text(SECRET)
        (folder / "victim").write_text("untouched")
        for path in folder.iterdir():
            path.chmod(0o666)
        yield folder


async def test_no_secret_of_the_host_can_be_read(
    boundary: Boundary, workspace: Path, outside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", SECRET)
    key, ssh = workspace.parents[1] / "key", workspace.parents[1] / ".ssh"
    ssh.mkdir()
    for file in (key, ssh / "id_ed25519"):
        file.write_text(SECRET)
        file.chmod(0o644)
    # A process whose environment is the server's, and belongs to the very user that runs commands.
    user = identity_of(workspace)
    ours = subprocess.Popen(["sleep", "60"], env={"KEY": SECRET}, **({"user": user.uid} if user else {}))  # type: ignore[call-overload]
    shadow = Path("/etc/shadow").read_text().splitlines()[0] if os.access("/etc/shadow", os.R_OK) else SECRET
    command = f"""
        env; cat /proc/self/environ | tr '\\0' '\\n'
        cat {key} {ssh}/id_ed25519 {outside}/secret /etc/shadow /etc/gshadow /root/.ssh/* ~root/.ssh/*
        cat /proc/{os.getpid()}/environ /proc/{ours.pid}/environ /proc/1/environ /proc/*/environ
        cat /proc/1/root/{outside}/secret /proc/{ours.pid}/root/{outside}/secret /proc/{ours.pid}/cwd/*
        cat /proc/*/cmdline | tr '\\0' ' '
        ls -la {outside} {key.parent} /root /home/*
        grep -rs {SECRET[:12]} /var/tmp /home /root /opt /srv /run 2>/dev/null | head
        find / -xdev -name 'secret' 2>/dev/null | head
    """
    try:
        ran = await tried(boundary, workspace, command)
    finally:
        ours.kill()
        ours.wait()
    told = (ran.stdout + ran.stderr).replace(f"grep -rs {SECRET[:12]}", "")
    assert ran.killed_because is None
    assert SECRET not in told
    assert shadow not in told
    assert "victim" not in told


async def test_nothing_outside_the_workspace_can_be_written(boundary: Boundary, workspace: Path, outside: Path) -> None:
    before = {path.name: path.stat() for path in outside.iterdir()}
    marker = f"laneway-{uuid4().hex}"
    places = ("/", "/usr", "/usr/bin", "/etc", "/tmp", "/var/tmp", "/dev/shm", "/home", "/root", "/run", str(outside))
    command = f"""
        for place in {" ".join(places)} {workspace.parent} {workspace.parents[1]}; do
            echo x > $place/{marker}; mkdir $place/{marker}.d; ln -s /etc $place/{marker}.l; mkfifo $place/{marker}.f
        done
        cd {outside} && {{ echo x >> victim; echo x > victim; rm -f victim; mv victim gone; ln victim other; }}
        truncate -s 0 {outside}/victim; cp /etc/hostname {outside}/victim; chmod 000 {outside}/victim {outside}
        touch -d 2000-01-01 {outside}/victim; setfattr -n user.x -v y {outside}/victim
        ln {outside}/secret ~/hard; mv {outside}/secret ~/moved; cp {outside}/secret ~/copied
        echo x > ~/inside
    """
    await tried(boundary, workspace, command)
    after = {path.name: path.stat() for path in outside.iterdir()}
    assert (workspace / "inside").read_text() == "x\n"
    assert (outside / "victim").read_text() == "untouched"
    same = ("st_mode", "st_mtime", "st_size", "st_nlink", "st_uid")
    assert {n: [getattr(s, k) for k in same] for n, s in after.items()} == {
        n: [getattr(s, k) for k in same] for n, s in before.items()
    }
    assert [place for place in (*places, workspace.parent, workspace.parents[1]) if _has(Path(place), marker)] == []
    assert not {"hard", "moved"} & {path.name for path in workspace.iterdir()}
    copied = workspace / "copied"
    assert not copied.exists() or SECRET not in copied.read_text()


def _has(folder: Path, marker: str) -> bool:
    # Where we may not look, a command of ours could not write either.
    return os.access(folder, os.R_OK) and any(path.name.startswith(marker) for path in folder.iterdir())


async def test_a_link_that_leads_out_leads_nowhere(boundary: Boundary, workspace: Path, outside: Path) -> None:
    (workspace / "way").symlink_to(outside)
    command = f"""
        cat way/secret; echo x > way/new; echo x > way/victim; rm way/victim; cat way/../{outside.name}/secret
        ln -s / root; cat root{outside}/secret; ln -s /proc/self/root up; cat up{outside}/secret; cat root/etc/shadow
    """
    ran = await tried(boundary, workspace, command)
    assert SECRET not in ran.stdout + ran.stderr
    assert sorted(path.name for path in outside.iterdir()) == ["secret", "victim"]
    assert (outside / "victim").read_text() == "untouched"


async def test_a_link_swapped_in_at_the_right_moment_leads_nowhere(
    boundary: Boundary, workspace: Path, outside: Path
) -> None:
    race = python(f"""
        import os, threading, time
        os.makedirs("real", exist_ok=True); open("real/victim", "w").write("mine")
        open("real/secret", "w").write("mine")
        os.symlink({str(outside)!r}, "evil")
        until, told = time.time() + 1.0, set()
        def swap():
            while time.time() < until:
                try:
                    for pair in (("real", "held"), ("evil", "real"), ("real", "evil"), ("held", "real")):
                        os.rename(*pair)
                except OSError: pass
        def use():
            # The folder is its own again when nobody swaps any more, so that everybody reads it once at least.
            while time.time() < until or "mine" not in told:
                try:
                    told.add(open("real/secret").read()); open("real/victim", "w").write("mine")
                except OSError: pass
        threads = [threading.Thread(target=f) for f in (swap, use, use)]
        [t.start() for t in threads]; [t.join() for t in threads]
        print(told)
    """)
    running = asyncio.create_task(tried(boundary, workspace, race))
    user, owner = identity_of(workspace), (outside / "victim").stat().st_uid
    while not running.done():
        # The server prepares the next run of the same workspace meanwhile; it must not be led out either.
        await asyncio.to_thread(hand_over, workspace, user)
        await asyncio.sleep(0.005)
    ran = await running
    assert "mine" in ran.stdout
    assert SECRET not in ran.stdout
    assert (outside / "victim").read_text() == "untouched"
    assert {path.stat().st_uid for path in (outside, outside / "victim")} == {owner}


class Listener:
    """Sockets of every kind that anybody who gets out of the sandbox could reach."""

    def __init__(self, folder: Path) -> None:
        self.heard: list[str] = []
        self.abstract = f"laneway-{uuid4().hex}"
        self.file = folder / "socket"
        self._sockets = {
            "tcp": _bound(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0)),
            "udp": _bound(socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", 0)),
            "abstract": _bound(socket.AF_UNIX, socket.SOCK_STREAM, f"\0{self.abstract}"),
            "file": _bound(socket.AF_UNIX, socket.SOCK_STREAM, str(self.file)),
        }
        self.file.chmod(0o777)
        self.tcp, self.udp = (self._sockets[kind].getsockname()[1] for kind in ("tcp", "udp"))
        self._threads = [
            threading.Thread(target=self._listen, args=pair, daemon=True) for pair in self._sockets.items()
        ]
        for thread in self._threads:
            thread.start()

    def _listen(self, kind: str, listening: socket.socket) -> None:
        try:
            if kind != "udp":
                listening.accept()[0].close()
            elif not listening.recv(100):
                # Woken by the end, not by a word.
                return
            self.heard.append(kind)
        except OSError:
            pass

    def close(self) -> None:
        for one in self._sockets.values():
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()


def _bound(family: int, kind: int, address: object) -> socket.socket:
    made = socket.socket(family, kind)
    made.bind(address)  # type: ignore[arg-type]
    if kind == socket.SOCK_STREAM:
        made.listen()
    return made


async def test_no_network_and_no_socket_of_the_host_can_be_reached(
    boundary: Boundary, workspace: Path, outside: Path, postgres: str
) -> None:
    postgres_socket = Path(parse_qs(urlsplit(postgres).query)["host"][0]) / ".s.PGSQL.5432"
    assert postgres_socket.exists()
    listener = Listener(outside)
    command = python(f"""
        import socket
        def reach(name, family, kind, address, send=False):
            try:
                s = socket.socket(family, kind); s.settimeout(1)
                s.sendto(b"hello", address) if send else s.connect(address)
                print("sent" if send else "reached", name)
            except OSError as error: print(name, error)
        reach("tcp", socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", {listener.tcp}))
        reach("udp", socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", {listener.udp}), True)
        reach("abstract", socket.AF_UNIX, socket.SOCK_STREAM, "\\0{listener.abstract}")
        reach("file", socket.AF_UNIX, socket.SOCK_STREAM, {str(listener.file)!r})
        reach("postgres", socket.AF_UNIX, socket.SOCK_STREAM, {str(postgres_socket)!r})
        reach("metadata", socket.AF_INET, socket.SOCK_STREAM, ("169.254.169.254", 80))
        reach("world", socket.AF_INET, socket.SOCK_STREAM, ("192.0.2.1", 80))
        reach("dns", socket.AF_INET, socket.SOCK_DGRAM, ("192.0.2.53", 53), True)
        reach("raw", socket.AF_INET, socket.SOCK_RAW, ("127.0.0.1", 1))
        reach("packet", socket.AF_PACKET, socket.SOCK_RAW, ("lo", 0))
        reach("vsock", socket.AF_VSOCK, socket.SOCK_STREAM, (2, 1))
        try: print("reached", socket.getaddrinfo("example.org", 80))
        except OSError as error: print("name", error)
    """)
    try:
        ran = await tried(boundary, workspace, command)
    finally:
        listener.close()
    assert listener.heard == []
    assert "reached" not in ran.stdout, ran.stdout
    assert ran.stdout.count("\n") >= 11, ran.stdout + ran.stderr


async def sleeps(process: subprocess.Popen[bytes]) -> bool:
    """Whether it lives and sleeps, as soon as it has had its moment of the processor; a stopped one never does."""
    until = time.monotonic() + 20
    while process.poll() is None and time.monotonic() < until:
        if psutil.Process(process.pid).status() == psutil.STATUS_SLEEPING:
            return True
        await asyncio.sleep(0.05)
    return False


async def test_processes_of_the_host_can_be_neither_killed_nor_traced(boundary: Boundary, workspace: Path) -> None:
    user = identity_of(workspace)
    # Even one that belongs to the same user.
    victim = subprocess.Popen(["sleep", "60"], **({"user": user.uid, "group": user.gid} if user else {}))  # type: ignore[call-overload]
    command = python(f"""
        import ctypes, os, signal
        libc = ctypes.CDLL(None, use_errno=True)
        for pid in ({victim.pid}, {os.getpid()}, {os.getppid()}):
            for name, call in {{
                "stop": lambda: os.kill(pid, signal.SIGSTOP), "kill": lambda: os.kill(pid, signal.SIGKILL),
                "group": lambda: os.killpg(pid, signal.SIGKILL),
                "pidfd": lambda: signal.pidfd_send_signal(os.pidfd_open(pid), signal.SIGKILL),
                "memory": lambda: open(f"/proc/{{pid}}/mem", "rb"), "priority": lambda: os.setpriority(0, pid, 19),
            }}.items():
                try: call(); print("done", name, pid)
                except OSError as error: pass
            if libc.ptrace(16, pid, 0, 0) == 0: print("done", "ptrace", pid)
    """)
    try:
        ran = await tried(boundary, workspace, f"{command}\nkill -9 {victim.pid}")
        still = await sleeps(victim)
    finally:
        victim.kill()
        victim.wait()
    told = [line for line in ran.stdout.splitlines() if "priority" not in line]
    assert still
    assert told == []


async def test_the_kernel_offers_no_way_out(boundary: Boundary, workspace: Path) -> None:
    command = python("""
        import ctypes, os, platform
        libc = ctypes.CDLL(None, use_errno=True)
        numbers = {
            "x86_64": (165, 166, 155, 272, 308, 250, 248, 321, 298, 323, 425, 175, 161, 167),
            "aarch64": (40, 39, 41, 97, 268, 219, 217, 280, 241, 282, 425, 105, 51, 224),
        }[platform.machine()]
        buffer = ctypes.create_string_buffer(256)
        arguments = {
            "mount": (b"none", b"/tmp", b"tmpfs", 0, 0), "umount": (b"/proc", 2), "pivot_root": (b".", b"."),
            "unshare": (0x10000000,), "setns": (os.open("/usr", os.O_RDONLY), 0), "keyctl": (0, -3, 1),
            "add_key": (b"user", b"x", b"y", 1, -3), "bpf": (0, buffer, 72), "perf": (buffer, 0, -1, -1, 0),
            "userfaultfd": (0,), "io_uring": (8, buffer), "init_module": (buffer, 0, b""), "chroot": (b".",),
            "swapon": (b"/tmp/x", 0),
        }
        for number, (name, given) in zip(numbers, arguments.items(), strict=True):
            if libc.syscall(number, *given) >= 0: print("done", name)
        for flag in (0x00020000, 0x20000000, 0x40000000, 0x10020000):
            if libc.unshare(flag) == 0: print("done unshare", hex(flag))
        try: os.mknod("device", 0o20666, os.makedev(1, 1)); print("done mknod")
        except OSError: pass
        try: os.setuid(0); print("done setuid")
        except OSError: pass
        print("tried")
    """)
    ran = await tried(boundary, workspace, f"{command}\nunshare -Urm true && echo done\nsudo -n true && echo done")
    assert ran.stdout == "tried\n", ran.stdout + ran.stderr
