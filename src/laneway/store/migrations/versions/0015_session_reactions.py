"""What reactors said about watched sessions: each reaction once, so that a restart tells nobody twice."""

from __future__ import annotations

from alembic import op

revision = "0015"
down_revision = "0014"

UP = [
    """
    CREATE TABLE session_reactions (
        id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        session     uuid NOT NULL REFERENCES sessions ON DELETE CASCADE,
        key         text NOT NULL UNIQUE,
        at          timestamptz NOT NULL,
        reactor     text NOT NULL,
        weight      text NOT NULL CHECK (weight IN ('warning', 'notification', 'kill')),
        text        text NOT NULL,
        told        boolean NOT NULL DEFAULT false,
        created_at  timestamptz NOT NULL DEFAULT now()
    )
    """,
    "CREATE INDEX session_reactions_session ON session_reactions (session, id DESC)",
]
DOWN = ["DROP TABLE session_reactions"]


def upgrade() -> None:
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWN:
        op.execute(statement)
