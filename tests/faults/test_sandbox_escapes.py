"""Ways out of the sandbox, each tried on every boundary of this machine; none of them leads anywhere.

What is to be protected is open to everybody on the machine (mode 0777), so that only the boundary can keep it.
"""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit
from uuid import uuid4

import psutil
import pytest

from laneway.sandbox.boundary import Wanted
from laneway.sandbox.contract import MEGABYTE, Boundary, Killed, Limits, Ran
from laneway.sandbox.identity import hand_over, identity_of
from tests.sandboxing import (
    NAMES,
    SMALL,
    alive_with,
    boundary_called,
    none_alive_with,
    open_folder,
    python,
    until_alive,
)

SECRET = f"lw_{uuid4().hex}"


@pytest.fixture(params=NAMES)
async def boundary(request: pytest.FixtureRequest) -> AsyncIterator[Boundary]:
    name: Wanted = request.param
    yield await boundary_called(name)


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "home" / "workspaces" / "thread"
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def outside() -> Iterator[Path]:
    """A folder of somebody else's, with a file, a secret and no walls of its own."""
    with open_folder() as folder:
        (folder / "secret").write_text(SECRET)
        (folder / "victim").write_text("untouched")
        for path in folder.iterdir():
            path.chmod(0o666)
        yield folder


async def tried(boundary: Boundary, workspace: Path, command: str, limits: Limits = SMALL) -> Ran:
    return await boundary.run(command, workspace=workspace, limits=limits)


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
    return any(path.name.startswith(marker) for path in folder.iterdir())


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
        os.makedirs("real", exist_ok=True); open("real/victim", "w").write("mine"); open("real/secret", "w").write("mine")
        os.symlink({str(outside)!r}, "evil")
        until, told = time.time() + 1.0, set()
        def swap():
            while time.time() < until:
                try:
                    os.rename("real", "held"); os.rename("evil", "real"); os.rename("real", "evil"); os.rename("held", "real")
                except OSError: pass
        def use():
            while time.time() < until:
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
            with_shutdown(one)


def _bound(family: int, kind: int, address: object) -> socket.socket:
    made = socket.socket(family, kind)
    made.bind(address)  # type: ignore[arg-type]
    if kind == socket.SOCK_STREAM:
        made.listen()
    return made


def with_shutdown(one: socket.socket) -> None:
    try:
        one.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass
    one.close()


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


async def test_a_fork_bomb_stays_small_and_dies(boundary: Boundary, workspace: Path) -> None:
    marker = f"sleep 7{uuid4().int % 10**9}"
    bomb = f"bomb() {{ {marker} & bomb | bomb & }}; bomb; wait; sleep 20"
    running = asyncio.create_task(tried(boundary, workspace, bomb, _limited(seconds=2)))
    most = 0
    while not running.done():
        most = max(most, len(psutil.pids()))
        await asyncio.sleep(0.1)
    ran = await running
    assert ran.killed_because in (Killed.TIMEOUT, Killed.MEMORY) or ran.exit_code is not None
    assert most < len(psutil.pids()) + 2 * SMALL.processes + 20
    assert await none_alive_with(marker)


async def test_a_bomb_of_threads_stays_small(boundary: Boundary, workspace: Path) -> None:
    command = python("""
        import threading, time
        made = 0
        try:
            for made in range(5000): threading.Thread(target=time.sleep, args=(5,), daemon=True).start()
        except RuntimeError: pass
        print("made", made, flush=True)
        import os; os._exit(0)
    """)
    ran = await tried(boundary, workspace, command)
    made = int(ran.stdout.split()[1]) if ran.stdout else 0
    assert ran.killed_because is Killed.MEMORY or made < 6 * SMALL.processes, ran.stdout


MEMORY_BOMBS = {
    "one process": "x = bytearray(2 * 10**9)",
    "bit by bit": "x = []\nwhile True: x.append(bytearray(10**7))",
    "shared memory": "import mmap, time\nx = mmap.mmap(-1, 10**9)\nwhile True: x.write(b'x' * 10**7)",
    "many processes": "import os, time\nfor _ in range(8):\n    if os.fork() == 0:\n        x = bytearray(b'x') * 10**8; time.sleep(30); os._exit(0)\n"
    "for _ in range(8):\n    if os.wait()[1]: os._exit(1)",
    "temporary files": "import os\nfor n in range(400):\n    f = open(os.environ.get('TMPDIR', '/tmp') + f'/{n}', 'wb')\n    f.write(b'x' * 10**6)",
}  # fmt: skip


