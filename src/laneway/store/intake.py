"""Writes a message and its job in one transaction; a message we already have is recognised."""

from __future__ import annotations

from uuid import UUID

from psycopg.types.json import Jsonb

from laneway.domain.conversation import Incoming, IncomingFile, Receipt, RemoteFile, Role
from laneway.domain.file_names import safe_name
from laneway.domain.ids import new_id
from laneway.domain.job import Scope
from laneway.errors import Conflict, Forbidden
from laneway.store import artifacts, conversations, events
from laneway.store.database import Connection
from laneway.store.json_columns import in_order

# One statement, one round trip. The thread's row is locked first, so the order of commits within a thread is
# the order of `seq`.
_WRITE = """
WITH t AS (
    INSERT INTO threads (id, channel, external_id, principal_id, world)
    SELECT %(new_thread)s, %(channel)s, %(thread)s, %(principal)s, %(world)s
    WHERE NOT EXISTS (SELECT 1 FROM messages WHERE channel = %(channel)s AND external_id = %(external_id)s)
    ON CONFLICT (channel, external_id) DO UPDATE SET channel = EXCLUDED.channel
    RETURNING id, world = %(world)s AND (world = 'owner' OR principal_id = %(principal)s) AS open
), m AS (
    INSERT INTO messages (id, thread_id, author, channel, external_id, principal_id, text, meta)
    SELECT %(message)s, t.id, 'user', %(channel)s, %(external_id)s, %(principal)s, %(text)s, %(meta)s
    FROM t WHERE t.open
    ON CONFLICT (channel, external_id) DO NOTHING
    RETURNING id, thread_id
), j AS (
    INSERT INTO jobs (id, thread_id, message_id, mode, lane, owner, program, aside, payload, scope)
    SELECT %(job)s, m.thread_id, m.id, %(mode)s, %(lane)s, %(owner)s, %(program)s, %(aside)s, %(payload)s, %(scope)s
    FROM m RETURNING id, thread_id
), e AS (
    INSERT INTO events (kind, body, thread_id, job_id)
    SELECT 'message.received', %(event)s, j.thread_id, j.id FROM j
)
SELECT t.id, t.open, j.id,
       CASE WHEN j.id IS NOT NULL THEN pg_notify('laneway_jobs', '') END,
       CASE WHEN j.id IS NOT NULL THEN pg_notify('laneway_events', '') END
FROM t LEFT JOIN j ON true
"""


async def write(tx: Connection, incoming: Incoming, *, aside: bool = False, scope: Scope = Scope.REACTIVE) -> Receipt:
    """The message, its files, its job and its first event are in this transaction, or its earlier copy is named."""
    message_id, job_id = new_id(), new_id()
    cursor = await tx.execute(_WRITE, {**_parameters(incoming, message_id, job_id, aside), "scope": scope})
    row = await cursor.fetchone()
    if row is None:
        return await _already_here(tx, incoming)
    thread_id, is_open, written = row[0], row[1], row[2]
    if not is_open:
        raise Forbidden(
            f"Thread {incoming.thread} on {incoming.channel} is somebody else's.", hint="Use a thread of your own."
        )
    if written is None:
        return await _already_here(tx, incoming)
    await _attach(tx, message_id, incoming)
    return Receipt(message_id, thread_id, job_id, duplicate=False)


async def keep(tx: Connection, incoming: Incoming) -> bool:
    """The message is stored for the conversation's sake and nothing is done about it; False if it was here before."""
    thread = await conversations.ensure_thread(tx, incoming.channel, incoming.thread, incoming.principal)
    if not thread.is_open_to(incoming.principal):
        return False
    message_id = new_id()
    cursor = await tx.execute(
        "INSERT INTO messages (id, thread_id, author, channel, external_id, principal_id, text, meta) "
        "VALUES (%s, %s, 'user', %s, %s, %s, %s, %s) ON CONFLICT (channel, external_id) DO NOTHING",
        (
            message_id, thread.id, incoming.channel, incoming.external_id, incoming.principal.id, incoming.text,
            Jsonb(incoming.meta),
        ),
    )  # fmt: skip
    if cursor.rowcount:
        await _attach(tx, message_id, incoming)
    return cursor.rowcount == 1


async def _attach(tx: Connection, message_id: UUID, incoming: Incoming) -> None:
    for file in incoming.files:
        if isinstance(file, RemoteFile):
            ref, kind, size, preview, meta = None, file.kind, file.size or 0, "", {**file.meta, "source": file.source}
        else:
            ref = await artifacts.record(tx, file.content, file.mime, file.place)
            kind, size, preview, meta = _kind(file.mime), len(file.content), _preview(file), {}
        await tx.execute(
            "INSERT INTO attachments (id, message_id, kind, name, mime, size, artifact, preview, meta) "
            "VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s)",
            (new_id(), message_id, kind, safe_name(file.name), file.mime, size, ref, preview, Jsonb(meta)),
        )


def _parameters(incoming: Incoming, message_id: UUID, job_id: UUID, aside: bool) -> dict[str, object]:
    return {
        "new_thread": new_id(),
        "channel": incoming.channel,
        "thread": incoming.thread,
        "principal": incoming.principal.id,
        "world": incoming.principal.world,
        "message": message_id,
        "external_id": incoming.external_id,
        "text": incoming.text,
        "meta": Jsonb(incoming.meta),
        "job": job_id,
        "mode": incoming.mode,
        "lane": incoming.lane,
        "owner": incoming.principal.role is not Role.CUSTOMER,
        "program": incoming.program,
        "aside": aside,
        "payload": in_order(incoming.payload),
        "event": Jsonb({"message_id": str(message_id), "channel": incoming.channel}),
    }


async def _already_here(tx: Connection, incoming: Incoming) -> Receipt:
    cursor = await tx.execute(
        "SELECT m.id, m.thread_id, j.id, m.text, m.principal_id FROM messages m JOIN jobs j ON j.message_id = m.id "
        "WHERE m.channel = %s AND m.external_id = %s ORDER BY j.seq LIMIT 1",
        (incoming.channel, incoming.external_id),
    )
    row = await cursor.fetchone()
    if row is None:
        raise Conflict("This message is stored already, and nothing is done about it.", hint="Send it anew.")
    if incoming.channel == "http" and row[3:5] != (incoming.text, incoming.principal.id):
        raise Conflict(
            f"The id `{incoming.external_id}` belongs to a message with another text or of somebody else.",
            hint="Send a new message with an id of its own.",
        )
    await events.append(tx, "message.duplicate", {"external_id": incoming.external_id}, thread_id=row[1], job_id=row[2])
    return Receipt(row[0], row[1], row[2], duplicate=True)


def _kind(mime: str) -> str:
    family = mime.partition("/")[0]
    return {"audio": "voice", "image": "image"}.get(family, "file")


def _preview(file: IncomingFile) -> str:
    """The first lines of a text file; other kinds get their preview when they are enriched."""
    if not (file.mime.startswith("text/") or file.mime in {"application/json", "application/xml"}):
        return ""
    return file.content[:2000].decode("utf-8", errors="replace").replace("\x00", "")
