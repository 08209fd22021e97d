"""Takes back what a job did to its workspace: every path it changed, as it was before the first change."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

from laneway.domain.conversation import Principal
from laneway.domain.files import FileChange
from laneway.domain.job import FINAL, Job, JobStatus
from laneway.errors import Conflict
from laneway.lanes.tools.snapshots import Snapshots
from laneway.sandbox.paths import workspaces_of
from laneway.sandbox.restore import Restoration, Restored, Wish
from laneway.store import jobs, undo
from laneway.store.database import Database
from laneway.store.undo import shown


@dataclass(frozen=True, slots=True)
class Undone:
    """What an undoing did: by path what was done, and by path why nothing was."""

    job_id: UUID
    restored: dict[str, str]
    refused: dict[str, str]


class Undo:
    """Undoes jobs whose workspaces are below this data directory."""

    def __init__(self, db: Database, home: Path) -> None:
        self._db, self._home = db, home
        self._snapshots = Snapshots(db, home)

    async def undo(self, job_id: UUID, by: Principal) -> Undone:
        """What the job changed is as it was, except for what changed since; the job's events say so."""
        async with self._db.transaction() as tx:
            job = await jobs.get(tx, job_id)
            _check_ended(job, await jobs.open_in_thread(tx, job.thread_id))
        workspace = self._workspace(job)
        async with self._snapshots.locked(job.thread_id):
            await self._snapshots.settle(job.thread_id, workspace)
            changes = await self._open_changes(job)
            outcome = await asyncio.to_thread(Restoration(workspace, self._snapshots.copies).run, wishes(changes))
            await self._explain(job, changes, outcome)
            undone = [one.id for one in changes if one.change.path in outcome.done]
            async with self._db.transaction() as tx:
                await undo.finish(tx, job, by, undone, outcome.done, outcome.refused)
        return Undone(job.id, _shown(outcome.done), _shown(outcome.refused))

    async def told(self, job_id: UUID, by: Principal) -> str:
        """The job is undone, and what that did is returned in words."""
        undone = await self.undo(job_id, by)
        lines = [f"{path}: {what}" for path, what in undone.restored.items()]
        left = [f"{path}: left alone, {why}" for path, why in undone.refused.items()]
        return "\n".join(["Undone." if lines else "Nothing was undone.", *lines, *left])

    def _workspace(self, job: Job) -> Path:
        folder = workspaces_of(self._home) / str(job.thread_id)
        if not folder.is_dir():
            raise Conflict(
                f"The workspace of job {job.id} is not here.",
                hint="It never had one, it was removed, or it is on the machine of another worker.",
            )
        return folder.resolve()

    async def _open_changes(self, job: Job) -> list[FileChange]:
        """The changes that were not taken back yet; Conflict if there are none."""
        async with self._db.transaction() as tx:
            changes = await undo.of_job(tx, job.id)
            before = await undo.last_undone(tx, job.id)
        still = [one for one in changes if one.undone_at is None]
        if still:
            return still
        if before is not None:
            raise Conflict(f"Job {job.id} was undone already, at {before:%Y-%m-%d %H:%M} UTC.")
        raise Conflict(f"Job {job.id} changed no file, or what it changed is no longer on record.")

    async def _explain(self, job: Job, changes: Sequence[FileChange], outcome: Restored) -> None:
        """Where another job changed a path since, the reason says which."""
        async with self._db.transaction() as tx:
            last = max(one.id for one in changes)
            others = await undo.later_jobs(tx, job.thread_id, last, list(outcome.refused))
        for path, other in others.items():
            if other != job.id:
                outcome.refused[path] += f" (by job {other}: undo that first)"


def wishes(changes: Sequence[FileChange]) -> dict[str, Wish]:
    """By path: what was before the change that began first, and what was after the one that ended last."""
    first: dict[str, FileChange] = {}
    last: dict[str, FileChange] = {}
    for one in changes:
        path = one.change.path
        if path not in first or one.began < first[path].began:
            first[path] = one
        last[path] = one
    return {path: Wish(first[path].change.before, last[path].change.after) for path in first}


def _check_ended(job: Job, others: Sequence[Job]) -> None:
    """Returns only if nobody is at work in the workspace."""
    if job.status not in FINAL:
        raise Conflict(f"Job {job.id} is {job.status}.", hint=f"Wait for its end, or stop it: `laneway stop {job.id}`.")
    at_work = [other.id for other in others if other.status is JobStatus.RUNNING]
    if at_work:
        raise Conflict(
            f"Job {at_work[0]} is at work in the same workspace.",
            hint=f"Wait for its end, or stop it: `laneway stop {at_work[0]}`.",
        )


def _shown(paths: dict[str, str]) -> dict[str, str]:
    return {shown(path): told for path, told in sorted(paths.items())}
