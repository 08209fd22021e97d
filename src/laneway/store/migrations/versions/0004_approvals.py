"""Approvals of exact actions: paused runs, standing permissions, what a turn was told by strangers."""

from __future__ import annotations

from alembic import op

revision = "0004"
down_revision = "0003"

PAUSES = """
CREATE TABLE pauses (
    job_id      uuid PRIMARY KEY REFERENCES jobs ON DELETE CASCADE,
    messages    jsonb NOT NULL,
    calls       jsonb NOT NULL,
    counts      jsonb NOT NULL,
    sources     text[] NOT NULL,
    found       text[] NOT NULL DEFAULT '{}',
    created_at  timestamptz NOT NULL DEFAULT now()
)
"""
PERMISSIONS = """
CREATE TABLE permissions (
    id           uuid PRIMARY KEY,
    thread_id    uuid NOT NULL REFERENCES threads ON DELETE CASCADE,
    action       jsonb NOT NULL,
    action_hash  text NOT NULL,
    given_by     uuid NOT NULL REFERENCES principals,
    used         bigint NOT NULL DEFAULT 0,
    created_at   timestamptz NOT NULL DEFAULT now(),
    UNIQUE (thread_id, action_hash)
)
"""
UP = [
    PAUSES,
    PERMISSIONS,
    # What was done, in a few words, for people: "bash: rm -rf build".
    "ALTER TABLE effects ADD COLUMN about text NOT NULL DEFAULT ''",
]
DOWN = ["ALTER TABLE effects DROP COLUMN about", "DROP TABLE permissions", "DROP TABLE pauses"]


def upgrade() -> None:
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWN:
        op.execute(statement)
