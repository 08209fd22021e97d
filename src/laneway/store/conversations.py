"""Reading threads, messages and attachments, and moving the point where a thread's context begins."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from laneway.domain.conversation import Attachment, Message, Principal, Thread
from laneway.domain.ids import new_id
from laneway.domain.redaction import redacted
from laneway.store.database import Connection
from laneway.store.rows import Rows, columns, row_of

_THREAD, _MESSAGE, _ATTACHMENT = columns(Thread), columns(Message), columns(Attachment)


async def thread(tx: Connection, thread_id: UUID) -> Thread | None:
    return await Rows(tx, Thread).fetch_one(f"SELECT {_THREAD} FROM threads WHERE id = %s", (thread_id,))


async def thread_on(tx: Connection, channel: str, external_id: str) -> Thread | None:
    return await Rows(tx, Thread).fetch_one(
        f"SELECT {_THREAD} FROM threads WHERE channel = %s AND external_id = %s", (channel, external_id)
    )


async def ensure_thread(tx: Connection, channel: str, external_id: str, principal: Principal) -> Thread:
    """The thread of this name on the channel, made for the principal if there is none."""
    await tx.execute(
        "INSERT INTO threads (id, channel, external_id, principal_id, world) VALUES (%s, %s, %s, %s, %s) "
        "ON CONFLICT (channel, external_id) DO NOTHING",
        (new_id(), channel, external_id, principal.id, principal.world),
    )
    found = await thread_on(tx, channel, external_id)
    assert found is not None
    return found


async def made_by(tx: Connection, job_id: UUID) -> int:
    """How many messages a job has made for others to work on."""
    cursor = await tx.execute("SELECT count(*) FROM messages WHERE meta->>'by_job' = %s", (str(job_id),))
    row = await cursor.fetchone()
    return int(row[0]) if row else 0


async def threads_named(tx: Connection, name: str) -> list[Thread]:
    """The threads with this id, this name, or this channel and name written `channel/name`."""
    return await Rows(tx, Thread).fetch_all(
        f"SELECT {_THREAD} FROM threads WHERE id::text = %(name)s OR external_id = %(name)s "
        "OR channel || '/' || external_id = %(name)s LIMIT 10",
        {"name": name},
    )


async def threads(tx: Connection, *, limit: int = 50, before: UUID | None = None) -> list[Thread]:
    """Threads, newest first; `before` is the last one of the page before."""
    return await Rows(tx, Thread).fetch_all(
        f"SELECT {_THREAD} FROM threads WHERE (%s::uuid IS NULL OR id < %s) ORDER BY id DESC LIMIT %s",
        (before, before, limit),
    )


async def message(tx: Connection, message_id: UUID) -> Message | None:
    return await Rows(tx, Message).fetch_one(f"SELECT {_MESSAGE} FROM messages WHERE id = %s", (message_id,))


async def said_with_key(tx: Connection, thread_id: UUID, channel: str, key: str) -> Message | None:
    """The message of the thread that its provider calls so, as it stood last."""
    return await Rows(tx, Message).fetch_one(
        f"SELECT {_MESSAGE} FROM messages WHERE thread_id = %s AND channel = %s AND meta ? 'message_key' "
        "AND meta->>'message_key' = %s ORDER BY seq DESC LIMIT 1",
        (thread_id, channel, key),
    )


async def has_key(tx: Connection, message_id: UUID, key: str) -> bool:
    """Whether the message is the one that its provider calls so."""
    cursor = await tx.execute("SELECT 1 FROM messages WHERE id = %s AND meta->>'message_key' = %s", (message_id, key))
    return await cursor.fetchone() is not None


async def messages(
    tx: Connection, *, thread_id: UUID | None = None, limit: int = 50, before: int | None = None
) -> list[Message]:
    """Messages, newest first; `before` is the `seq` of the last one of the page before."""
    return await Rows(tx, Message).fetch_all(
        f"SELECT {_MESSAGE} FROM messages WHERE (%s::uuid IS NULL OR thread_id = %s) "
        "AND (%s::bigint IS NULL OR seq < %s) ORDER BY seq DESC LIMIT %s",
        (thread_id, thread_id, before, before, limit),
    )


async def history(tx: Connection, trigger: Message, limit: int) -> list[Message]:
    """The last `limit` messages of the trigger's thread up to the trigger, oldest first.

    An answer to an earlier message belongs to the past even if it was written after the trigger arrived, so
    replies are placed right after the message they answer. A schedule sees its own earlier runs only, and a run that
    had nothing to say is seen by nobody, nor is a notice: no turn of the conversation brought it about.
    """
    schedule = trigger.meta.get("schedule")
    async with tx.cursor(row_factory=row_of(Message)) as cursor:
        await cursor.execute(
            f"""
            SELECT {columns(Message, "m.")} FROM messages m
            LEFT JOIN messages q ON q.id = (m.meta->>'answers')::uuid
            JOIN threads t ON t.id = m.thread_id
            WHERE m.thread_id = %s AND coalesce(q.seq, m.seq) <= %s AND m.seq > t.context_from
              AND (m.id = %s OR coalesce(m.meta->>'answers', '') <> %s)
              AND (m.id = %s OR NOT m.meta ?| '{{hushed,notice}}')
              AND (%s::text IS NULL OR coalesce(q.meta, m.meta)->>'schedule' = %s)
            ORDER BY coalesce(q.seq, m.seq) DESC, m.seq DESC LIMIT %s
            """,
            (trigger.thread_id, trigger.seq, trigger.id, str(trigger.id), trigger.id, schedule, schedule, limit),
        )
        return (await cursor.fetchall())[::-1]


async def attachments(tx: Connection, message_ids: Sequence[UUID]) -> list[Attachment]:
    return await Rows(tx, Attachment).fetch_all(
        f"SELECT {_ATTACHMENT} FROM attachments WHERE message_id = ANY(%s) ORDER BY id", (list(message_ids),)
    )


async def unread(tx: Connection, message_id: UUID) -> int:
    """How many attachments of the message have not been looked at yet."""
    cursor = await tx.execute(
        "SELECT count(*) FROM attachments WHERE message_id = %s AND NOT meta ? 'read'", (message_id,)
    )
    row = await cursor.fetchone()
    return int(row[0]) if row else 0


async def hide_secrets(tx: Connection, message: Message) -> None:
    """What is stored of the message has no secret in it any more."""
    await tx.execute("UPDATE messages SET text = %s WHERE id = %s", (redacted(message.text), message.id))


async def start_anew(tx: Connection, command: Message) -> None:
    """Models see nothing of this thread from before this message."""
    await tx.execute(
        "UPDATE threads SET context_from = greatest(context_from, %s) WHERE id = %s", (command.seq, command.thread_id)
    )


async def rename_thread(tx: Connection, channel: str, before: str, after: str) -> bool:
    """The thread goes on under its provider's new name for it; False if there is none or the new name is taken."""
    cursor = await tx.execute(
        "UPDATE threads SET external_id = %(after)s WHERE channel = %(channel)s AND external_id = %(before)s "
        "AND NOT EXISTS (SELECT 1 FROM threads WHERE channel = %(channel)s AND external_id = %(after)s)",
        {"channel": channel, "before": before, "after": after},
    )
    return cursor.rowcount > 0
