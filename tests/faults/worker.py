"""A worker in a process of its own, which lives until it is told to end or dies where it is told to."""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
import os
import re
import signal
from dataclasses import dataclass, field
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any

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
    settings: dict[str, Any] = field(default_factory=dict)


def started(orders: Orders) -> ForkServerProcess:
    """The worker's process, begun."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.faults.worker"])
    child = context.Process(target=live, args=(orders,), daemon=True)
    child.start()
    return child


def kill(worker: ForkServerProcess) -> None:
    worker.kill()
    worker.join(10)


def live(orders: Orders) -> None:
    logging.getLogger("laneway").setLevel(logging.CRITICAL)
    asyncio.run(_live(orders))


async def _live(orders: Orders) -> None:
    ended = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, ended.set)
    settings = Settings(
        home=Path(orders.home), database_url=SecretStr(orders.database_url), retry_seconds=0.1, local_classifier=False,
        **orders.settings,
    )  # fmt: skip

    def boundary(name: str) -> None:
        if orders.die_at is not None and re.fullmatch(orders.die_at, name):
            os.kill(os.getpid(), signal.SIGKILL)

    async with running(settings, Parts(models=lambda db: only(OfflineModel(), db), boundary=boundary)):
        await ended.wait()
