"""What happened at each node of a run: written when it begins, retries, waits and ends."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from laneway.domain.workflow_run import NodeRecord, NodeStatus
from laneway.store.database import Connection
from laneway.store.json_columns import in_order
from laneway.store.rows import Rows, columns

_COLUMNS = columns(NodeRecord)
KEPT_RUNS = 1000
"""So many of the newest runs of a workflow keep what their nodes gave, however old they are."""
MOST_SOURCES = 50
"""So many of those whose words a run has read are told."""


async def begin(tx: Connection, run_id: UUID, node: str, visit: int, kind: str) -> NodeRecord:
    """The visit is on record as running; one that was begun before goes on with the attempts it had."""
    found = await Rows(tx, NodeRecord).fetch_one(
        "INSERT INTO workflow_nodes (run_id, node, visit, type, status) VALUES (%s, %s, %s, %s, 'running') "
        "ON CONFLICT (run_id, node, visit) DO UPDATE SET "
        "status = CASE WHEN workflow_nodes.status = 'retrying' THEN 'running' ELSE workflow_nodes.status END, "
        "attempts = workflow_nodes.attempts + CASE WHEN workflow_nodes.status = 'retrying' THEN 1 ELSE 0 END "
        f"RETURNING {_COLUMNS}",
        (run_id, node, visit, kind),
    )
    assert found is not None
    return found


async def given(tx: Connection, record: NodeRecord, shown: Any, sources: Sequence[str]) -> None:
    """What the node works on is on record, without secrets, and whose words are in it."""
    await tx.execute(
        "UPDATE workflow_nodes SET input = %s, sources = %s WHERE run_id = %s AND node = %s AND visit = %s",
        (in_order(shown), list(sources), record.run_id, record.node, record.visit),
    )


async def retry(tx: Connection, record: NodeRecord, error: dict[str, Any], again_at: datetime) -> NodeRecord:
    """The node failed this time and is tried again then."""
    return await _set(tx, record, status=NodeStatus.RETRYING, error=Jsonb(error), again_at=again_at)


async def wait(tx: Connection, record: NodeRecord, waits: dict[str, Any], again_at: datetime | None) -> NodeRecord:
    """The node waits for this, and is looked at again then at the latest; an event that came meanwhile stays."""
    found = await Rows(tx, NodeRecord).fetch_one(
        "UPDATE workflow_nodes SET status = 'waiting', waits = %s || CASE WHEN waits ? 'came' "
        "THEN jsonb_build_object('came', waits->'came') ELSE '{}' END, "
        "again_at = CASE WHEN waits ? 'came' THEN again_at ELSE %s END "
        f"WHERE run_id = %s AND node = %s AND visit = %s RETURNING {_COLUMNS}",
        (Jsonb(waits), again_at, record.run_id, record.node, record.visit),
    )
    assert found is not None
    return found


async def done(
    tx: Connection, record: NodeRecord, output: Any, ref: str | None, taken: Sequence[int], sources: Sequence[str]
) -> NodeRecord:
    """The node has given this, and these edges are followed."""
    return await _set(
        tx, record, status=NodeStatus.DONE, output=in_order(output), ref=ref, taken=list(taken), sources=list(sources),
        error=None, again_at=None, ended_at="now",
    )  # fmt: skip


async def failed(
    tx: Connection, record: NodeRecord, error: dict[str, Any], output: Any, taken: Sequence[int],
    sources: Sequence[str] = (),
) -> NodeRecord:  # fmt: skip
    """The node has failed for good; its edges for errors, if it has any, are followed."""
    return await _set(
        tx, record, status=NodeStatus.FAILED, error=Jsonb(error), output=in_order(output), taken=list(taken),
        sources=list(sources), again_at=None, ended_at="now",
    )  # fmt: skip


async def pin(
    tx: Connection, run_id: UUID, node: str, visit: int, kind: str, output: Any, taken: Sequence[int]
) -> NodeRecord:
    """The node has what a test gave for it; nothing was done."""
    found = await Rows(tx, NodeRecord).fetch_one(
        "INSERT INTO workflow_nodes (run_id, node, visit, type, status, output, taken, pinned, ended_at) "
        "VALUES (%s, %s, %s, %s, 'done', %s, %s, true, now()) "
        f"ON CONFLICT (run_id, node, visit) DO UPDATE SET pinned = true RETURNING {_COLUMNS}",
        (run_id, node, visit, kind, in_order(output), list(taken)),
    )
    assert found is not None
    return found


async def of_run(tx: Connection, run_id: UUID) -> list[NodeRecord]:
    """Every visit of the run, in the order they began."""
    return await Rows(tx, NodeRecord).fetch_all(
        f"SELECT {_COLUMNS} FROM workflow_nodes WHERE run_id = %s ORDER BY seq", (run_id,)
    )


async def one(tx: Connection, run_id: UUID, node: str, visit: int) -> NodeRecord | None:
    return await Rows(tx, NodeRecord).fetch_one(
        f"SELECT {_COLUMNS} FROM workflow_nodes WHERE run_id = %s AND node = %s AND visit = %s",
        (run_id, node, visit),
    )


async def page(tx: Connection, run_id: UUID, *, limit: int, after: int) -> list[tuple[int, NodeRecord]]:
    """Visits of the run in the order they began, each with its number; `after` is the last one of the page before."""
    cursor = await tx.execute(
        "SELECT seq, node, visit FROM workflow_nodes WHERE run_id = %s AND seq > %s ORDER BY seq LIMIT %s",
        (run_id, after, limit),
    )
    places = await cursor.fetchall()
    found = [(int(seq), await one(tx, run_id, node, visit)) for seq, node, visit in places]
    return [(seq, record) for seq, record in found if record is not None]


async def outputs(tx: Connection, run_ids: Sequence[UUID]) -> dict[UUID, dict[str, Any]]:
    """What the nodes of these runs gave at their last visits; of large ones a beginning."""
    cursor = await tx.execute(
        "SELECT DISTINCT ON (run_id, node) run_id, node, output FROM workflow_nodes "
        "WHERE run_id = ANY(%s) AND status IN ('done', 'failed') ORDER BY run_id, node, visit DESC",
        (list(run_ids),),
    )
    found: dict[UUID, dict[str, Any]] = {}
    for run_id, node, output in await cursor.fetchall():
        found.setdefault(run_id, {})[node] = output
    return found


async def shelved(tx: Connection, run_ids: Sequence[UUID]) -> list[tuple[UUID, str, str, int]]:
    """Of these runs the last outputs that are artifacts: run, node, reference and bytes, the newest first."""
    cursor = await tx.execute(
        "SELECT run_id, node, ref, bytes FROM (SELECT DISTINCT ON (run_id, node) run_id, node, ref, seq, "
        # Only a likeness of ours has a number there; what a node gave may call anything `bytes`.
        "CASE WHEN ref IS NULL THEN 0 ELSE (output->>'bytes')::bigint END AS bytes "
        "FROM workflow_nodes WHERE run_id = ANY(%s) "
        "AND status IN ('done', 'failed') ORDER BY run_id, node, visit DESC) last "
        "WHERE ref IS NOT NULL ORDER BY seq DESC",
        (list(run_ids),),
    )
    return [(row[0], str(row[1]), str(row[2]), int(row[3])) for row in await cursor.fetchall()]


async def sources(tx: Connection, run_id: UUID) -> list[str]:
    """Whose words the nodes of the run have read, besides the owner's."""
    cursor = await tx.execute(
        "SELECT DISTINCT unnest(sources) AS source FROM workflow_nodes WHERE run_id = %s ORDER BY source LIMIT %s",
        (run_id, MOST_SOURCES),
    )
    return [str(row[0]) for row in await cursor.fetchall()]


