"""A worker in a process of its own that changes workflows, and dies where it is told to."""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
import os
import re
import signal
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.context import ForkServerProcess
from pathlib import Path

from pydantic import SecretStr

from laneway.app import Parts, running
from laneway.llm.offline import OfflineModel
from laneway.llm.single import only
from laneway.settings import Settings


@dataclass(frozen=True)
class Orders:
    """What the worker needs to know; at the boundary `die_at`, a pattern, it ends as if the power had failed."""

    database_url: str
    home: str
    die_at: str | None = None


def started(orders: Orders) -> ForkServerProcess:
    """The worker's process, begun."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.faults.patch_worker"])
    child = context.Process(target=live, args=(orders,), daemon=True)
    child.start()
    return child


def live(orders: Orders) -> None:
    logging.getLogger("laneway").setLevel(logging.CRITICAL)
    asyncio.run(_live(orders))


async def _live(orders: Orders) -> None:
    ended = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, ended.set)
    settings = Settings(
        home=Path(orders.home), database_url=SecretStr(orders.database_url), retry_seconds=0.1, local_classifier=False
    )
    parts = Parts(models=lambda db: only(OfflineModel(), db), boundary=_dying(orders.die_at))
    async with running(settings, parts):
        await ended.wait()


def _dying(at: str | None) -> Callable[[str], None]:
    def boundary(name: str) -> None:
        if at is not None and re.fullmatch(at, name):
            os.kill(os.getpid(), signal.SIGKILL)

    return boundary
