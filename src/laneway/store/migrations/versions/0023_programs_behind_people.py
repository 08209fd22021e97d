"""What programs ask for runs behind what the owner asks for, and never in the owner's slots."""

from __future__ import annotations

from alembic import op

revision = "0023"
down_revision = "0022"

UP: list[str] = [
    "ALTER TABLE jobs ADD COLUMN program boolean NOT NULL DEFAULT false",
    "DROP INDEX jobs_queued",
    "CREATE INDEX jobs_queued ON jobs ((owner AND NOT program) DESC, seq) WHERE status = 'queued'",
]

DOWN: list[str] = [
    "DROP INDEX jobs_queued",
    "CREATE INDEX jobs_queued ON jobs (owner DESC, seq) WHERE status = 'queued'",
    "ALTER TABLE jobs DROP COLUMN program",
]


def upgrade() -> None:
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWN:
        op.execute(statement)
