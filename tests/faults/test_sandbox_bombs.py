"""Commands that try to use up the machine, each on every boundary; each stays small and is ended."""

# ruff: noqa: ASYNC221, ASYNC240  nobody else waits for this loop

from __future__ import annotations

import asyncio
import subprocess
from pathlib import Path
from uuid import uuid4

import pytest

from laneway.sandbox.contract import MEGABYTE, Boundary, Killed
from tests.sandboxing import SMALL, alive_with, limited, none_alive_with, python, tried


@pytest.mark.fault  # Behind landlock without root, processes of other tests would count, until they end.
async def test_a_fork_bomb_stays_small_and_dies(boundary: Boundary, workspace: Path) -> None:
    marker = f"sleep 7{uuid4().int % 10**9}"
    bomb = f"bomb() {{ {marker} & bomb | bomb & }}; bomb; wait; sleep 20"
    running = asyncio.create_task(tried(boundary, workspace, bomb, limited(seconds=2)))
    most = 0
    while not running.done():
        # Every process of the bomb has the marker in its command line, and nobody else's has.
        most = max(most, len(alive_with(marker)))
        await asyncio.sleep(0.05)
    ran = await running
    assert ran.killed_because in (Killed.TIMEOUT, Killed.MEMORY) or ran.exit_code is not None
    assert most < SMALL.processes + 20
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
    "bit by bit": """
        x = []
        while True: x.append(bytearray(10**7))
    """,
    "shared memory": """
        import mmap
        x = mmap.mmap(-1, 10**9)
        while True: x.write(b"x" * 10**7)
    """,
    "many processes": """
        import os, time
        for _ in range(8):
            if os.fork() == 0:
                x = bytearray(b"x") * 10**8
                time.sleep(30)
                os._exit(0)
        for _ in range(8):
            if os.wait()[1]: os._exit(1)
    """,
    "temporary files": """
        import os, time
        for number in range(400):
            with open(os.environ.get("TMPDIR", "/tmp") + f"/{number}", "wb") as file: file.write(b"x" * 10**6)
        time.sleep(30)
    """,
}


@pytest.mark.parametrize("bomb", MEMORY_BOMBS)
async def test_a_memory_bomb_is_defused(boundary: Boundary, workspace: Path, bomb: str) -> None:
    ran = await tried(boundary, workspace, python(MEMORY_BOMBS[bomb]), limited(seconds=20))
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
    "closed folders": python("""
        import os, time
        os.mkdir("d")
        files = [open(f"d/{n}", "wb") for n in range(4)]
        os.chmod("d", 0)
        for file in files: file.write(bytes(15 * 10**6)); file.flush()
        time.sleep(30)
    """),
    "deep folders": python("""
        import os, time
        for n in range(300): os.mkdir("d" * 100); os.chdir("d" * 100)
        time.sleep(30)
    """),
}


HIDDEN = {"deep folders", "closed folders"}


@pytest.mark.parametrize("filler", DISK_FILLERS)
async def test_the_disk_cannot_be_filled(boundary: Boundary, workspace: Path, filler: str) -> None:
    ran = await tried(boundary, workspace, DISK_FILLERS[filler], limited(seconds=20))
    assert ran.seconds < 20
    assert ran.killed_because in (Killed.DISK, Killed.MEMORY) or ran.exit_code != 0, ran
    size = sum(path.lstat().st_blocks * 512 for path in workspace.rglob("*")) if filler not in HIDDEN else 0
    assert size < 600 * MEGABYTE
    subprocess.run(["chmod", "-R", "u+rwX", str(workspace)], check=True)
    subprocess.run(["rm", "-rf", str(workspace)], check=True)


async def test_a_flood_of_output_is_cut_and_its_ends_are_kept(boundary: Boundary, workspace: Path) -> None:
    ran = await tried(boundary, workspace, "echo first; yes flood")
    assert ran.killed_because is Killed.OUTPUT
    assert ran.stdout.startswith("first\nflood\n")
    assert ran.stdout.endswith(("flood\n", "flood", "floo", "flo", "fl", "f"))
    assert len(ran.stdout) + len(ran.stderr) <= MEGABYTE + 100
    assert ran.left_out > 3 * MEGABYTE
