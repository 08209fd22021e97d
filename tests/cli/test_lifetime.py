"""A server that has started answers soon: neither what it has loaded nor its threads hold up its event loop."""

from __future__ import annotations

import subprocess
import sys

import pytest

SETTLED = """
import asyncio, gc, sys, threading
import laneway.cli
from laneway.cli.lifetime import settle

asyncio.run(settle())
assert gc.get_freeze_count() > 10_000, "what was loaded is not looked through again"
before = gc.get_freeze_count()
later = [[] for _ in range(1000)]
gc.collect()
assert gc.get_freeze_count() >= before + 1000, "nor what the first requests load"

async def rounds():
    # Each round is a call of the kernel, after which the thread that computes must give way.
    began = asyncio.get_running_loop().time()
    for _ in range(20):
        await asyncio.sleep(0.0001)
    return asyncio.get_running_loop().time() - began

over = threading.Event()
def compute():
    while not over.is_set():
        sum(range(1000))
threading.Thread(target=compute).start()
took = min(asyncio.run(rounds()) for _ in range(10))
over.set()
assert took < 0.08, took
"""


@pytest.mark.alone
def test_neither_what_is_loaded_nor_a_thread_that_computes_holds_up_the_loop() -> None:
    ran = subprocess.run([sys.executable, "-c", SETTLED], capture_output=True, text=True, check=False, timeout=120)
    assert ran.returncode == 0, ran.stderr
