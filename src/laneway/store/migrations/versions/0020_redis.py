"""Jobs that came through Redis."""

from __future__ import annotations

from alembic import op

revision = "0020"
down_revision = "0019"

UP: list[str] = [
    # Jobs whose result is not in Redis yet; a row goes when it is.
    """
    CREATE TABLE redis_open (
        job_id      uuid PRIMARY KEY REFERENCES jobs (id) ON DELETE CASCADE,
        taken_at    timestamptz NOT NULL DEFAULT now()
    )
    """,
    # Replies of one message: what a result is looked up by.
    "CREATE INDEX messages_answers ON messages ((meta->>'answers')) WHERE channel = 'redis' AND author = 'assistant'",
]

DOWN: list[str] = ["DROP INDEX messages_answers", "DROP TABLE redis_open"]


def upgrade() -> None:
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWN:
        op.execute(statement)
