"""Plans that were checked once and are used again."""

from __future__ import annotations

from alembic import op

revision = "0017"
down_revision = "0016"

UP: list[str] = [
    """
    CREATE TABLE plans (
        key         text PRIMARY KEY,
        world       text NOT NULL,
        words       text NOT NULL,
        columns     jsonb NOT NULL,
        plan        jsonb NOT NULL,
        made_by     text NOT NULL,
        created_at  timestamptz NOT NULL DEFAULT now()
    )
    """,
    # Who asked the same thing how often: the third time a schedule is offered.
    """
    CREATE TABLE plan_uses (
        request_key   text NOT NULL,
        job_id        uuid NOT NULL REFERENCES jobs ON DELETE CASCADE,
        principal_id  uuid REFERENCES principals ON DELETE CASCADE,
        created_at    timestamptz NOT NULL DEFAULT now(),
        PRIMARY KEY (request_key, job_id)
    )
    """,
    """
    CREATE TABLE results (
        job_id        uuid PRIMARY KEY REFERENCES jobs ON DELETE CASCADE,
        ref           text NOT NULL,
        thread_id     uuid NOT NULL REFERENCES threads ON DELETE CASCADE,
        principal_id  uuid REFERENCES principals ON DELETE CASCADE,
        kind          text NOT NULL,
        plan          jsonb,
        counts        jsonb NOT NULL DEFAULT '[]',
        metadata      jsonb NOT NULL DEFAULT '{}',
        created_at    timestamptz NOT NULL DEFAULT now()
    )
    """,
    "CREATE INDEX results_ref ON results (ref)",
    # The result that a follow-up goes on with: the last one of its thread.
    "CREATE INDEX results_thread ON results (thread_id, created_at DESC)",
]

DOWN: list[str] = ["DROP TABLE results", "DROP TABLE plan_uses", "DROP TABLE plans"]


def upgrade() -> None:
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWN:
        op.execute(statement)
