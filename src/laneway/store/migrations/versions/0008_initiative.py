"""Initiative: schedules, reminders, people's tasks, and what is remembered."""

from __future__ import annotations

from alembic import op

revision = "0008"
down_revision = "0007"

UP: list[str] = [
    """
    ALTER TABLE schedules
        ADD COLUMN principal_id  uuid REFERENCES principals,
        ADD COLUMN words         text NOT NULL DEFAULT '',
        ADD COLUMN why_paused    text,
        ADD COLUMN last_job_id   uuid REFERENCES jobs ON DELETE SET NULL,
        ADD COLUMN budget_usd    numeric(18, 9) CHECK (budget_usd >= 0),
        ADD COLUMN quiet_from    time,
        ADD COLUMN quiet_to      time,
        ADD COLUMN urgent        boolean NOT NULL DEFAULT false,
        ADD COLUMN skipped       integer NOT NULL DEFAULT 0,
        ADD COLUMN skipped_from  timestamptz,
        ADD COLUMN skipped_to    timestamptz
    """,
    "UPDATE schedules s SET principal_id = t.principal_id FROM threads t WHERE t.id = s.thread_id",
    "ALTER TABLE schedules ALTER COLUMN principal_id SET NOT NULL",
    "CREATE INDEX schedules_due ON schedules (next_at) WHERE NOT paused",
    """
    CREATE TABLE reminders (
        id          uuid PRIMARY KEY,
        seq         bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
        thread_id   uuid NOT NULL REFERENCES threads,
        job_id      uuid REFERENCES jobs ON DELETE SET NULL,
        kind        text NOT NULL DEFAULT 'reminder' CHECK (kind IN ('reminder', 'result')),
        text        text NOT NULL,
        words       text NOT NULL,
        due_at      timestamptz NOT NULL,
        zone        text NOT NULL,
        state       text NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'sent', 'cancelled')),
        message_id  uuid REFERENCES messages ON DELETE SET NULL,
        meta        jsonb NOT NULL DEFAULT '{}',
        created_at  timestamptz NOT NULL DEFAULT now(),
        sent_at     timestamptz
    )
    """,
    "CREATE INDEX reminders_due ON reminders (due_at, seq) WHERE state = 'pending'",
    "CREATE INDEX reminders_thread ON reminders (thread_id, due_at, seq) WHERE state = 'pending'",
    # The same request of the same job, repeated after a crash, is the reminder that is already there.
    "CREATE UNIQUE INDEX reminders_once ON reminders (job_id, kind, md5(text), md5(words))",
    """
    CREATE TABLE tasks (
        id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        task_type       text NOT NULL,
        status          text NOT NULL DEFAULT 'pending'
                        CHECK (status IN ('pending', 'in_progress', 'completed', 'failed', 'cancelled')),
        priority        integer NOT NULL DEFAULT 5 CHECK (priority BETWEEN 1 AND 10),
        chat_id         text,
        message_id      text,
        assigned_agent  text,
        input_data      jsonb NOT NULL DEFAULT '{}',
        output_data     jsonb NOT NULL DEFAULT '{}',
        metadata        jsonb NOT NULL DEFAULT '{}',
        parent_task_id  bigint REFERENCES tasks,
        created_at      timestamptz NOT NULL DEFAULT now(),
        started_at      timestamptz,
        completed_at    timestamptz,
        retry_count     integer NOT NULL DEFAULT 0,
        max_retries     integer NOT NULL DEFAULT 3 CHECK (max_retries >= 0),
        title           text NOT NULL,
        description     text NOT NULL DEFAULT '',
        due_at          timestamptz,
        thread_id       uuid REFERENCES threads,
        job_id          uuid REFERENCES jobs ON DELETE SET NULL
    )
    """,
    "CREATE INDEX tasks_open ON tasks (priority, id) WHERE status IN ('pending', 'in_progress')",
    "CREATE INDEX tasks_thread ON tasks (thread_id)",
    "CREATE INDEX tasks_parent ON tasks (parent_task_id)",
    "CREATE UNIQUE INDEX tasks_once ON tasks (job_id, md5(title), md5(description))",
    """
    CREATE TABLE memories (
        id          uuid PRIMARY KEY,
        world       text NOT NULL CHECK (world IN ('owner', 'customer')),
        thread_id   uuid NOT NULL REFERENCES threads,
        key         text NOT NULL,
        text        text NOT NULL,
        source      text,
        job_id      uuid REFERENCES jobs ON DELETE SET NULL,
        created_at  timestamptz NOT NULL DEFAULT now(),
        changed_at  timestamptz NOT NULL DEFAULT now()
    )
    """,
    # The owner's world is one; each customer's thread is a world of its own.
    "CREATE UNIQUE INDEX memories_owner ON memories (key) WHERE world = 'owner'",
    "CREATE UNIQUE INDEX memories_customer ON memories (thread_id, key) WHERE world = 'customer'",
]
DOWN: list[str] = [
    "DROP TABLE memories, tasks, reminders",
    "DROP INDEX schedules_due",
    """
    ALTER TABLE schedules
        DROP COLUMN principal_id, DROP COLUMN words, DROP COLUMN why_paused, DROP COLUMN last_job_id,
        DROP COLUMN budget_usd, DROP COLUMN quiet_from, DROP COLUMN quiet_to, DROP COLUMN urgent,
        DROP COLUMN skipped, DROP COLUMN skipped_from, DROP COLUMN skipped_to
    """,
]


def upgrade() -> None:
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWN:
        op.execute(statement)