@pytest.mark.parametrize("bomb", MEMORY_BOMBS)
async def test_a_memory_bomb_is_defused(boundary: Boundary, workspace: Path, bomb: str) -> None:
    ran = await tried(boundary, workspace, python(MEMORY_BOMBS[bomb]), _limited(seconds=20))
    assert ran.seconds < 20
    assert ran.killed_because in (Killed.MEMORY, Killed.DISK) or ran.exit_code != 0, ran


DISK_FILLERS = {
    "one file": "dd if=/dev/zero of=big bs=1M count=2000",
    "many files": "for n in $(seq 200); do dd if=/dev/zero of=f$n bs=1M count=2 status=none; done; sleep 30",
    "empty files": python("""
        import time
        for n in range(5000): open(f"f{n}", "w").close()
        time.sleep(30)
    """),
    "deleted files": python("""
        import os, time
        files = []
        for n in range(40):
            f = open(f"x{n}", "wb"); os.unlink(f"x{n}"); f.write(bytes(4 * 10**6)); f.flush(); files.append(f)
            time.sleep(0.02)
        time.sleep(30)
    """),
    "mapped and deleted": python("""
        import mmap, os, time
        maps = []
        for n in range(40):
            f = open(f"x{n}", "w+b"); f.truncate(4 * 10**6); m = mmap.mmap(f.fileno(), 0); m.write(b"x" * 4 * 10**6)
            os.unlink(f"x{n}"); f.close(); maps.append(m); time.sleep(0.02)
        time.sleep(30)
    """),
    "deep folders": python("""
        import os, time
        for n in range(300): os.mkdir("d" * 100); os.chdir("d" * 100)
        time.sleep(30)
    """),
}


@pytest.mark.parametrize("filler", DISK_FILLERS)
async def test_the_disk_cannot_be_filled(boundary: Boundary, workspace: Path, filler: str) -> None:
    ran = await tried(boundary, workspace, DISK_FILLERS[filler], _limited(seconds=20))
    assert ran.seconds < 20
    assert ran.killed_because in (Killed.DISK, Killed.MEMORY) or ran.exit_code != 0, ran
    size = sum(path.lstat().st_blocks * 512 for path in workspace.rglob("*")) if filler != "deep folders" else 0
    assert size < 600 * MEGABYTE
    subprocess.run(["rm", "-rf", str(workspace)], check=True)


async def test_a_flood_of_output_is_cut_and_its_ends_are_kept(boundary: Boundary, workspace: Path) -> None:
    ran = await tried(boundary, workspace, "echo first; yes flood")
    assert ran.killed_because is Killed.OUTPUT
    assert ran.stdout.startswith("first\nflood\n")
    assert ran.stdout.endswith(("flood\n", "flood", "floo", "flo", "fl", "f"))
    assert len(ran.stdout) + len(ran.stderr) <= MEGABYTE + 100
    assert ran.left_out > 3 * MEGABYTE


def stubborn(marker: str) -> str:
    """Children that ignore TERM, go to a session of their own, become daemons; each with this marker."""
    return f"""
        (trap '' TERM HUP INT; exec {marker}1) &
        (setsid setsid bash -c "trap '' TERM; {marker}2; true" &) &
        nohup {marker}3 >/dev/null 2>&1 &
    """ + python(f"""
        import os, signal
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                for number in (signal.SIGTERM, signal.SIGHUP): signal.signal(number, signal.SIG_IGN)
                null = os.open("/dev/null", os.O_RDWR)
                for fd in (0, 1, 2): os.dup2(null, fd)
                os.execlp(*{marker.split()[:1]!r}, *{[*marker.split()[:-1], marker.split()[-1] + "4"]!r})
            os._exit(0)
    """)


@pytest.fixture
def marker() -> str:
    return f"sleep 8{uuid4().int % 10**8}"


