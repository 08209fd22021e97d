"""Says that this worker is alive, notices that others are not, and that we ourselves were given up."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import socket
import time
from pathlib import Path

import psutil

from laneway.engine.faults import FAULTS, ended
from laneway.engine.recovery import Recovery
from laneway.engine.running import End, Running
from laneway.store import approvals, housekeeping, ledger, workers
from laneway.store.database import Connection, Database

TIDY_SECONDS = 3600.0

_log = logging.getLogger("laneway.engine.heartbeat")


class Heartbeat:
    """One beat every three seconds; each beat also looks after what others left behind."""

    def __init__(self, db: Database, worker: str, running: Running, recovery: Recovery, keep_days: int) -> None:
        self._db, self._worker, self._running, self._recovery = db, worker, running, recovery
        self._host, self._keep_days = this_machine(), keep_days
        self._tidied_at = self._beat_at = self._steady_since = time.monotonic()

    async def begin(self, slots: int, version: str) -> None:
        """This worker is known; dead ones of this machine are known to be dead, and their jobs taken over."""
        born = psutil.Process().create_time()
        async with self._db.transaction() as tx:
            await workers.register(tx, self._worker, self._host, os.getpid(), born, version, slots)
            await self._bury_neighbours(tx)
        await self._recovery.take_over()

    async def keep_beating(self) -> None:
        """Runs until cancelled."""
        while not ended():
            await asyncio.sleep(workers.BEAT_SECONDS)
            try:
                await self._beat()
            except FAULTS as error:
                _log.warning("No heartbeat: %s", error)

    async def _beat(self) -> None:
        async with self._db.transaction() as tx:
            known = await workers.beat(tx, self._worker)
        now = time.monotonic()
        if now - self._beat_at > workers.SILENCE_SECONDS / 2:
            # While the database or this machine was away nobody could beat: others get their time anew.
            self._steady_since = now
        self._beat_at = now
        if not known:
            await self._come_back()
        async with self._db.transaction() as tx:
            await self._bury_neighbours(tx)
            if now - self._steady_since >= workers.SILENCE_SECONDS:
                for gone in await workers.declare_silent_ones_gone(tx):
                    _log.warning("Worker %s has gone silent; its jobs are taken over.", gone)
            await approvals.expire(tx)
            await ledger.cut_overdue(tx)
            if time.monotonic() - self._tidied_at > TIDY_SECONDS:
                self._tidied_at = time.monotonic()
                await housekeeping.tidy(tx, self._keep_days)
        await self._recovery.take_over()
        for job_id in await self._recovery.told_to_stop():
            self._running.stop(job_id, End.CANCELLED)
        self._running.release_all_but(await self._recovery.take_back(self._running.known()))

    async def _bury_neighbours(self, tx: Connection) -> None:
        """Workers of this machine whose process is gone are known to be gone, without waiting for their silence."""
        for other in await workers.alive(tx):
            if other.host == self._host and other.id != self._worker and not _lives(other.pid, other.born):
                _log.warning("Worker %s on this machine has died; its jobs are taken over.", other.id)
                await workers.leave(tx, other.id)

    async def _come_back(self) -> None:
        """Others gave us up and took our jobs: let go of every run, then start afresh as a worker."""
        _log.warning("This worker was declared gone; it lets go of its %d runs.", len(self._running))
        self._running.paused = True
        self._running.stop_all(End.LOST)
        while len(self._running):
            await asyncio.sleep(0.05)
        async with self._db.transaction() as tx:
            await workers.rejoin(tx, self._worker)
        self._running.paused = False
        # Whoever came while nothing was taken here has been told of already, and would not be told of again.
        self._running.freed.set()


def this_machine() -> str:
    """What tells this machine, this boot and this container's processes from all others."""
    parts = [socket.gethostname()]
    for path in ("/etc/machine-id", "/proc/sys/kernel/random/boot_id"):
        with contextlib.suppress(OSError):
            parts.append(Path(path).read_text(encoding="ascii").strip())
    with contextlib.suppress(OSError):
        parts.append(str(Path("/proc/self/ns/pid").stat().st_ino))
    return "/".join(parts)


def _lives(pid: int, born: float) -> bool:
    try:
        return abs(psutil.Process(pid).create_time() - born) < 1.0 and psutil.Process(pid).status() != "zombie"
    except psutil.NoSuchProcess:
        return False
    except psutil.AccessDenied:
        return True
