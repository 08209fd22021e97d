"""Workflows, their versions and their patches."""

from __future__ import annotations

from alembic import op

revision = "0018"
down_revision = "0017"

# Documents are json and not jsonb: their keys stay in the order somebody wrote them in.
UP: list[str] = [
    """
    CREATE TABLE workflows (
        id            uuid PRIMARY KEY,
        seq           bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
        principal_id  uuid NOT NULL REFERENCES principals,
        tag           text NOT NULL,
        version       integer NOT NULL DEFAULT 0 CHECK (version >= 0),
        document      json NOT NULL,
        created_at    timestamptz NOT NULL DEFAULT now(),
        changed_at    timestamptz NOT NULL DEFAULT now(),
        removed_at    timestamptz
    )
    """,
    "CREATE UNIQUE INDEX workflows_tag ON workflows (principal_id, tag) WHERE removed_at IS NULL",
    """
    CREATE TABLE workflow_patches (
        id            uuid PRIMARY KEY,
        seq           bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
        workflow_id   uuid NOT NULL REFERENCES workflows,
        kind          text NOT NULL
                      CHECK (kind IN ('create', 'import', 'patch', 'undo', 'redo', 'rollback', 'expiry')),
        base_version  integer NOT NULL,
        version       integer NOT NULL,
        operations    json NOT NULL,
        inverse       json NOT NULL,
        description   text NOT NULL DEFAULT '',
        sentence      text NOT NULL DEFAULT '',
        principal_id  uuid NOT NULL REFERENCES principals,
        approved_by   uuid REFERENCES principals,
        message_id    uuid REFERENCES messages ON DELETE SET NULL,
        job_id        uuid REFERENCES jobs ON DELETE SET NULL,
        undoes        uuid REFERENCES workflow_patches,
        undone_by     uuid REFERENCES workflow_patches,
        valid_until   timestamptz,
        expiry        text CHECK (expiry IN ('done', 'conflict')),
        once          text UNIQUE,
        created_at    timestamptz NOT NULL DEFAULT now(),
        UNIQUE (workflow_id, version)
    )
    """,
    "CREATE INDEX workflow_patches_due ON workflow_patches (valid_until) "
    "WHERE valid_until IS NOT NULL AND expiry IS NULL AND undone_by IS NULL",
    """
    CREATE TABLE workflow_versions (
        workflow_id  uuid NOT NULL REFERENCES workflows,
        number       integer NOT NULL,
        document     json NOT NULL,
        patch_id     uuid NOT NULL REFERENCES workflow_patches,
        created_at   timestamptz NOT NULL DEFAULT now(),
        PRIMARY KEY (workflow_id, number)
    )
    """,
    """
    CREATE TABLE workflow_forwards (
        id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        patch_id    uuid NOT NULL UNIQUE REFERENCES workflow_patches,
        method      text NOT NULL,
        path        text NOT NULL,
        user_id     text NOT NULL,
        body        json NOT NULL,
        state       text NOT NULL DEFAULT 'pending'
                    CHECK (state IN ('pending', 'sending', 'sent', 'refused', 'uncertain')),
        attempts    integer NOT NULL DEFAULT 0,
        error       text,
        not_before  timestamptz NOT NULL DEFAULT now(),
        created_at  timestamptz NOT NULL DEFAULT now()
    )
    """,
    "CREATE INDEX workflow_forwards_due ON workflow_forwards (not_before) WHERE state IN ('pending', 'sending')",
]

DOWN: list[str] = ["DROP TABLE workflow_forwards, workflow_versions, workflow_patches, workflows"]


def upgrade() -> None:
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWN:
        op.execute(statement)
