"""Judgements: withdrawn corrections, what the small model said, and questions with several answers."""

from __future__ import annotations

from alembic import op

revision = "0003"
down_revision = "0002"

JUDGEMENTS = """
CREATE TABLE judgements (
    taxonomy   text NOT NULL,
    version    text NOT NULL,
    text_hash  bytea NOT NULL,
    text       text NOT NULL,
    judgement  jsonb NOT NULL,
    vector     bytea,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (taxonomy, version, text_hash)
)
"""
STATES = "ALTER TABLE corrections ADD CONSTRAINT corrections_state_check CHECK (state IN ({}))"
UP = [
    "ALTER TABLE corrections DROP CONSTRAINT corrections_state_check",
    STATES.format("'pending', 'accepted', 'refused', 'withdrawn'"),
    JUDGEMENTS,
    "CREATE INDEX judgements_latest ON judgements (taxonomy, version, created_at DESC)",
    "ALTER TABLE classifications ADD COLUMN choices text[] NOT NULL DEFAULT '{}'",
    "ALTER TABLE approvals ADD COLUMN choices jsonb NOT NULL DEFAULT '[]', ADD COLUMN choice text",
]
DOWN = [
    "ALTER TABLE approvals DROP COLUMN choices, DROP COLUMN choice",
    "ALTER TABLE classifications DROP COLUMN choices",
    "DROP TABLE judgements",
    "ALTER TABLE corrections DROP CONSTRAINT corrections_state_check",
    # The tables of before know of nothing withdrawn; what was refused is not learnt either.
    "UPDATE corrections SET state = 'refused' WHERE state = 'withdrawn'",
    STATES.format("'pending', 'accepted', 'refused'"),
]


def upgrade() -> None:
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWN:
        op.execute(statement)
