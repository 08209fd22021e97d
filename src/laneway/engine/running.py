"""What this process is running, and how it is ended: by a person, by a shutdown, or by a lost lease."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from enum import Enum
from uuid import UUID

from laneway.domain.job import Job
from laneway.engine.watched import Nobody, Watch


class End(Enum):
    """Why a run is being ended from outside."""

    CANCELLED = "cancelled"
    DRAINED = "drained"
    LOST = "lost"
    LATE = "late"


@dataclass
class Run:
    """One run of a job in this process; lanes reach it through `current_run()`."""

    job: Job
    worker: str
    task: asyncio.Task[object] | None = None
    end: End | None = None
    on_end: list[Callable[[], None]] = field(default_factory=list)
    calls: dict[str, int] = field(default_factory=dict)
    sources: list[str] = field(default_factory=list)
    """Whose words the run has read besides the owner's; what it says carries them on."""
    watch: Watch = field(default_factory=Nobody)
    """Whoever looks at what the run does; shown every call of a tool and of a model."""

    @property
    def epoch(self) -> int:
        return self.job.epoch

    def stop(self, end: End) -> None:
        """The run's task has been told to end and whatever it started (child processes) has been ended."""
        if self.end is None:
            self.end = end
            for callback in self.on_end:
                callback()
            if self.task is not None:
                self.task.cancel()

    def nth(self, call: str) -> int:
        """How many times this very call was made before in this run; the same in every replay."""
        self.calls[call] = self.calls.get(call, -1) + 1
        return self.calls[call]


_current: ContextVar[Run] = ContextVar("laneway_run")


def current_run() -> Run:
    """The run this code belongs to."""
    return _current.get()


class Running:
    """The runs of this process and its slots."""

    def __init__(self, slots: int, owner_slots: int) -> None:
        self._slots, self._owner_slots = slots, owner_slots
        self._claimed: dict[UUID, bool] = {}
        self._runs: dict[UUID, Run] = {}
        self.freed = asyncio.Event()
        self.draining = False
        self.paused = False

    def free(self) -> int:
        """Slots any job may take."""
        return max(0, self._slots - len(self._claimed))

    def free_for_owner(self) -> int:
        """Slots the owner's jobs may take: the free ones and those reserved for the owner."""
        spare = self._slots + self._owner_slots - len(self._claimed)
        # Jobs taken over from others may have filled every slot; the reserve is the owner's all the same.
        reserve = self._owner_slots - sum(self._claimed.values())
        return max(0, spare, reserve)

    def claimed(self, job: Job) -> None:
        self._claimed[job.id] = job.first

    def release(self, job_id: UUID) -> None:
        self._claimed.pop(job_id, None)
        self.freed.set()

    @contextmanager
    def running(self, run: Run) -> Iterator[None]:
        """The run is known here while the block lasts; afterwards its slot is free."""
        run.task = asyncio.current_task()
        self._claimed[run.job.id] = run.job.first
        self._runs[run.job.id] = run
        token = _current.set(run)
        try:
            yield
        finally:
            _current.reset(token)
            # A later run of the same job may have registered itself meanwhile.
            if self._runs.get(run.job.id) is run:
                del self._runs[run.job.id]
                self.release(run.job.id)

    def release_all_but(self, mine: set[UUID]) -> None:
        """Slots held for jobs that others have taken meanwhile are free."""
        for job_id in set(self._claimed) - set(self._runs) - mine:
            self.release(job_id)

    def known(self) -> set[UUID]:
        """The jobs that are running in this process."""
        return set(self._runs)

    def stop(self, job_id: UUID, end: End) -> bool:
        """The job's run has been told to end; False if it does not run here."""
        run = self._runs.get(job_id)
        if run is not None:
            run.stop(end)
        return run is not None

    def stop_all(self, end: End) -> None:
        for run in list(self._runs.values()):
            run.stop(end)

    def drain(self) -> None:
        """Nothing new is taken, and runs end at their next step."""
        self.draining = True
        self.freed.set()

    def __len__(self) -> int:
        return len(self._runs)