async def reopen_failed(tx: Connection, run_id: UUID) -> None:
    """The failed nodes that nobody followed are tried anew; their attempts are counted on, so that none is repeated."""
    await tx.execute(
        "UPDATE workflow_nodes SET status = 'retrying', earlier = attempts, again_at = NULL, waits = NULL, "
        "ended_at = NULL WHERE run_id = %s AND status = 'failed' AND taken = '{}'",
        (run_id,),
    )


async def prune(tx: Connection, days: int, newest: int = KEPT_RUNS) -> int:
    """Of runs that ended well long ago only the run is left; the newest of each workflow stay for comparing."""
    cursor = await tx.execute(
        """
        DELETE FROM workflow_nodes WHERE run_id = ANY(ARRAY(
            SELECT r.id FROM workflow_runs r
            WHERE r.status IN ('done', 'cancelled') AND r.finished_at < now() - make_interval(days => %s)
              AND r.seq < (SELECT l.seq FROM workflow_runs l WHERE l.workflow_id = r.workflow_id
                           ORDER BY l.seq DESC OFFSET %s LIMIT 1)
              AND EXISTS (SELECT 1 FROM workflow_nodes n WHERE n.run_id = r.id)
            LIMIT 200))
        """,
        (days, newest - 1),
    )
    return cursor.rowcount


