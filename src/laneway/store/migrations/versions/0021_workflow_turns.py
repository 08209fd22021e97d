"""Runs that look back wait for the run before them."""

from __future__ import annotations

from alembic import op

revision = "0021"
down_revision = "0020"

UP: list[str] = [
    # No reference: a run that is gone is waited for by nobody.
    "ALTER TABLE workflow_runs ADD COLUMN waits_for uuid",
    "CREATE INDEX workflow_runs_in_line ON workflow_runs (waits_for) WHERE waits_for IS NOT NULL",
    # What happens from now on is heard, also by whoever first looks later.
    """
    INSERT INTO workflow_event_place (cursor)
    SELECT coalesce((SELECT xact::text || '-' || id FROM events ORDER BY xact DESC, id DESC LIMIT 1), '0-0')
    ON CONFLICT DO NOTHING
    """,
]

DOWN: list[str] = ["ALTER TABLE workflow_runs DROP COLUMN waits_for"]


def upgrade() -> None:
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWN:
        op.execute(statement)
