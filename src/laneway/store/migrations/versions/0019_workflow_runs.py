"""Runs of workflows, their nodes, and what starts them."""

from __future__ import annotations

from alembic import op

revision = "0019"
down_revision = "0018"

# A run keeps the very document it runs: a workflow that changes or goes meanwhile changes nothing for it.
UP: list[str] = [
    """
    CREATE TABLE workflow_runs (
        id            uuid PRIMARY KEY,
        seq           bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
        workflow_id   uuid NOT NULL REFERENCES workflows,
        version       integer NOT NULL,
        document      json NOT NULL,
        input         jsonb NOT NULL DEFAULT '{}',
        cause         jsonb NOT NULL DEFAULT '{}',
        principal_id  uuid NOT NULL REFERENCES principals,
        job_id        uuid NOT NULL UNIQUE REFERENCES jobs,
        parent_id     uuid REFERENCES workflow_runs,
        parent_node   text,
        previous_id   uuid REFERENCES workflow_runs,
        depth         integer NOT NULL DEFAULT 0,
        test          boolean NOT NULL DEFAULT false,
        pinned        jsonb NOT NULL DEFAULT '{}',
        status        text NOT NULL DEFAULT 'running'
                      CHECK (status IN ('running', 'waiting', 'done', 'failed', 'cancelled')),
        visits        jsonb NOT NULL DEFAULT '{}',
        sources       text[] NOT NULL DEFAULT '{}',
        output        jsonb,
        error         jsonb,
        ended_at      text[] NOT NULL DEFAULT '{}',
        created_at    timestamptz NOT NULL DEFAULT now(),
        finished_at   timestamptz
    )
    """,
    "CREATE INDEX workflow_runs_of ON workflow_runs (workflow_id, seq DESC)",
    "CREATE INDEX workflow_runs_open ON workflow_runs (workflow_id) WHERE status IN ('running', 'waiting')",
    "CREATE INDEX workflow_runs_children ON workflow_runs (parent_id) WHERE parent_id IS NOT NULL",
    """
    CREATE TABLE workflow_nodes (
        run_id    uuid NOT NULL REFERENCES workflow_runs ON DELETE CASCADE,
        node      text NOT NULL,
        visit     integer NOT NULL,
        seq       bigint GENERATED ALWAYS AS IDENTITY,
        type      text NOT NULL,
        status    text NOT NULL CHECK (status IN ('running', 'retrying', 'waiting', 'done', 'failed')),
        attempts  integer NOT NULL DEFAULT 1,
        earlier   integer NOT NULL DEFAULT 0,
        input     jsonb NOT NULL DEFAULT '{}',
        output    jsonb,
        ref       text,
        error     jsonb,
        taken     integer[] NOT NULL DEFAULT '{}',
        waits     jsonb,
        again_at  timestamptz,
        sources   text[] NOT NULL DEFAULT '{}',
        pinned    boolean NOT NULL DEFAULT false,
        began_at  timestamptz NOT NULL DEFAULT now(),
        ended_at  timestamptz,
        PRIMARY KEY (run_id, node, visit)
    )
    """,
    "CREATE INDEX workflow_nodes_waiting ON workflow_nodes (again_at) WHERE status IN ('waiting', 'retrying')",
    """
    CREATE TABLE workflow_triggers (
        workflow_id  uuid NOT NULL REFERENCES workflows,
        number       integer NOT NULL,
        type         text NOT NULL,
        config       jsonb NOT NULL,
        next_at      timestamptz,
        last_run_id  uuid REFERENCES workflow_runs,
        PRIMARY KEY (workflow_id, number)
    )
    """,
    "CREATE INDEX workflow_triggers_due ON workflow_triggers (next_at) WHERE next_at IS NOT NULL",
    "CREATE TABLE workflow_watched (workflow_id uuid PRIMARY KEY REFERENCES workflows, version integer NOT NULL)",
    """
    CREATE TABLE workflow_event_place (
        one     boolean PRIMARY KEY DEFAULT true CHECK (one),
        cursor  text NOT NULL
    )
    """,
    """
    CREATE TABLE workflow_hooks (
        id           uuid PRIMARY KEY,
        workflow_id  uuid NOT NULL UNIQUE REFERENCES workflows,
        secret       text NOT NULL,
        created_at   timestamptz NOT NULL DEFAULT now()
    )
    """,
]

DOWN: list[str] = [
    "DROP TABLE workflow_hooks, workflow_event_place, workflow_watched, workflow_triggers, workflow_nodes, "
    "workflow_runs"
]


def upgrade() -> None:
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWN:
        op.execute(statement)
