"""What earlier runs gave, in full: for runs that look back, and for replays of recorded ones."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Any
from uuid import UUID

from laneway.domain.workflow_run import RecordedRun, WorkflowRun
from laneway.errors import NotFound
from laneway.lanes.workflow.looking_back import looked_at
from laneway.lanes.workflow.recording import on_shelf
from laneway.store import workflow_nodes, workflow_runs
from laneway.store.artifacts import Artifacts, ShelfDown
from laneway.store.database import Connection, Database

MOST_READ = 32 * 1024 * 1024
"""Bytes of large outputs that are read for all replays of one preview."""
Outputs = dict[UUID, dict[str, Any]]


class Remembering:
    """Reads what lies on the shelf because it is too large for a row."""

    def __init__(self, originals: Artifacts) -> None:
        self._originals = originals

    async def previous(self, db: Database, run: WorkflowRun) -> dict[str, Any]:
        """What the nodes of the run before gave; in full, where the workflow looks at it."""
        if run.previous_id is None:
            return {}
        async with db.transaction() as tx:
            found = (await workflow_nodes.outputs(tx, [run.previous_id])).get(run.previous_id, {})
            shelved = await workflow_nodes.shelved(tx, [run.previous_id])
        # Nobody's row is held while a shelf takes its time.
        wanted = looked_at(run.document)
        for _, node, ref, _ in [one for one in shelved if one[1] in wanted]:
            try:
                found[node] = await on_shelf(ref, self._originals)
            except NotFound:
                del found[node]
        return found

    async def recorded(self, tx: Connection, workflow_id: UUID, newest: int) -> list[RecordedRun]:
        """The newest runs that really ran; what is too much to be read is not among what their nodes gave."""
        runs, before = await workflow_runs.recorded(tx, workflow_id, newest)
        outputs = await workflow_nodes.outputs(tx, [*dict.fromkeys([*(run.id for run in runs), *before.values()])])
        await self._in_full(tx, outputs)
        gave = {run.id: outputs.get(before[run.id], {}) for run in runs if run.id in before}
        return [replace(run, outputs=outputs.get(run.id, {}), previous=gave.get(run.id, {})) for run in runs]

    async def _in_full(self, tx: Connection, found: Outputs) -> None:
        """Likenesses of large outputs are what they are like; one that cannot be read now is no longer there."""
        left = MOST_READ
        for run_id, node, ref, size in await workflow_nodes.shelved(tx, list(found)):
            del found[run_id][node]
            if size > left:
                continue
            left -= size
            with suppress(NotFound, ShelfDown):
                found[run_id][node] = await on_shelf(ref, self._originals, tx)
