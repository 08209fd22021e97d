"""Corrections: what the owner says a message was, and whether it was learnt."""

from __future__ import annotations

from alembic import op

revision = "0002"
down_revision = "0001"

CORRECTIONS = """
CREATE TABLE corrections (
    id            uuid PRIMARY KEY,
    taxonomy      text NOT NULL,
    text          text NOT NULL,
    label         text NOT NULL,
    flag          boolean,
    message_id    uuid NOT NULL REFERENCES messages ON DELETE CASCADE,
    principal_id  uuid NOT NULL REFERENCES principals,
    state         text NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'accepted', 'refused')),
    reason        text NOT NULL DEFAULT '',
    created_at    timestamptz NOT NULL DEFAULT now(),
    decided_at    timestamptz
);
CREATE INDEX corrections_state ON corrections (state, taxonomy, id);
CREATE INDEX corrections_message ON corrections (message_id);
"""


def upgrade() -> None:
    op.execute(CORRECTIONS)


def downgrade() -> None:
    op.execute("DROP TABLE corrections")
