"""Approvals of exact actions: paused runs, standing permissions, what a turn was told by strangers."""

from __future__ import annotations

from alembic import op

revision = "0004"
down_revision = "0003"

UP: list[str] = []
DOWN: list[str] = []


def upgrade() -> None:
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWN:
        op.execute(statement)