async def test_nothing_outlives_its_command(boundary: Boundary, workspace: Path, marker: str) -> None:
    ran = await tried(boundary, workspace, f"{stubborn(marker)} sleep 0.3; echo done")
    assert (ran.exit_code, ran.stdout) == (0, "done\n")
    assert await none_alive_with(marker)


async def test_nothing_outlives_its_time(boundary: Boundary, workspace: Path, marker: str) -> None:
    ran = await tried(boundary, workspace, f"{stubborn(marker)} wait; {marker}5", _limited(seconds=1.5))
    assert ran.killed_because is Killed.TIMEOUT
    assert await none_alive_with(marker)


async def test_nothing_outlives_being_stopped(boundary: Boundary, workspace: Path, marker: str) -> None:
    stops: list[object] = []

    def on_stop(end: object) -> object:
        stops.append(end)
        return lambda: stops.remove(end)

    running = asyncio.create_task(
        boundary.run(f"{stubborn(marker)} {marker}5", workspace=workspace, limits=SMALL, on_stop=on_stop)  # type: ignore[arg-type]
    )
    await until_alive(marker, 5)
    began = time.monotonic()
    stops[0]()  # type: ignore[operator]
    ran = await running
    assert ran.killed_because is Killed.STOPPED
    assert time.monotonic() - began < 1
    assert await none_alive_with(marker, 1 - (time.monotonic() - began))
    assert stops == []


async def test_nothing_outlives_a_cancelled_job(boundary: Boundary, workspace: Path, marker: str) -> None:
    running = asyncio.create_task(tried(boundary, workspace, f"{stubborn(marker)} {marker}5"))
    await until_alive(marker, 5)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert await none_alive_with(marker)


async def test_nothing_outlives_a_killed_server(boundary: Boundary, workspace: Path, marker: str) -> None:
    program = (
        "import asyncio, sys; from pathlib import Path; from tests.sandboxing import boundary_called, SMALL\n"
        "async def main():\n"
        f"    b = await boundary_called({boundary.name!r})\n"
        "    await b.run(sys.argv[1], workspace=Path(sys.argv[2]), limits=SMALL)\n"
        "asyncio.run(main())"
    )
    command = f"{stubborn(marker)} {marker}5"
    server = subprocess.Popen(
        [sys.executable, "-c", program, command, str(workspace)], cwd=Path(__file__).parents[2],
        env={"PATH": os.environ["PATH"], "PYTHONPATH": ".:src"},
    )  # fmt: skip
    try:
        await until_alive(f"{marker}5", 1)
        await until_alive(marker, 5)
    finally:
        server.kill()
        server.wait()
    assert await none_alive_with(marker, 2), alive_with(marker)


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
        still = victim.poll() is None and psutil.Process(victim.pid).status() == psutil.STATUS_SLEEPING
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
            "x86_64": dict(mount=165, umount=166, pivot_root=155, unshare=272, setns=308, keyctl=250, add_key=248, bpf=321,
                           perf=298, userfaultfd=323, io_uring=425, init_module=175, chroot=161, swapon=167, clone3=435),
            "aarch64": dict(mount=40, umount=39, pivot_root=41, unshare=97, setns=268, keyctl=219, add_key=217, bpf=280,
                            perf=241, userfaultfd=282, io_uring=425, init_module=105, chroot=51, swapon=224, clone3=435),
        }[platform.machine()]
        buffer = ctypes.create_string_buffer(256)
        arguments = {
            "mount": (b"none", b"/tmp", b"tmpfs", 0, 0), "umount": (b"/proc", 2), "pivot_root": (b".", b"."),
            "unshare": (0x10000000,), "setns": (os.open("/usr", os.O_RDONLY), 0), "keyctl": (0, -3, 1),
            "add_key": (b"user", b"x", b"y", 1, -3), "bpf": (0, buffer, 72), "perf": (buffer, 0, -1, -1, 0),
            "userfaultfd": (0,), "io_uring": (8, buffer), "init_module": (buffer, 0, b""), "chroot": (b".",),
            "swapon": (b"/tmp/x", 0),
        }
        for name, given in arguments.items():
            if libc.syscall(numbers[name], *given) >= 0: print("done", name)
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


def _limited(seconds: float) -> Limits:
    from dataclasses import replace

    return replace(SMALL, seconds=seconds)
