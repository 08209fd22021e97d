"""Undo: what files were before a job changed them."""

from __future__ import annotations

from alembic import op

revision = "0005"
down_revision = "0004"

UP: list[str] = [
    # When a change began orders what was before it, `id` what was after it: steps of one job may overlap.
    "CREATE SEQUENCE file_changes_began",
    """
    CREATE TABLE file_changes (
        id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        began       bigint NOT NULL,
        job_id      uuid NOT NULL REFERENCES jobs ON DELETE CASCADE,
        thread_id   uuid NOT NULL REFERENCES threads,
        tool        text NOT NULL,
        path        text NOT NULL,
        name        bytea NOT NULL,
        before      jsonb NOT NULL,
        after       jsonb NOT NULL,
        undone_at   timestamptz,
        created_at  timestamptz NOT NULL DEFAULT now()
    )
    """,
    "COMMENT ON COLUMN file_changes.name IS 'the path below the workspace as its bytes are; `path` is how it is shown'",
    "CREATE INDEX file_changes_job ON file_changes (job_id, id)",
    "CREATE INDEX file_changes_thread ON file_changes (thread_id, id)",
    "CREATE INDEX file_changes_age ON file_changes (created_at)",
    """
    CREATE TABLE workspace_snapshots (
        id          uuid PRIMARY KEY,
        began       bigint NOT NULL DEFAULT nextval('file_changes_began'),
        job_id      uuid NOT NULL REFERENCES jobs ON DELETE CASCADE,
        thread_id   uuid NOT NULL REFERENCES threads,
        tool        text NOT NULL,
        note        text,
        created_at  timestamptz NOT NULL DEFAULT now(),
        closed_at   timestamptz
    )
    """,
    "CREATE INDEX workspace_snapshots_open ON workspace_snapshots (thread_id) WHERE closed_at IS NULL",
    """
    CREATE TABLE undos (
        id            uuid PRIMARY KEY,
        job_id        uuid NOT NULL REFERENCES jobs ON DELETE CASCADE,
        principal_id  uuid NOT NULL REFERENCES principals,
        restored      jsonb NOT NULL,
        refused       jsonb NOT NULL,
        created_at    timestamptz NOT NULL DEFAULT now()
    )
    """,
    "CREATE INDEX undos_job ON undos (job_id)",
]
DOWN: list[str] = ["DROP TABLE undos, workspace_snapshots, file_changes", "DROP SEQUENCE file_changes_began"]


def upgrade() -> None:
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWN:
        op.execute(statement)