async def waiting_for_event(tx: Connection, kind: str, job_id: UUID | None) -> list[NodeRecord]:
    """The nodes that wait for an event of this kind; one of a run's job is not for that run, nor for other owners'."""
    return await Rows(tx, NodeRecord).fetch_all(
        f"SELECT {columns(NodeRecord, 'n.')} FROM workflow_nodes n JOIN workflow_runs r ON r.id = n.run_id "
        "WHERE n.status = 'waiting' AND n.waits->>'event' = %s AND NOT n.waits ? 'came' "
        "AND r.status IN ('running', 'waiting') AND NOT EXISTS (SELECT 1 FROM workflow_runs c "
        "WHERE c.job_id = %s AND (c.id = r.id OR c.principal_id <> r.principal_id)) ORDER BY n.seq FOR UPDATE OF n",
        (kind, job_id),
    )


async def open_jobs(tx: Connection, run_id: UUID) -> list[UUID]:
    """The jobs that work for nodes of this run and have not ended."""
    cursor = await tx.execute(
        "SELECT j.id FROM workflow_nodes n JOIN jobs j ON j.id = (n.waits->>'job')::uuid "
        "WHERE n.run_id = %s AND n.status = 'waiting' AND j.status NOT IN ('done', 'failed', 'cancelled')",
        (run_id,),
    )
    return [row[0] for row in await cursor.fetchall()]


async def any_waits_for_events(tx: Connection) -> bool:
    cursor = await tx.execute("SELECT 1 FROM workflow_nodes WHERE status = 'waiting' AND waits ? 'event' LIMIT 1")
    return await cursor.fetchone() is not None


async def came(tx: Connection, record: NodeRecord, event: dict[str, Any], now: datetime) -> None:
    """The event the node waits for has come."""
    await tx.execute(
        "UPDATE workflow_nodes SET waits = waits || %s, again_at = %s WHERE run_id = %s AND node = %s AND visit = %s",
        (Jsonb({"came": event}), now, record.run_id, record.node, record.visit),
    )


async def _set(tx: Connection, record: NodeRecord, **values: Any) -> NodeRecord:
    ended = values.pop("ended_at", None)
    assignments = ", ".join(f"{key} = %({key})s" for key in values) + (", ended_at = now()" if ended else "")
    found = await Rows(tx, NodeRecord).fetch_one(
        f"UPDATE workflow_nodes SET {assignments} WHERE run_id = %(run_id)s AND node = %(node)s "
        f"AND visit = %(visit)s RETURNING {_COLUMNS}",
        {**values, "run_id": record.run_id, "node": record.node, "visit": record.visit},
    )
    assert found is not None
    return found
