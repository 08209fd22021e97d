"""Initiative: schedules, reminders, people's tasks, and what is remembered."""

from __future__ import annotations

from alembic import op

revision = "0008"
down_revision = "0007"

UP: list[str] = []
DOWN: list[str] = []


def upgrade() -> None:
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWN:
        op.execute(statement)
