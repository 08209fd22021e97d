"""Budgets: caps by principal, thread, lane, job, day and month."""

from __future__ import annotations

from alembic import op

revision = "0007"
down_revision = "0006"

UP: list[str] = []
DOWN: list[str] = []


def upgrade() -> None:
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWN:
        op.execute(statement)
